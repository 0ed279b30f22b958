"""nsfwjs's small MobileNetV2 as the tests have it: taken out of its npm package, and converted to ONNX, layer by layer.

    npm pack nsfwjs@4.3.0 && tar xzf nsfwjs-4.3.0.tgz       # 41 MB unpacked: no dependency of the project
    npm install
    pip install torch torchvision pillow onnx onnxruntime
    python training/moderation.py package

Writes  test/models/moderation/model.json, group1-shard1of1.bin   the TensorFlow.js layers model as it was before it was packed into JavaScript
        test/models/moderation/model.onnx                         the same, names, layout (NHWC) and softmax included, for a batch of one
        test/models/moderation/{golden.safetensors,tabserve.json,moderation.golden.json}

The weights stay the 8-bit integers that they are, and ONNX Runtime makes float32 of them when it opens the model. Batch normalization is folded into
the scales of the convolution before it and a bias. The answers of ONNX Runtime to the samples are checked against tfjs_layers.py's in float64: they must be about
as near as PyTorch in float32 is.
"""

import argparse
import base64
import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from common import ROOT, write_json
from goldens import onnx_answers, write_extras, write_golden
from human_models import stretched
from tfjs_layers import Layers, padding, sources

ARCHIVE = ROOT / "test/models/moderation"
MODEL, WEIGHTS = ARCHIVE / "model.json", ARCHIVE / "group1-shard1of1.bin"
PHOTOS = ROOT / "public/models/nanodet/samples"
SAMPLES = ["rocket.jpg", "cat.jpg", "party.jpg"]
LABELS = ["Drawing", "Hentai", "Neutral", "Porn", "Sexy"]
SIDE = 224
OPSET = 12  # the newest that ONNX Runtime's WebGL provider takes without trouble


def unpack(package, name, folder):
    """The files of a model that nsfwjs's scripts made modules of."""
    read = "process.stdout.write(JSON.stringify(require(process.argv[1])))"
    load = lambda file: json.loads(subprocess.run(["node", "-e", read, (package / f"dist/models/{name}/{file}.min.js").resolve()], check=True, capture_output=True).stdout)
    folder.mkdir(parents=True, exist_ok=True)
    model = load("model")
    for group in model["weightsManifest"]:
        for path in group["paths"]:
            (folder / f"{path}.bin").write_bytes(base64.b64decode(load(path)))
        group["paths"] = [f"{path}.bin" for path in group["paths"]]
    (folder / MODEL.name).write_text(json.dumps(model, separators=(",", ":")) + "\n")


def read_integers(model, data):
    """Each weight as it is stored: its integers, their scale, and the least number; its value is integer · scale + least."""
    offset = 0
    for entry in model["weightsManifest"][0]["weights"]:
        count = int(np.prod(entry["shape"]))
        quantization = entry["quantization"]
        yield entry["name"], (np.frombuffer(data, np.uint8, count, offset).reshape(entry["shape"]), quantization["scale"], quantization["min"])
        offset += count
    assert offset == len(data)


class Converter:
    def __init__(self, model, data):
        self.layers = {layer["name"]: layer for layer in model["modelTopology"]["model_config"]["config"]["layers"]}
        self.weights = dict(read_integers(model, data))
        self.nodes, self.constants, self.sizes, self.names = [], {}, {}, {}

    def constant(self, name, array):
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def emit(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def value(self, name):
        integers, scale, least = self.weights[name]
        return integers.astype(np.float64) * scale + least

    def kernel(self, name, order, factors=1.0):
        """A kernel, its axes reordered, times a factor for each index of the first of them: integers, and the nodes that scale them."""
        integers, scale, least = self.weights[name]
        zero = round(-least / scale)
        assert abs(zero + least / scale) < 1e-3, f"{name}: zero is no integer"
        integers = integers.transpose(order)
        scales = np.float32(scale * np.broadcast_to(factors, integers.shape[0])).reshape(-1, *[1] * (integers.ndim - 1))
        wide = self.emit("Cast", [self.constant(name, integers)], f"{name}/float", to=TensorProto.FLOAT)
        centered = self.emit("Sub", [wide, self.constant(f"{name}/zero", np.float32(zero))], f"{name}/centered")
        return self.emit("Mul", [centered, self.constant(f"{name}/scale", scales)], f"{name}/scaled")

    def convert(self, layer):
        name, kind, config = layer["name"], layer["class_name"], layer["config"]
        inputs = [self.names[source] for source in sources(layer)]
        size = self.sizes[sources(layer)[0]]
        if kind in ("ZeroPadding2D", "Conv2D", "DepthwiseConv2D", "Dropout"):
            output = inputs[0]  # the normalization that follows pads and convolves
        elif kind == "BatchNormalization":
            output, size = self.normalized_convolution(name, config, self.layers[sources(layer)[0]])
        elif kind == "ReLU":
            output = self.emit("Clip", [*inputs, self.constant("zero", np.float32(0)), self.constant("six", np.float32(config["max_value"]))], name)
        elif kind == "Add":
            output = self.emit("Add", inputs, name)
        elif kind == "AveragePooling2D":
            assert config["pool_size"] == list(size), "no pool but of the whole map"
            output = self.emit("GlobalAveragePool", inputs, name)
        elif kind == "Flatten":
            output = self.emit("Flatten", inputs, name)
        elif kind == "Dense":
            activation = {"relu": "Relu", "softmax": "Softmax"}[config["activation"]]
            bias = self.constant(f"{name}/bias", np.float32(self.value(f"{name}/bias")))
            dense = self.emit("Gemm", [*inputs, self.kernel(f"{name}/kernel", (1, 0)), bias], f"{name}/sum", transB=1)
            output = self.emit(activation, [dense], name)
        else:
            raise NotImplementedError(f"layer {kind} of {name}")
        self.names[name], self.sizes[name] = output, size

    def normalized_convolution(self, name, config, convolution):
        """gamma (conv(x) − mean) / √(variance + ε) + beta = conv'(x) + bias, with every kernel times gamma / √(variance + ε)."""
        factors = self.value(f"{name}/gamma") / np.sqrt(self.value(f"{name}/moving_variance") + config["epsilon"])
        bias = self.constant(f"{name}/bias", np.float32(self.value(f"{name}/beta") - self.value(f"{name}/moving_mean") * factors))
        (source,), window = sources(convolution), convolution["config"]
        depthwise = convolution["class_name"] == "DepthwiseConv2D"
        weights = f"{convolution['name']}/{'depthwise_kernel' if depthwise else 'kernel'}"
        kernel = self.kernel(weights, (2, 3, 0, 1) if depthwise else (3, 2, 0, 1), factors)
        before = self.layers[source]
        if before["class_name"] == "ZeroPadding2D":
            (top, bottom), (left, right) = before["config"]["padding"]
            pads = [top, left, bottom, right]
        else:
            pads = padding(window, *self.sizes[source])
        sides, strides = window["kernel_size"], window["strides"]
        size = tuple((side + pads[i] + pads[i + 2] - sides[i]) // strides[i] + 1 for i, side in enumerate(self.sizes[source]))
        group = len(factors) if depthwise else 1
        return self.emit("Conv", [self.names[source], kernel, bias], name, kernel_shape=sides, strides=strides, pads=pads, group=group), size

    def model(self):
        first, *layers = self.layers.values()
        self.sizes[first["name"]] = (SIDE, SIDE)
        self.names[first["name"]] = self.emit("Transpose", ["input_1"], "channels_first", perm=[0, 3, 1, 2])
        for layer in layers:
            self.convert(layer)
        values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)] for name, dims in (("input_1", [1, SIDE, SIDE, 3]), ("dense_3", [1, len(LABELS)]))]
        graph = helper.make_graph(self.nodes, "moderation", *values, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=7, producer_name="tabserve training/moderation.py")
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()


def save(path, model):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model)
    print(f"{path.relative_to(ROOT)}: {len(model)} bytes")
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("package", type=Path, nargs="?", help="nsfwjs, unpacked; without it the committed files are taken")
    options = options.parse_args()
    if options.package:
        unpack(options.package, "mobilenet_v2", ARCHIVE)
    converter = Converter(json.loads(MODEL.read_text()), WEIGHTS.read_bytes())
    session = save(ARCHIVE / "model.onnx", converter.model())

    exact, rounded = Layers(MODEL), Layers(MODEL, torch.float32)
    cases = []
    for sample in SAMPLES:
        image = stretched(Image.open(PHOTOS / sample).convert("RGB"), SIDE, SIDE).numpy()
        expected = exact(image)
        answers = {"ONNX": session.run(None, {"input_1": image})[0], "PyTorch": rounded(image)}
        differences = {name: float(np.abs(answer - expected).max()) for name, answer in answers.items()}
        print(sample, dict(zip(LABELS, expected[0].round(4).tolist())), {name: f"{difference:.1e}" for name, difference in differences.items()})
        assert differences["ONNX"] < 1e-6 + 2 * differences["PyTorch"]
        cases.append({"sample": sample, "probabilities": {label: round(float(p), 7) for label, p in zip(LABELS, expected[0])}})
    write_json(ARCHIVE / "moderation.golden.json", {
        "about": "Expected answers of test/models/moderation to public/models/nanodet/samples, made by training/moderation.py",
        "preprocessing": f"torchvision Resize([{SIDE}, {SIDE}]), RGB / 255",
        "runtime": "training/tfjs_layers.py, PyTorch in float64",
        "cases": cases,
    })
    write_golden(ARCHIVE / "golden.safetensors", onnx_answers(ARCHIVE / "model.onnx"), {"input_1": (1, [1, SIDE, SIDE, 3])})
    write_extras(ARCHIVE, {"onnx": "model.onnx", "tfjs": "model.json"}, {path.name: path for path in (ARCHIVE / "model.onnx", MODEL, WEIGHTS)})


if __name__ == "__main__":
    main()
