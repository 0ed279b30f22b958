"""The archive public/models/upscaler: ESRGAN Slim's network that doubles the size of a photo, in both formats.

    npm pack @upscalerjs/esrgan-slim@1.0.0 && tar xzf upscalerjs-esrgan-slim-1.0.0.tgz
    npm install
    pip install torch numpy pillow onnx onnxruntime
    python training/upscaler.py package

Writes  public/models/upscaler/{model.json,group1-shard1of1.bin,LICENSE}   as they are in the package (models/x2)
        public/models/upscaler/model.onnx                the same, converted layer by layer, names and layout (NHWC) included
        public/models/upscaler/{golden.safetensors,tabserve.json}, samples/*.png
        test/models/upscaler.golden.json                 its answer to a sample, by tfjs_layers.py in float64
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from common import ROOT, write_json
from goldens import numbers, write_extras, write_golden
from tfjs_graph import read_weights
from tfjs_layers import Layers, padding, sources

ARCHIVE = ROOT / "public/models/upscaler"
MODEL, WEIGHTS = ARCHIVE / "model.json", ARCHIVE / "group1-shard1of1.bin"
# The photo, the part of it that is kept [left, top, right, bottom], and the size that it is scaled down to.
SAMPLES = {"astronaut": ("selfie/samples/astronaut.jpg", (0, 0, 240, 240), (120, 120)), "cup": ("nanodet/samples/coffee.jpg", (60, 20, 420, 290), (160, 120))}
OPSET = 12


def convert(model):
    weights = {name: np.array(array) for name, array in read_weights(ARCHIVE, model["weightsManifest"])}
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def emit(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))

    emit("Transpose", ["LR"], "channels_first", perm=[0, 3, 1, 2])
    names = {"LR": "channels_first"}
    for layer in model["modelTopology"]["model_config"]["config"]["layers"][1:]:
        name, kind, config = layer["name"], layer["class_name"], layer["config"]
        inputs, output = [names[source] for source in sources(layer)], name if name != "SR" else "channels_last"
        if kind == "Conv2D":
            assert config["strides"] == [1, 1] and config["activation"] == "linear"
            kernel = constant(f"{name}/kernel", weights[f"{name}/kernel"].transpose(3, 2, 0, 1))
            bias = constant(f"{name}/bias", weights[f"{name}/bias"])
            emit("Conv", [*inputs, kernel, bias], output, kernel_shape=config["kernel_size"], pads=padding(config, 99, 99))
        elif kind == "Activation":
            emit({"relu": "Relu"}[config["activation"]], inputs, output)
        elif kind == "Concatenate":
            emit("Concat", inputs, output, axis=1)
        elif kind == "Add":
            emit("Add", inputs, output)
        elif kind == "UpSampling2D":
            scales = constant("scales", np.array([1, 1, *config["size"]], np.float32))
            emit("Resize", [*inputs, constant("region", np.zeros(0, np.float32)), scales], output, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        else:
            raise NotImplementedError(f"layer {kind} of {name}")
        names[name] = output
    emit("Transpose", ["channels_last"], "SR", perm=[0, 2, 3, 1])
    values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)] for name, dims in (("LR", [1, "height", "width", 3]), ("SR", [1, "height_2", "width_2", 3]))]
    graph = helper.make_graph(nodes, "upscaler", *values, constants)
    converted = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=7, producer_name="tabserve training/upscaler.py")
    onnx.checker.check_model(converted)
    return converted


def main():
    options = argparse.ArgumentParser()
    options.add_argument("package", type=Path, nargs="?", help="@upscalerjs/esrgan-slim, unpacked; without it the committed files are taken")
    package = options.parse_args().package
    (ARCHIVE / "samples").mkdir(parents=True, exist_ok=True)
    if package:
        for path in (MODEL, WEIGHTS):
            shutil.copy(package / "models/x2" / path.name, path)
            path.chmod(0o644)
        shutil.copy(package / "LICENSE", ARCHIVE / "LICENSE")
    model = json.loads(MODEL.read_text())
    onnx.save(convert(model), ARCHIVE / "model.onnx")
    session = onnxruntime.InferenceSession(str(ARCHIVE / "model.onnx"), providers=["CPUExecutionProvider"])

    exact, rounded = Layers(MODEL), Layers(MODEL, torch.float32)
    cases = []
    for name, (photo, part, size) in SAMPLES.items():
        small = Image.open(ROOT / "public/models" / photo).convert("RGB").crop(part).resize(size, Image.Resampling.LANCZOS)
        small.save(ARCHIVE / "samples" / f"{name}.png", optimize=True)
        image = np.asarray(small, np.float32)[None]
        expected = exact(image)
        differences = {kind: float(np.abs(answer - expected).max()) for kind, answer in {"ONNX": session.run(None, {"LR": image})[0], "PyTorch": rounded(image)}.items()}
        print(name, expected.shape, f"{expected.min():.1f}..{expected.max():.1f}", {kind: f"{difference:.1e}" for kind, difference in differences.items()})
        assert differences["ONNX"] < 2 * differences["PyTorch"]
        pixels = np.clip(np.round(expected[0]), 0, 255).astype(int)
        stride = 97
        cases.append({"sample": f"{name}.png", "dims": list(pixels.shape), "stride": stride, "pixels": pixels.reshape(-1)[::stride].tolist()})
    write_json(ROOT / "test/models/upscaler.golden.json", {
        "about": "Expected pixels (RGB, every n-th number) of public/models/upscaler's samples, made by training/upscaler.py",
        "runtime": "training/tfjs_layers.py, PyTorch in float64, rounded",
        "cases": cases,
    })
    # Like a photo's numbers, 0..255.
    noise = (numbers(1, [1, 12, 16, 3]) + 1) * np.float32(127.5)
    write_golden(ARCHIVE / "golden.safetensors", lambda feeds: {"SR": exact(feeds["LR"]).astype(np.float32)}, {"LR": noise})
    write_extras(ARCHIVE, {"onnx": "model.onnx", "tfjs": "model.json"}, {path.name: path for path in (ARCHIVE / "model.onnx", MODEL, WEIGHTS)})


if __name__ == "__main__":
    main()
