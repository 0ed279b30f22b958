"""Makes model.onnx: which kind of file the frequencies of its 256 bytes tell of. A linear model whose weights are written by hand.

    pip install onnx numpy
    python test/readme/file-kind/make.py
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

HERE = Path(__file__).resolve().parent

weight = np.zeros((3, 256), np.float32)
weight[0, [9, 10, 13, *range(32, 127)]] = 10  # text: printable ASCII
weight[1, 0] = 40  # sparse: many zeros
weight[2, 128:] = 16  # compressed: half of the bytes are above 127
bias = np.array([-4, -4, -2], np.float32)

graph = helper.make_graph(
    [helper.make_node("Gemm", ["frequencies", "weight", "bias"], ["logits"], transB=1)],
    "file-kind",
    [helper.make_tensor_value_info("frequencies", TensorProto.FLOAT, ["batch", 256])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])],
    [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(bias, "bias")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], producer_name="tabserve test/readme/file-kind/make.py")
model.ir_version = 7
checker.check_model(model, full_check=True)
save(model, HERE / "model.onnx")
