"""Makes a small archive whose model is there in three precisions: the model and the golden example here, the smaller files with tabserve itself.

    pip install numpy onnx onnxruntime
    python test/models/optimized/make.py
    npx tabserve optimize test/models/optimized --keep --output /tmp/half
    npx tabserve optimize /tmp/half --keep --weights int8 --agreement labels --output /tmp/all
    cp /tmp/all/model-*.onnx /tmp/all/tabserve.json test/models/optimized/

Its 8-bit weights give the same label as the golden example, but not its numbers within the tolerance.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from make import numbers  # noqa: E402: the golden examples' numbers of the folder above

LABELS = ["red", "orange", "yellow", "green", "cyan", "blue", "violet", "pink"]


def write_json(name, value):
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def main():
    rng = np.random.default_rng(8)
    conv = rng.standard_normal((16, 3, 3, 3)).astype(np.float32)
    dense = (rng.standard_normal((256, len(LABELS))) / 8).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["image", "conv"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("Flatten", ["b"], ["c"]),
            helper.make_node("Gemm", ["c", "dense", "bias"], ["logits"]),
        ],
        "optimized",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, len(LABELS)])],
        [numpy_helper.from_array(v, n) for n, v in {"conv": conv, "dense": dense, "bias": np.zeros(len(LABELS), np.float32)}.items()],
    )  # fmt: skip
    model = helper.make_model(graph, producer_name="make.py", ir_version=8, opset_imports=[helper.make_opsetid("", 12)])
    onnx.checker.check_model(model)
    onnx.save(model, HERE / "model.onnx")

    dims = [1, 3, 8, 8]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    logits = session.run(None, {"image": numbers(192, 1).reshape(dims)})[0]
    header = json.dumps({
        "__metadata__": {"inputs/image": json.dumps({"seed": 1, "dims": dims})},
        "outputs/logits": {"dtype": "F32", "shape": [1, len(LABELS)], "data_offsets": [0, logits.nbytes]},
    }).encode()  # fmt: skip
    header += b" " * (-len(header) % 8)
    (HERE / "golden.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + logits.tobytes())
    write_json("index_to_name.json", {str(i): name for i, name in enumerate(LABELS)})
    (HERE / "model-config.yaml").write_text("handler:\n  imageProcessing:\n    - resize: [8, 8]\n    - toTensor\n")
    names = {"modelName": "optimized", "modelVersion": "1.0", "serializedFile": "model.onnx"}
    write_json("MAR-INF/MANIFEST.json", {"model": {**names, "handler": "image_classifier", "configFile": "model-config.yaml"}})
    write_json("tabserve.json", {"models": {"onnx": "model.onnx"}, "golden": ["golden.safetensors"]})


if __name__ == "__main__":
    main()
