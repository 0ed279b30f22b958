"""Makes goldens.json: what torchvision on Pillow images computes. Run with torch, torchvision and Pillow at hand:

    python test/goldens/transforms/make.py

An input is a formula, an output its SHA-256 (of little-endian float32) and a strided sample to look at when it differs.
"""
import base64
import hashlib
import json
import pathlib
import sys
import types

# torchvision's compiled operators may not fit torch's version; transforms of Pillow images need none of them.
sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F

Image.MAX_IMAGE_PIXELS = None
SAMPLE = 32


def image(width, height, pattern="noise", mode="RGB"):
    """A hash of x, y and the channel; `generate` in transforms.spec.ts is the same. 'extremes' has only 0 and 255."""
    channels = 1 if mode == "L" else 3
    x = np.arange(width, dtype=np.uint32)[None, :, None] * np.uint32(0x9E3779B1)
    y = np.arange(height, dtype=np.uint32)[:, None, None] * np.uint32(0x85EBCA77)
    c = np.arange(channels, dtype=np.uint32)[None, None, :] * np.uint32(0xC2B2AE3D)
    v = x ^ y ^ c
    v = (v ^ (v >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    v ^= v >> np.uint32(13)
    v = (v & np.uint32(0xFF)).astype(np.uint8)
    if pattern == "extremes":
        v = np.where(v > 127, 255, 0).astype(np.uint8)
    return Image.fromarray(v[:, :, 0] if mode == "L" else v).convert("RGB")


def letterbox(img, size, fill=114, interpolation="bilinear", position="center"):
    height, width = size
    scale = min(height / img.height, width / img.width)
    img = F.resize(img, [max(1, round(img.height * scale)), max(1, round(img.width * scale))], InterpolationMode(interpolation))
    dx, dy = width - img.width, height - img.height
    left, top = (dx // 2, dy // 2) if position == "center" else (0, 0)
    return F.pad(img, [left, top, dx - left, dy - top], fill=tuple(fill) if isinstance(fill, list) else fill)


def to_tensor(img, scale=None):
    if scale is None:
        return F.to_tensor(img)
    return torch.from_numpy(np.array(img).reshape(img.height, img.width, -1)).permute(2, 0, 1).float() * torch.tensor(scale, dtype=torch.float32)


def apply(img, steps):
    order, layout = "RGB", "NCHW"
    for step in steps:
        name, value = (step, None) if isinstance(step, str) else next(iter(step.items()))
        options = value if isinstance(value, dict) else {}
        if name == "resize":
            size = options.get("size", value)
            img = F.resize(img, size, InterpolationMode(options.get("interpolation", "bilinear")), options.get("maxSize"))
        elif name == "centerCrop":
            img = F.center_crop(img, value)
        elif name == "pad":
            fill = options.get("fill", 0)
            img = F.pad(img, options.get("padding", value), tuple(fill) if isinstance(fill, list) else fill)
        elif name == "letterbox":
            img = letterbox(img, **options) if options else letterbox(img, value)
        elif name == "grayscale":
            img = F.to_grayscale(img, value or 1)
        elif name == "colorOrder":
            order = value
        elif name == "toTensor":
            img = to_tensor(img, options.get("scale"))
            if order == "BGR":
                img = img.flip(0)
        elif name == "normalize":
            img = F.normalize(img, options["mean"], options["std"])
        elif name == "layout":
            layout = value
        else:
            raise ValueError(name)
    return img.permute(1, 2, 0).contiguous() if layout == "NHWC" else img


IMAGENET = {"normalize": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}}
CLASSIFY = [{"resize": 256}, {"centerCrop": 224}, "toTensor", IMAGENET]
FILTERS = ["nearest", "bilinear", "bicubic", "lanczos"]


def cases():
    def case(size, *steps, **more):
        return {"width": size[0], "height": size[1], "transforms": list(steps), **more}

    def resize(size, interpolation="bilinear", **more):
        return {"resize": {"size": size, "interpolation": interpolation, **more}}

    tensor = "toTensor"
    # Every filter: down, up, one direction each way, odd sizes, factors near one, single pixels, rows and columns.
    for f in FILTERS:
        for size, to in [
            ((64, 48), [24, 32]), ((7, 5), [50, 70]), ((33, 57), [19, 101]), ((101, 67), [66, 102]), ((17, 31), [31, 5]), ((29, 13), [40, 29]),
            ((1, 1), [1, 3]), ((1, 1), [5, 5]), ((2, 3), [1, 1]), ((1, 1000), [10, 10]), ((1000, 1), [10, 10]), ((3, 1000), [999, 7]),
            ((5, 501), [100, 6]), ((5, 500), [100, 6]), ((5, 501), [502, 6]), ((1000, 3), [7, 999]), ((640, 480), [480, 77]), ((257, 255), [256, 256]),
        ]:
            yield case(size, resize(to, f), tensor, pattern="extremes" if sum(size) % 2 else "noise")
        yield case((500, 375), resize(256, f), {"centerCrop": 224}, tensor, IMAGENET)
        yield case((375, 501), resize(64, f), {"centerCrop": [31, 50]}, tensor)
        yield case((300, 200), resize(48, f, maxSize=60), tensor)
        yield case((41, 30), resize(100, f), {"centerCrop": [64, 33]}, tensor, pattern="extremes")
        yield case((4000, 3000), resize(256, f), {"centerCrop": 224}, tensor, IMAGENET)
    yield case((4000, 3000), resize([48, 192]), tensor)
    yield case((4000, 3000), resize([48, 192], "bicubic"), tensor, {"layout": "NHWC"})
    yield case((4000, 3000), {"grayscale": 1}, resize(28), tensor)
    yield case((4000, 3000), {"centerCrop": 2000}, resize([9, 1100]), tensor, mode="L")
    yield case((3000, 2000), resize([1900, 2500], "lanczos"), tensor)  # several tiles
    yield case((9000, 300), resize([300, 100]), tensor)
    yield case((300, 9000), resize([40, 300], "bicubic"), tensor)
    yield case((20000, 2), resize([3, 7], "lanczos"), tensor)
    # The size arithmetic of a shorter side.
    for size in [(500, 333), (333, 500), (1023, 767), (640, 426), (99, 100), (17, 1000), (1000, 17)]:
        yield case(size, resize(29), tensor)
    yield case((1000, 333), resize(37, maxSize=101), tensor)
    yield case((333, 1000), resize(37, maxSize=38), tensor)
    # Crops: even and odd differences, larger than the image in one direction or both, without any resize.
    for size, crop in [((10, 10), 10), ((11, 10), 8), ((13, 14), [8, 8]), ((9, 7), [12, 4]), ((9, 7), [4, 14]), ((9, 7), 16), ((9, 8), 13), ((300, 200), 224)]:
        yield case(size, {"centerCrop": crop}, tensor, IMAGENET)
    yield case((12, 9), tensor)
    # Padding, several resizes, and other orders.
    for f in FILTERS:
        yield case((30, 20), {"pad": {"padding": [3, 1, 0, 7], "fill": [200, 10, 77]}}, resize([25, 40], f), tensor)
    yield case((30, 20), {"pad": 4}, tensor)
    yield case((30, 20), {"pad": {"padding": [2, 5], "fill": 9}}, {"centerCrop": [40, 20]}, tensor)
    yield case((20, 20), {"pad": {"padding": [90, 0, 0, 0], "fill": [1, 2, 3]}}, {"centerCrop": 20}, tensor)
    yield case((120, 80), {"centerCrop": 64}, resize(100, "bicubic"), resize([30, 37], "lanczos"), {"centerCrop": [20, 33]}, tensor, IMAGENET)
    yield case((120, 80), resize(40), {"pad": 6}, resize(31), {"centerCrop": 28}, {"pad": [1, 2]}, tensor)
    yield case((90, 121), resize([200, 50], "nearest"), resize([60, 80], "bicubic"), tensor)
    yield case((90, 121), {"pad": 10}, {"centerCrop": [50, 60]}, resize(33), tensor)
    # Letterbox.
    for size in [(640, 480), (481, 640), (100, 100), (33, 7), (1, 300), (1, 1000), (64, 96), (128, 5), (128, 7)]:  # the last two scale to 2.5 and 3.5 rows
        yield case(size, {"letterbox": [96, 64]}, tensor)
    yield case((300, 201), {"letterbox": {"size": [101, 100], "fill": [255, 0, 7], "interpolation": "bicubic"}}, tensor)
    yield case((300, 201), {"letterbox": {"size": [320, 310], "fill": 0}}, {"colorOrder": "BGR"}, {"toTensor": {"scale": 1}}, {"layout": "NHWC"})
    for size in [(640, 480), (481, 641), (100, 100), (33, 7), (1, 1000)]:
        yield case(size, {"letterbox": {"size": [96, 64], "position": "top-left"}}, {"colorOrder": "BGR"}, {"toTensor": {"scale": 1}})
    # Grayscale, one channel, color order, scale and layout.
    one = {"normalize": {"mean": [0.1307], "std": [0.3081]}}
    yield case((64, 48), {"grayscale": 1}, resize([28, 28]), tensor, one)
    yield case((64, 48), resize([28, 28]), {"grayscale": 1}, tensor, one, {"layout": "NHWC"})
    yield case((64, 48), {"grayscale": 3}, resize([28, 28], "lanczos"), tensor, IMAGENET)
    yield case((64, 48), {"grayscale": 1}, {"pad": {"padding": 3, "fill": 200}}, tensor)
    yield case((64, 48), {"grayscale": 3}, {"pad": {"padding": 3, "fill": [200, 100, 0]}}, resize([20, 20]), tensor)
    yield case((64, 48), {"colorOrder": "BGR"}, resize([28, 28]), tensor, IMAGENET)
    yield case((64, 48), {"colorOrder": "BGR"}, {"pad": {"padding": 2, "fill": [1, 100, 200]}}, {"grayscale": 3}, tensor, {"layout": "NHWC"})
    yield case((256, 16), {"toTensor": {"scale": 0.0173}}, IMAGENET, {"layout": "NHWC"})
    yield case((256, 16), {"toTensor": {"scale": 1}}, {"normalize": {"mean": [127.5], "std": [127.5]}})
    yield case((256, 16), tensor, {"normalize": {"mean": [0.5], "std": [0.5]}}, {"normalize": {"mean": [0.1, 0.2, 0.3], "std": [0.7]}})
    for f in FILTERS:
        yield case((120, 80), resize(50, f), {"centerCrop": 44}, tensor, IMAGENET, mode="L")
    yield case((20, 10), {"pad": {"padding": 2, "fill": [1, 100, 200]}}, resize([9, 31]), tensor, mode="L")


def golden(case):
    tensor = apply(image(case["width"], case["height"], case.get("pattern", "noise"), case.get("mode", "RGB")), case["transforms"])
    values = tensor.contiguous().numpy().astype("<f4").ravel()
    sample = values[:: -(-values.size // SAMPLE)]
    return {**case, "dims": list(tensor.shape), "sha256": hashlib.sha256(values.tobytes()).hexdigest(), "sample": base64.b64encode(sample.tobytes()).decode()}


if __name__ == "__main__":
    versions = {"torch": torch.__version__, "torchvision": torchvision.__version__, "pillow": PIL.__version__}
    lines = ",\n".join(json.dumps(golden(case), separators=(",", ":")) for case in cases())
    target = pathlib.Path(__file__).with_name("goldens.json")
    target.write_text(f'{{"versions":{json.dumps(versions)},"cases":[\n{lines}\n]}}\n')
