"""Small convolutional graphs in place of the real models, whose code is not in transformers: with their inputs, outputs,
last operators, and the files of their repositories. The colors are those of Forte's blur fusion, with OpenCV's blur."""
import json
import pathlib
import shutil
import tempfile

import cv2
import numpy as np
import onnx
import torch
from PIL import Image

from common import HERE, answers, photo, store, strip

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
HALF = [0.5, 0.5, 0.5]


def files(size, mean, std, **fields):
    return {
        "do_normalize": True, "do_rescale": True, "do_resize": True, "image_mean": mean, "image_std": std, "resample": 2, "rescale_factor": 0.00392156862745098, "size": size, **fields,
    }


JS = {"feature_extractor_type": "ImageFeatureExtractor", "do_pad": False}
# The repository, its config.json, its preprocessor_config.json, the outputs' names, whether the graph ends with a sigmoid
MODELS = [
    ("background-modnet", {"architectures": ["MODNet"], "model_type": "modnet"}, files({"shortest_edge": 64}, HALF, HALF, **JS, size_divisibility=32), ["output"], True),
    ("background-birefnet", {"architectures": ["BiRefNet"]}, files({"height": 64, "width": 64}, *IMAGENET, image_processor_type="ViTFeatureExtractor"), ["output_image"], False),
    ("background-rmbg", {"architectures": ["BriaRMBG"], "model_type": "SegformerForSemanticSegmentation"}, files({"height": 64, "width": 64}, HALF, [1, 1, 1], **JS), ["output"], True),
    ("background-u2net", {"model_type": "u2net"}, files({"height": 48, "width": 48}, *IMAGENET, image_processor_type="ViTFeatureExtractor"), ["d0", "d1", "d2"], True),
    ("background-isnet", {"model_type": "isnet"}, files({"height": 64, "width": 64}, HALF, [1, 1, 1], image_processor_type="ViTFeatureExtractor"), ["mask"], True),
]
GPU = {"background-u2net": ["webgl", "webgpu"], **{f"background-{name}": ["webgl"] for name in ("birefnet", "rmbg", "isnet")}}


class Net(torch.nn.Module):
    """An encoder, a decoder that joins it, and a map at the input's size for each output."""

    def __init__(self, outputs, is_sigmoid):
        super().__init__()
        self.down = torch.nn.Conv2d(3, 8, 3, 2, 1)
        self.deep = torch.nn.Conv2d(8, 8, 3, 1, 1)
        self.up = torch.nn.ConvTranspose2d(8, 8, 2, 2)
        self.heads = torch.nn.ModuleList(torch.nn.Conv2d(8, 1, 3, 1, 1) for _ in outputs)
        self.is_sigmoid = is_sigmoid

    def forward(self, pixels):
        down = torch.relu(self.down(pixels))
        joined = torch.relu(self.up(down + torch.relu(self.deep(down))))
        maps = [head(joined) for head in self.heads]
        return tuple(torch.sigmoid(one) for one in maps) if self.is_sigmoid else tuple(maps)


def pixel_values(image, processor):
    size = processor["size"]
    if "shortest_edge" in size:
        factor = size["shortest_edge"] / min(image.size)
        least = processor["size_divisibility"]
        width, height = (int(side * factor) // least * least for side in image.size)
    else:
        width, height = size["width"], size["height"]
    values = np.asarray(image.resize((width, height), Image.BILINEAR)).astype(np.float32) / np.float32(255)
    values = (values - np.float32(processor["image_mean"])) / np.float32(processor["image_std"])
    return torch.from_numpy(values.transpose(2, 0, 1)[None].copy())


def fusion(image, foreground, background, alpha, box):
    """One pass of Forte's estimate (DOI 10.1109/ICIP42928.2021.9506164)."""
    mass = cv2.blur(alpha, (box, box))[..., None]
    weight = alpha[..., None]
    near = cv2.blur(foreground * weight, (box, box)) / (mass + 1e-5)
    far = cv2.blur(background * (1 - weight), (box, box)) / (1 - mass + 1e-5)
    return np.clip(near + weight * (image - weight * near - (1 - weight) * far), 0, 1), far


def make():
    rows = []
    for repository, config, processor, outputs, is_sigmoid in MODELS:
        torch.manual_seed(1)
        model = Net(outputs, is_sigmoid).eval()
        with torch.no_grad():
            for head in model.heads:
                head.weight.mul_(30)
                head.bias.sub_(0.8)
        folder = HERE / repository
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "onnx").mkdir(parents=True)
        example = pixel_values(photo(45, 34), processor)
        axes = {"input": {0: "batch", 2: "height", 3: "width"}} if repository == "background-modnet" else {}
        with tempfile.TemporaryDirectory() as target:
            path = pathlib.Path(target) / "model.onnx"
            torch.onnx.export(model, (example,), path, input_names=["input"], output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)
            graph = onnx.load(path)
        strip(graph)
        store(graph, folder / "onnx" / "model.onnx")
        for name, fields in (("config.json", config), ("preprocessor_config.json", processor)):
            (folder / name).write_text(json.dumps(fields, indent=2) + "\n")
        requests = []
        for size in [(45, 34), (40, 33)]:
            image = photo(*size)
            with torch.no_grad():
                found = model(pixel_values(image, processor))[0]
            alpha = found if is_sigmoid else torch.sigmoid(found)
            alpha = torch.nn.functional.interpolate(alpha, size=size[::-1], mode="bilinear", align_corners=False)[0, 0].numpy().astype(np.float64)
            colors = np.asarray(image).astype(np.float64) / 255
            first, far = fusion(colors, colors, colors, alpha, 90)
            second, _ = fusion(colors, first, far, alpha, 6)
            data = np.rint(np.concatenate([second, alpha[..., None]], -1) * 255).astype(int)
            print(repository, size, alpha.min(), alpha.max(), alpha.mean())
            requests.append({"input": {"photo": size}, "answer": {"width": size[0], "height": size[1], "data": data.flatten()}})
        architecture = config.get("architectures", [config.get("model_type")])[0]
        rows.append({"architecture": architecture, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests})
    answers("background_remover", rows)
