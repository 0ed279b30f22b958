"""Makes the models and archives of this folder, on which backends are to be proven.

    pip install onnx onnxruntime==1.30.0 numpy
    python test/models/proof/make.py

conv_relu_conv/  that model of the folder above as an archive, with a golden example
two_formats/     x · W + b for both engines, with a golden example that holds for both
any_size/        a convolution of images of any size, with a golden example of 8 × 8
resnet18.onnx    ResNet-18's architecture with 4 to 32 channels and 10 classes, batch normalization folded, weights random
thousand.onnx    1,024 outputs: for a backend that is wrong in one element of a thousand
conv1d.onnx      a convolution along one axis of 9 channels: ONNX Runtime's native WebGPU computes it wrongly where the channels are more than 8 and no
                 multiple of 4. It is why Silero VAD (129 channels after its Fourier transform) is wrong there
inverse.onnx     x / 0: infinite, or not a number, on every backend that is right
smooth.onnx      ONNX Runtime's WebGL computes it wrongly, but not on black and not on white noise: its second convolution runs with the first one's ReLU,
                 and would be negative only where the image is bright over a patch of 5 × 5 pixels
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "training")]
from goldens import onnx_answers, write_extras, write_golden  # noqa: E402
from make import affine, conv, conv_relu_conv, model, node, numbers, value, weight  # noqa: E402


def resnet18(channels=(4, 8, 16, 32), size=32):
    nodes, weights = [], []

    def convolve(x, name, into, out, kernel, stride):
        scale = np.sqrt(6 / (into * kernel * kernel))
        seed = 1000 + len(weights)
        weights.extend([weight(f"{name}.weight", [out, into, kernel, kernel], seed, scale), weight(f"{name}.bias", [out], seed + 500, 0.1)])
        nodes.append(node("Conv", f"{x} {name}.weight {name}.bias", name, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, strides=[stride] * 2, dilations=[1, 1], group=1))
        return name

    def relu(x):
        nodes.append(node("Relu", x, f"{x}.relu"))
        return f"{x}.relu"

    x = relu(convolve("image", "stem", 3, channels[0], 7, 2))
    nodes.append(node("MaxPool", x, "pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))
    x, into = "pool", channels[0]
    for stage, out in enumerate(channels):
        for block in range(2):
            name, stride = f"layer{stage + 1}.{block}", 2 if stage and not block else 1
            y = convolve(relu(convolve(x, f"{name}.conv1", into, out, 3, stride)), f"{name}.conv2", out, out, 3, 1)
            shortcut = x if stride == 1 and into == out else convolve(x, f"{name}.downsample", into, out, 1, stride)
            nodes.append(node("Add", f"{y} {shortcut}", name))
            x, into = relu(name), out
    nodes.extend([node("GlobalAveragePool", x, "mean"), node("Flatten", "mean", "features", axis=1), node("Gemm", "features fc.weight fc.bias", "logits", transB=1)])
    weights.extend([weight("fc.weight", [10, channels[-1]], 2000, 0.3), weight("fc.bias", [10], 2001, 0.1)])
    return model("resnet18", nodes, [value("image", T.FLOAT, [1, 3, size, size])], [value("logits", T.FLOAT, [1, 10])], weights)


def thousand():
    return model(
        "thousand",
        [conv("x weight bias", "y")],
        [value("x", T.FLOAT, [1, 4, 16, 16])],
        [value("y", T.FLOAT, [1, 4, 16, 16])],
        [weight("weight", [4, 4, 3, 3], 20, 0.3), weight("bias", [4], 21)],
    )


def any_size():
    return model(
        "any_size",
        [conv("x weight bias", "y")],
        [value("x", T.FLOAT, [1, 4, "height", "width"])],
        [value("y", T.FLOAT, [1, 4, "height", "width"])],
        [weight("weight", [4, 4, 3, 3], 22, 0.3), weight("bias", [4], 23)],
    )


def conv1d():
    return model(
        "conv1d",
        [node("Conv", "x weight bias", "y", kernel_shape=[3], pads=[1, 1], strides=[1], dilations=[1], group=1)],
        [value("x", T.FLOAT, [1, 9, 4])],
        [value("y", T.FLOAT, [1, 4, 4])],
        [weight("weight", [4, 9, 3], 5), weight("bias", [4], 6)],
    )


def inverse():
    zero = numpy_helper.from_array(np.zeros(1, np.float32), "zero")
    return model("inverse", [node("Div", "x zero", "y")], [value("x", T.FLOAT, [1, 4])], [value("y", T.FLOAT, [1, 4])], [zero])


def smooth(size=32):
    """Two convolutions of equal shape, the first with a ReLU: 0.35 − the mean of ReLU(the mean of the patch), by channel."""
    mean = np.zeros((3, 3, 5, 5), np.float32)
    for channel in range(3):
        mean[channel, channel] = 1 / 25
    arrays = {"mean": mean, "zero": np.zeros(3, np.float32), "minus": -mean, "bias": np.full(3, 0.35, np.float32)}
    attributes = {"kernel_shape": [5, 5], "pads": [2] * 4, "strides": [1, 1], "dilations": [1, 1], "group": 1}
    return model(
        "smooth",
        [
            node("Conv", "image mean zero", "patches", **attributes),
            node("Relu", "patches", "bright"),
            node("Conv", "bright minus bias", "dark", **attributes),
            node("GlobalAveragePool", "dark", "pooled"),
            node("Flatten", "pooled", "logits", axis=1),
        ],
        [value("image", T.FLOAT, [1, 3, size, size])],
        [value("logits", T.FLOAT, [1, 3])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )


def clamps(size=32):
    """Two convolutions of equal shape, clamped to −1.2..1.2 and to −3..3: 1.1 times the image, averaged by channel."""
    one = np.eye(3, dtype=np.float32).reshape(3, 3, 1, 1)
    arrays = {"one": one, "more": 1.1 * one, "zero": np.zeros(3, np.float32), "-1.2": np.float32(-1.2), "1.2": np.float32(1.2), "-3": np.float32(-3), "3": np.float32(3)}
    attributes = {"kernel_shape": [1, 1], "pads": [0] * 4, "strides": [1, 1], "dilations": [1, 1], "group": 1}
    return model(
        "clamps",
        [
            node("Conv", "image one zero", "first", **attributes),
            node("Clip", "first -1.2 1.2", "narrow"),
            node("Conv", "narrow more zero", "second", **attributes),
            node("Clip", "second -3 3", "wide"),
            node("GlobalAveragePool", "wide", "pooled"),
            node("Flatten", "pooled", "logits", axis=1),
        ],
        [value("image", T.FLOAT, [1, 3, size, size])],
        [value("logits", T.FLOAT, [1, 3])],
        [numpy_helper.from_array(np.asarray(array, np.float32), name) for name, array in arrays.items()],
    )


def affine_tfjs(folder):
    """The affine model as `tensorflowjs_converter` would write it: x · W + b."""
    kernel, bias = numbers(12, 1).reshape(3, 4).T, numbers(3, 2)
    shape = lambda *dims: {"dim": [{"size": str(d)} for d in dims]}
    float32 = {"type": "DT_FLOAT"}
    entry = lambda name, *dims: {"name": f"{name}:0", "dtype": "DT_FLOAT", "tensorShape": shape(*dims)}
    write_json(folder / "model.json", {
        "format": "graph-model",
        "generatedBy": "tabserve test/models/proof/make.py",
        "signature": {"inputs": {"x": entry("x", 1, 4)}, "outputs": {"y": entry("y", 1, 3)}},
        "modelTopology": {
            "node": [
                {"name": "x", "op": "Placeholder", "attr": {"dtype": float32, "shape": {"shape": shape(1, 4)}}},
                {"name": "kernel", "op": "Const", "attr": {"dtype": float32, "value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": shape(4, 3)}}}},
                {"name": "bias", "op": "Const", "attr": {"dtype": float32, "value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": shape(3)}}}},
                {"name": "product", "op": "MatMul", "input": ["x", "kernel"], "attr": {"T": float32, "transpose_a": {"b": False}, "transpose_b": {"b": False}}},
                {"name": "y", "op": "AddV2", "input": ["product", "bias"], "attr": {"T": float32}},
            ],
            "library": {},
            "versions": {"producer": 1},
        },
        "weightsManifest": [
            {"paths": ["weights.bin"], "weights": [{"name": "kernel", "shape": [4, 3], "dtype": "float32"}, {"name": "bias", "shape": [3], "dtype": "float32"}]}
        ],
    })
    (folder / "weights.bin").write_bytes(np.ascontiguousarray(kernel).tobytes() + bias.tobytes())


def write_json(path, content):
    path.write_text(json.dumps(content, indent=2) + "\n")


def archive(name, made):
    folder = HERE / name
    (folder / "MAR-INF").mkdir(parents=True, exist_ok=True)
    onnx.save(made, folder / f"{made.graph.name}.onnx")
    write_json(folder / "MAR-INF/MANIFEST.json", {
        "createdOn": "2026-11-21T00:00:00Z",
        "runtime": "tabserve",
        "archiverVersion": "1.0",
        "model": {"modelName": name, "modelVersion": "1.0", "serializedFile": f"{made.graph.name}.onnx", "handler": "base_handler"},
    })
    return folder


def main():
    folder = archive("conv_relu_conv", conv_relu_conv())
    write_golden(folder / "golden.safetensors", onnx_answers(folder / "conv_relu_conv.onnx"), {"x": (106, [1, 4, 8, 8])}, {"y": 3})
    write_extras(folder, {"onnx": "conv_relu_conv.onnx"}, {"conv_relu_conv.onnx": folder / "conv_relu_conv.onnx"})

    folder = archive("any_size", any_size())
    write_golden(folder / "golden.safetensors", onnx_answers(folder / "any_size.onnx"), {"x": (107, [1, 4, 8, 8])}, {"y": 3})
    write_extras(folder, {"onnx": "any_size.onnx"}, {"any_size.onnx": folder / "any_size.onnx"})

    folder = archive("two_formats", affine(1))
    affine_tfjs(folder)
    write_golden(folder / "golden.safetensors", onnx_answers(folder / "affine.onnx"), {"x": (100, [1, 4])})
    write_extras(folder, {"onnx": "affine.onnx", "tfjs": "model.json"}, {name: folder / name for name in ("affine.onnx", "model.json", "weights.bin")})

    for made in (resnet18(), thousand(), conv1d(), inverse(), smooth(), clamps()):
        onnx.save(made, HERE / f"{made.graph.name}.onnx")

    every = {
        "F64": struct.pack("<2d", 0.1, -1e300), "F32": struct.pack("<2f", 0.5, float("inf")), "F16": struct.pack("<2e", 1.5, float("nan")), "I64": struct.pack("<2q", -(2**62), 2**53 + 1),
        "I32": struct.pack("<2i", -(2**31), 7), "I16": struct.pack("<2h", -32768, 7), "I8": struct.pack("<2b", -128, 7), "U64": struct.pack("<2Q", 2**64 - 1, 7),
        "U32": struct.pack("<2I", 2**32 - 1, 7), "U16": struct.pack("<2H", 65535, 7), "U8": struct.pack("<2B", 255, 7), "BOOL": struct.pack("<2?", True, False),
    }  # fmt: skip
    # By struct alone, as the format's own description has it, with nothing aligned.
    header, data = {"__metadata__": {"about": "every dtype"}}, b"\x01\x02\x03"
    header["three"] = {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}
    for name, raw in every.items():
        header[name] = {"dtype": name, "shape": [2, 1], "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    header["scalar"] = {"dtype": "F32", "shape": [], "data_offsets": [len(data), len(data) + 4]}
    text = json.dumps(header).encode()
    (HERE / "dtypes.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data + struct.pack("<f", -2.5))


if __name__ == "__main__":
    main()
