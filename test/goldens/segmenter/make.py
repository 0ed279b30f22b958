"""Makes the tiny segmentation models, the images, and expected.json with expected.bin: what ONNX Runtime and torch (in float64) compute.

    python test/goldens/segmenter/make.py

For each model, transform and image, the binary holds the model's own output and, from that, the expected maps at the image's size:
`classes` (uint8), `scores` and `mask` (float32); for the model `logits` also TorchServe's `[height, width, 2]` at the model's size.
"""
import io
import json
import pathlib
import sys
import types

# torchvision's compiled operators may not fit torch's version; transforms of Pillow images need none of them.
sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto as T, helper, numpy_helper
from PIL import Image
from torchvision.transforms import functional as TF

HERE = pathlib.Path(__file__).parent
HEIGHT, WIDTH = 12, 16
CLASSES = 5
# Of two classes that are closer than this the likelier may differ between machines; the seeds are such that there are none.
CLOSE = 2e-5


# ── Models: convolutions of an image ────────────────────────────────────────────────────────────


def weight(name, dims, seed, scale):
    return numpy_helper.from_array((np.random.default_rng(seed).standard_normal(dims) * scale).astype(np.float32), name)


def conv(inputs, output, stride=1):
    return helper.make_node("Conv", inputs.split(), [output], kernel_shape=[3, 3], pads=[1] * 4, strides=[stride] * 2, dilations=[1, 1], group=1)


def model(name, nodes, input_dims, output, weights):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("image", T.FLOAT, input_dims)], [output], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], producer_name="tabserve test/goldens/segmenter/make.py")
    made.ir_version = 7
    onnx.checker.check_model(made, full_check=True)
    return made.SerializeToString()


def filters(channels, seed, scale=3.0):
    return [weight("weight", [channels, 3, 3, 3], seed, scale), weight("bias", [channels], seed + 1, 1.0)]


def value(name, dims, kind=T.FLOAT):
    return helper.make_tensor_value_info(name, kind, dims)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], **attributes)


NCHW, NHWC = [1, 3, HEIGHT, WIDTH], [1, HEIGHT, WIDTH, 3]
MODELS = {
    # Five logits a pixel, at half the input's size.
    "logits": model("logits", [conv("image weight bias", "out", 2)], NCHW, value("out", [1, CLASSES, HEIGHT // 2, WIDTH // 2]), filters(CLASSES, 11)),
    # One logit a pixel.
    "sigmoid": model("sigmoid", [conv("image weight bias", "out")], NCHW, value("out", [1, 1, HEIGHT, WIDTH]), filters(1, 21)),
    # One probability a pixel, channels last, as the published selfie model.
    "probabilities": model(
        "probabilities",
        [
            node("Transpose", "image", "nchw", perm=[0, 3, 1, 2]),
            conv("nchw weight bias", "conv"),
            node("Sigmoid", "conv", "sigmoid"),
            node("Transpose", "sigmoid", "out", perm=[0, 2, 3, 1]),
        ],
        NHWC,
        value("out", [1, HEIGHT, WIDTH, 1]),
        filters(1, 31),
    ),
    # Two logits a pixel, channels last.
    "two_logits": model(
        "two_logits",
        [node("Transpose", "image", "nchw", perm=[0, 3, 1, 2]), conv("nchw weight bias", "conv"), node("Transpose", "conv", "out", perm=[0, 2, 3, 1])],
        NHWC,
        value("out", [1, HEIGHT, WIDTH, 2]),
        filters(2, 41),
    ),
    # The class itself, an int64 a pixel; any number of rows.
    "argmax": model(
        "argmax",
        [conv("image weight bias", "conv"), node("ArgMax", "conv", "out", axis=1, keepdims=0)],
        ["rows", *NCHW[1:]],
        value("out", ["rows", HEIGHT, WIDTH], T.INT64),
        filters(CLASSES, 51),
    ),
}
FOREGROUND = {"logits": 2, "sigmoid": 1, "probabilities": 1, "two_logits": 1, "argmax": 2}


# ── Images and transforms ───────────────────────────────────────────────────────────────────────


def image(width, height, seed):
    """Soft blobs of color."""
    noise = np.random.default_rng(seed).integers(0, 256, (3, 4, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)


IMAGES = {"1x1": image(1, 1, 1), "23x17": image(23, 17, 2), "30x11": image(30, 11, 3), "16x12": image(16, 12, 4)}


def stretch(img):
    return TF.resize(img, [HEIGHT, WIDTH])


def letterbox(img):
    scale = min(HEIGHT / img.height, WIDTH / img.width)
    img = TF.resize(img, [max(1, round(img.height * scale)), max(1, round(img.width * scale))])
    dx, dy = WIDTH - img.width, HEIGHT - img.height
    return TF.pad(img, [dx // 2, dy // 2, dx - dx // 2, dy - dy // 2], fill=114)


def crop(img):
    return TF.center_crop(TF.resize(img, 14), [HEIGHT, WIDTH])


def placed(name, img):
    """Size of the resized image, and where its corner lies in the tensor."""
    if name == "stretch":
        return WIDTH, HEIGHT, 0, 0
    if name == "letterbox":
        scale = min(HEIGHT / img.height, WIDTH / img.width)
        width, height = max(1, round(img.width * scale)), max(1, round(img.height * scale))
        return width, height, (WIDTH - width) // 2, (HEIGHT - height) // 2
    resized = TF.resize(img, 14)
    # What is smaller than the crop is padded first, as torchvision does, and cropped from the middle, rounded half to even.
    offset = lambda size, wanted: (wanted - size) // 2 if size < wanted else -round((size - wanted) / 2)
    return resized.width, resized.height, offset(resized.width, WIDTH), offset(resized.height, HEIGHT)


TRANSFORMS = {
    "stretch": (stretch, [{"resize": [HEIGHT, WIDTH]}, "toTensor"]),
    "letterbox": (letterbox, [{"letterbox": {"size": [HEIGHT, WIDTH], "fill": 114}}, "toTensor"]),
    "crop": (crop, [{"resize": 14}, {"centerCrop": [HEIGHT, WIDTH]}, "toTensor"]),
}


# ── From the model's map to the image ───────────────────────────────────────────────────────────


def to_image(maps, transform, img, mode="bilinear"):
    """`maps` [1, C, h, w], float64 → [1, C, height, width], and which pixels of the image are in the tensor."""
    _, _, h, w = maps.shape
    if transform == "stretch":
        options = {"mode": "bilinear", "align_corners": False} if mode == "bilinear" else {"mode": "nearest-exact"}
        return F.interpolate(maps, size=(img.height, img.width), **options), np.ones((img.height, img.width), bool)
    width, height, x, y = placed(transform, img)
    # Columns and rows of the map that show something of the image; the rest is padding.
    left, right = max(0, int(np.floor(x * w / WIDTH))), min(w, int(np.ceil((x + width) * w / WIDTH)))
    top, bottom = max(0, int(np.floor(y * h / HEIGHT))), min(h, int(np.ceil((y + height) * h / HEIGHT)))
    part = maps[:, :, top:bottom, left:right]
    if transform == "letterbox" and (w, h) == (WIDTH, HEIGHT):
        options = {"mode": "bilinear", "align_corners": False} if mode == "bilinear" else {"mode": "nearest-exact"}
        return F.interpolate(part, size=(img.height, img.width), **options), np.ones((img.height, img.width), bool)
    u = ((np.arange(img.width) + 0.5) * width / img.width + x) * w / WIDTH
    v = ((np.arange(img.height) + 0.5) * height / img.height + y) * h / HEIGHT
    inside = ((v >= 0) & (v <= h))[:, None] & ((u >= 0) & (u <= w))[None, :]
    gx, gy = 2 * (u - left) / (right - left) - 1, 2 * (v - top) / (bottom - top) - 1
    grid = torch.from_numpy(np.stack(np.broadcast_arrays(gx[None, :], gy[:, None]), -1))[None]
    return F.grid_sample(part, grid, mode=mode, padding_mode="border", align_corners=False), inside


def probabilities(maps, kind):
    """[1, C, h, w] → [1, classes, h, w]."""
    if maps.shape[1] > 1:
        return maps if kind == "probabilities" else torch.softmax(maps, 1)
    foreground = maps if kind == "probabilities" else torch.sigmoid(maps)
    return torch.cat([1 - foreground, foreground], 1)


def expected(name, output, transform, img):
    outside = lambda a, inside: np.where(inside, a, 0)
    if name == "argmax":
        maps = torch.from_numpy(output).double()[:, None]
        classes, inside = to_image(maps, transform, img, "nearest")
        mask, _ = to_image((maps == FOREGROUND[name]).double(), transform, img)
        return {"classes": outside(classes[0, 0].numpy(), inside).astype(np.uint8), "mask": outside(mask[0, 0].numpy(), inside).astype(np.float32)}
    maps = torch.from_numpy(output).double()
    if name in ("probabilities", "two_logits"):
        maps = maps.permute(0, 3, 1, 2)
    kind = "probabilities" if name == "probabilities" else "logits"
    upsampled, inside = to_image(maps, transform, img)
    p = probabilities(upsampled, kind)
    best = torch.topk(p[0], 2, 0).values
    assert ((best[0] - best[1]).numpy()[inside] > CLOSE).all(), (name, transform, img.size)
    scores, classes = p[0].max(0)
    mask, _ = to_image(probabilities(maps, kind)[:, FOREGROUND[name]][:, None], transform, img)
    made = {
        "classes": outside(classes.numpy(), inside).astype(np.uint8),
        "scores": outside(scores.numpy(), inside).astype(np.float32),
        "mask": outside(mask[0, 0].numpy(), inside).astype(np.float32),
    }
    if name == "logits":
        # TorchServe's image_segmenter: softmax, the maximum over the classes, class and probability side by side.
        best, index = torch.softmax(maps, 1).max(1)
        made["torchserve"] = torch.stack([index.double(), best], 3)[0].numpy().astype(np.float32)
    return made


# ── Everything ──────────────────────────────────────────────────────────────────────────────────


def main():
    blob = io.BytesIO()

    def store(array):
        while blob.tell() % 8:
            blob.write(b"\0")
        start = blob.tell()
        blob.write(array.astype(array.dtype.newbyteorder("<")).tobytes())
        return {"dtype": str(array.dtype), "dims": list(array.shape), "offset": start}

    for name, img in IMAGES.items():
        img.save(HERE / f"{name}.png", optimize=True)
    cases = []
    for name, made in MODELS.items():
        (HERE / f"{name}.onnx").write_bytes(made)
        session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
        for transform, (apply, steps) in TRANSFORMS.items():
            for shown, img in IMAGES.items():
                tensor = TF.to_tensor(apply(img))[None].numpy()
                channels_last = name in ("probabilities", "two_logits")
                (output,) = session.run(None, {"image": tensor.transpose(0, 2, 3, 1) if channels_last else tensor})
                handler = {
                    "imageProcessing": [*steps, *([{"layout": "NHWC"}] if channels_last else [])],
                    "output": {"probabilities": "probabilities", "argmax": "classes"}.get(name, "logits"),
                    "foreground": FOREGROUND[name],
                }
                if name in ("logits", "argmax"):
                    handler["labels"] = ["background", "ant", "bee", "cat", "dog"]
                answers = {key: store(array) for key, array in expected(name, output, transform, img).items()}
                cases.append({"model": name, "transform": transform, "image": shown, "size": list(img.size), "handler": handler, "output": store(output), "expected": answers})
    (HERE / "expected.bin").write_bytes(blob.getvalue())
    about = "Made by make.py. Offsets are into expected.bin, little-endian; maps are [height, width]."
    versions = {"torch": torch.__version__.split("+")[0], "onnxruntime": onnxruntime.__version__}
    lines = ",\n    ".join(json.dumps(case) for case in cases)
    (HERE / "expected.json").write_text(f'{{\n  "about": {json.dumps(about)},\n  "versions": {json.dumps(versions)},\n  "cases": [\n    {lines}\n  ]\n}}\n')
    print(f"{len(cases)} cases, {blob.tell()} bytes; models of", ", ".join(f"{len(m)}" for m in MODELS.values()), "bytes")


if __name__ == "__main__":
    main()
