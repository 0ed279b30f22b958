"""Makes a small model of random weights with YAMNet's inputs and outputs, and what ONNX Runtime answers:

    python test/models/yamnet/yamnet.py

`waveform` [samples] -> `scores` [frames, classes], of which a row is 0.96 s and the next one 0.48 s later, `embeddings`
and `log_mel_spectrogram`: https://www.kaggle.com/models/google/yamnet. Its guide takes the mean of the scores over the
frames: https://www.tensorflow.org/hub/tutorials/yamnet.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent / "tasks/make"))
from basics import RATE, sound  # noqa: E402

CLASSES, CHANNELS, HOP, WINDOW, STEP = 4, 6, 160, 96, 48
LABELS = ["Speech", "Child speech, kid speaking", "Dog", "Silence"]


def model():
    random = np.random.default_rng(5)
    array = lambda name, *size: numpy_helper.from_array(random.normal(0, 1, size).astype(np.float32), name)
    nodes = [
        helper.make_node("Unsqueeze", ["waveform", "axes"], ["rows"]),
        helper.make_node("Conv", ["rows", "bank"], ["bands"], strides=[HOP]),
        helper.make_node("Mul", ["bands", "bands"], ["powers"]),
        helper.make_node("Add", ["powers", "floor"], ["above"]),
        helper.make_node("Log", ["above"], ["log_mel"]),
        helper.make_node("AveragePool", ["log_mel"], ["pooled"], kernel_shape=[WINDOW], strides=[STEP]),
        helper.make_node("Squeeze", ["pooled", "first"], ["by_channel"]),
        helper.make_node("Transpose", ["by_channel"], ["embeddings"], perm=[1, 0]),
        helper.make_node("MatMul", ["embeddings", "head"], ["logits"]),
        helper.make_node("Sigmoid", ["logits"], ["scores"]),
    ]
    constants = [
        array("bank", CHANNELS, 1, 2 * HOP),
        array("head", CHANNELS, CLASSES),
        numpy_helper.from_array(np.array([0, 1], np.int64), "axes"),
        numpy_helper.from_array(np.array([0], np.int64), "first"),
        numpy_helper.from_array(np.float32(0.01), "floor"),
    ]
    value = lambda name, *dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    graph = helper.make_graph(nodes, "yamnet", [value("waveform", "samples")], [value("scores", "frames", CLASSES), value("embeddings", "frames", CHANNELS)], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


if __name__ == "__main__":
    path = HERE / "onnx/model.onnx"
    onnx.save(model(), path)
    session = onnxruntime.InferenceSession(path)
    rows = []
    for length in (RATE, 3 * RATE, 5 * RATE + 123):
        scores = session.run(["scores"], {"waveform": sound(length)})[0]
        rows.append({"sound": length, "frames": len(scores), "scores": dict(zip(LABELS, np.round(scores.mean(0).astype(float), 6).tolist()))})
    (HERE / "expected.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
