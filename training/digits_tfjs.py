"""Writes the digits classifier as a TensorFlow.js graph model: the weights of digits.onnx, channels last.

    .venv/bin/python training/digits_tfjs.py    # after training/digits.py, with what that one needs

Reads   public/models/digits/digits.onnx, test/models/digits.golden.json
Writes  public/models/digits/   model.json, digits.bin

Before it ends it runs what it has written with `tfjs_graph.py`, which shares no code with TensorFlow.js, and holds the answers
against those of ONNX Runtime.
"""

import json

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from common import ROOT
from tfjs_graph import Graph
from tfjs_writer import Writer, ints, text

ARCHIVE = ROOT / "public/models/digits"
GOLDEN = ROOT / "test/models/digits.golden.json"
TOLERANCE = 1e-6


def convert(weights):
    writer = Writer()
    writer.input("image", "float32", (1, 1, 28, 28))
    # One channel lies the same way first or last.
    x = writer.add("channels_last", "Reshape", "image", writer.constant("channels_last/shape", np.int32([1, 28, 28, 1])), Tshape={"type": "DT_INT32"})
    for i in (1, 2, 3):
        kernel = writer.constant(f"conv{i}/kernel", weights[f"conv{i}.weight"].transpose(2, 3, 1, 0))
        bias = writer.constant(f"conv{i}/bias", weights[f"conv{i}.bias"])
        x = writer.add(f"conv{i}", "Conv2D", x, kernel, strides=ints(1, 1, 1, 1), dilations=ints(1, 1, 1, 1), padding=text("SAME"), data_format=text("NHWC"))
        x = writer.add(f"relu{i}", "Relu", writer.add(f"conv{i}/biased", "BiasAdd", x, bias, data_format=text("NHWC")))
        x = writer.add(f"pool{i}", "MaxPool", x, ksize=ints(1, 2, 2, 1), strides=ints(1, 2, 2, 1), padding=text("VALID"), data_format=text("NHWC"))
    x = writer.add("features", "Reshape", x, writer.constant("features/shape", np.int32([1, 504])), Tshape={"type": "DT_INT32"})
    classes = weights["classes.weight"].reshape(10, 56, 3, 3).transpose(2, 3, 1, 0).reshape(504, 10)
    x = writer.add("classes", "MatMul", x, writer.constant("classes/kernel", classes), transpose_a={"b": False}, transpose_b={"b": False})
    writer.add("logits", "BiasAdd", x, writer.constant("classes/bias", weights["classes.bias"]), data_format=text("NHWC"))
    return writer


def main():
    graph = onnx.load(str(ARCHIVE / "digits.onnx")).graph
    writer = convert({tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer})
    writer.save(ARCHIVE / "model.json", "digits.bin", {"logits": ("float32", (1, 10))}, "training/digits_tfjs.py")

    run = Graph(ARCHIVE / "model.json")
    worst = 0.0
    for case in json.loads(GOLDEN.read_text())["cases"]:
        if "pixels" not in case:
            continue
        image = (np.float64(case["pixels"]).reshape(1, 1, 28, 28) / 255 - 0.1307) / 0.3081
        logits = next(iter(run(image).values()))
        worst = max(worst, float((torch.softmax(logits, 1)[0] - torch.tensor(case["probabilities"], dtype=torch.float64)).abs().max()))
    print(f"largest difference of a probability from ONNX Runtime's: {worst:.1e}")
    assert worst < TOLERANCE


if __name__ == "__main__":
    main()
