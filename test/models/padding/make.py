"""Models with a Pad before a pooling, which ONNX Runtime's Pad_Fusion changes, and their outputs by NumPy.

python test/models/padding/make.py, with NumPy and onnx.
"""
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

HERE = Path(__file__).parent
X = -1 - np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
OPSET = helper.make_opsetid("", 18)
AROUND = helper.make_node("Constant", [], ["pads"], value=numpy_helper.from_array(np.int64([0, 0, 1, 1, 0, 0, 1, 1])))


def right(width):
    return helper.make_node("Constant", [], ["pads"], value=numpy_helper.from_array(np.int64([0, 0, 0, 0, 0, 0, 0, width])))


def padded(pool, pads=AROUND, between=False, **attributes):
    """A Pad, an Identity if wanted, and a pooling: x becomes y."""
    identity = [helper.make_node("Identity", ["padded"], ["same"])] if between else []
    pooled = helper.make_node(pool, ["same" if between else "padded"], ["y"], **attributes)
    return [pads, helper.make_node("Pad", ["x", "pads"], ["padded"]), *identity, pooled]


def write(name, nodes, functions=()):
    y = helper.make_tensor_value_info("y", T.FLOAT, [1, 1, None, None])
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", T.FLOAT, [1, 1, 4, 4])], [y])
    opsets = [OPSET, *([helper.make_opsetid("own", 1)] if functions else [])]
    onnx.save(helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8), HERE / f"{name}.onnx")


def branch(nodes):
    return helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info("y", T.FLOAT, [1, 1, None, None])])


def pool(x, reduce, kernel, stride):
    sizes = [(length - size) // step + 1 for length, size, step in zip(x.shape, kernel, stride)]
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel)[:: stride[0], :: stride[1]]
    return reduce(windows[: sizes[0], : sizes[1]], axis=(2, 3))


maximum = padded("MaxPool", kernel_shape=[2, 2])
write("identity", padded("MaxPool", between=True, kernel_shape=[2, 2]))
positive = [
    helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
    helper.make_node("Constant", [], ["zero"], value=numpy_helper.from_array(np.float32(0))),
    helper.make_node("Greater", ["sum", "zero"], ["positive"]),
]
same = branch([helper.make_node("Identity", ["x"], ["y"])])
write("branch", [*positive, helper.make_node("If", ["positive"], ["y"], then_branch=same, else_branch=branch(maximum))])
write("function", [helper.make_node("PadPool", ["x"], ["y"], domain="own")],
      [helper.make_function("own", "PadPool", ["x"], ["y"], maximum, [OPSET])])
# Padding as wide as the kernel, which a pooling may not have, and a window that begins in the padding.
write("wide", padded("AveragePool", right(2), kernel_shape=[2, 2], count_include_pad=1))
write("ceiling", padded("AveragePool", right(1), kernel_shape=[1, 2], strides=[1, 2], ceil_mode=1, count_include_pad=1))

image = X[0, 0]
around = pool(np.pad(image, 1), np.max, (2, 2), (1, 1))
wider = np.pad(image, ((0, 0), (0, 2)))
expected = {
    "identity": around,
    "branch": around,
    "function": around,
    "wide": pool(wider, np.mean, (2, 2), (1, 1)),
    "ceiling": pool(wider, np.mean, (1, 2), (1, 2)),
}
answers = {name: {"dims": [1, 1, *y.shape], "data": y.ravel().tolist()} for name, y in expected.items()}
(HERE / "expected.json").write_text(json.dumps(answers) + "\n")
