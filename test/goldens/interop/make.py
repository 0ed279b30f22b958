"""Makes the models that TorchServe and TabServe serve side by side, with the same weights: TorchScript for TorchServe
into the folder that is given, and with `--onnx` the ONNX archives in `archives/` here.

    python make.py FOLDER [--onnx]
"""

import json
import sys
from pathlib import Path
from typing import Dict, List

import torch
import torchtext.vocab
from torch import nn

HERE = Path(__file__).parent
CLASSES = ["cat", "dog", "owl", "fox", "hen", "cow", "bee"]


def fill(module):
    """Sets the weights by a formula, so that each version of torch makes the same."""
    for at, parameter in enumerate(module.parameters()):
        numbers = torch.arange(parameter.numel(), dtype=torch.float64)
        parameter.data = (torch.sin(numbers * 1.7 + at) * 0.4).float().reshape(parameter.shape)
    return module.eval()


class Classifier(nn.Module):
    """Logits `[N, 7]` of images `[N, 3, 224, 224]`."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 7, stride=4)
        self.head = nn.Linear(8, len(CLASSES))

    def forward(self, images):
        return self.head(torch.relu(self.conv(images)).mean((2, 3))) * 3


class Segmenter(nn.Module):
    """Logits `[N, 7, 224, 224]` of each pixel's class."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, len(CLASSES), 3, padding=1)

    def forward(self, images):
        return {"out": self.conv(images)}


class Detector(nn.Module):
    """Boxes, labels and scores of each image of `[N, 3, H, W]`, best first, as torchvision's detectors return them."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, len(CLASSES), 5, stride=2)
        corners = torch.tensor([[0.0, 0.0], [0.1, 0.5], [0.3, 0.2], [0.5, 0.5], [0.6, 0.1], [0.2, 0.4], [0.4, 0.3]])
        self.register_buffer("boxes", torch.cat((corners, corners + torch.tensor([0.25, 0.4])), 1))

    def one(self, image: torch.Tensor) -> Dict[str, torch.Tensor]:
        scores, order = torch.sigmoid(self.conv(image.unsqueeze(0)).mean((2, 3))[0] * 3 + 0.3).sort(descending=True)
        height, width = float(image.shape[1]), float(image.shape[2])
        boxes = self.boxes[order] * torch.tensor([width, height, width, height])
        return {"boxes": boxes, "labels": order, "scores": scores}

    def forward(self, images: torch.Tensor) -> List[Dict[str, torch.Tensor]]:
        return [self.one(image) for image in images]


class OneDetector(nn.Module):
    """The same for one image, `[1, 3, H, W]`: the export that TabServe reads."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector

    def forward(self, images):
        logits = self.detector.conv(images).mean((2, 3))[0]
        scores, order = torch.sigmoid(logits * 3 + 0.3).sort(descending=True)
        height, width = images.shape[2], images.shape[3]
        size = torch.stack([torch.scalar_tensor(side, dtype=torch.float32) for side in (width, height, width, height)])
        return self.detector.boxes[order] * size, order, scores


WORDS = ["<unk>", "<pad>", "the", "owl", "sees", "a", "fox", "the owl", "owl sees", "not", "do", "cafe"]


class Texts(nn.Module):
    """Logits `[rows, 7]` of the tokens `[tokens]` of all rows, which begin at `offsets` `[rows]`."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(len(WORDS), 4)
        self.head = nn.Linear(4, len(CLASSES))

    def forward(self, tokens, offsets):
        return self.head(self.embedding(tokens, offsets)) * 6


class Numbers(nn.Module):
    """Sums of the rows of `x` `[batch, 3]`, times `count` `[batch]`; and twice the counts."""

    def forward(self, x, count):
        return x.sum(1) * count, count * 2


def write_archive(name, model, example, names, axes, handler, config=None, labels=CLASSES):
    """Writes an archive that TabServe reads: a folder with a manifest."""
    folder = HERE / "archives" / name
    (folder / "MAR-INF").mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        model,
        example,
        str(folder / f"{name}.onnx"),
        input_names=names[0],
        output_names=names[1],
        dynamic_axes=axes,
        opset_version=17,
    )
    manifest = {
        "createdOn": "27/11/2026 12:00:00",
        "runtime": "python",
        "model": {
            "modelName": name,
            "serializedFile": f"{name}.onnx",
            "handler": handler,
            "modelVersion": "1.0",
        },
        "archiverVersion": "0.12.0",
    }
    if labels:
        manifest["model"]["extensions"] = "index_to_name.json"
        (folder / "index_to_name.json").write_text(json.dumps(dict(enumerate(labels)), indent=2) + "\n")
    if config:
        manifest["model"]["configFile"] = "model-config.yaml"
        (folder / "model-config.yaml").write_text(config)
    (folder / "MAR-INF" / "MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n")


def main(target, *flags):
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index_to_name.json").write_text(json.dumps(dict(enumerate(CLASSES))))
    images = torch.zeros(1, 3, 224, 224)
    for name, module, handler, output in (
        ("classifier", Classifier(), "image_classifier", "logits"),
        ("segmenter", Segmenter(), "image_segmenter", "out"),
    ):
        model = fill(module)
        torch.jit.trace(model, images, strict=False).save(str(folder / f"{name}.pt"))
        if "--onnx" in flags:
            axes = {"images": {0: "batch"}, output: {0: "batch"}}
            write_archive(name, model, images, (["images"], [output]), axes, handler)

    detector = fill(Detector())
    torch.jit.script(detector).save(str(folder / "detector.pt"))
    if "--onnx" in flags:
        outputs = ["boxes", "labels", "scores"]
        axes = {"images": {2: "height", 3: "width"}}
        write_archive("detector", OneDetector(detector), images, (["images"], outputs), axes, "object_detector")

    texts = fill(Texts())
    torch.jit.script(texts).save(str(folder / "texts.pt"))
    vocabulary = torchtext.vocab.vocab({word: 1 for word in WORDS})
    vocabulary.set_default_index(WORDS.index("<unk>"))
    torch.save(vocabulary, str(folder / "source_vocab.pt"))
    if "--onnx" in flags:
        example = (torch.tensor([2, 3, 4]), torch.tensor([0, 1]))
        axes = {"tokens": {0: "tokens"}, "offsets": {0: "rows"}, "logits": {0: "rows"}}
        config = "handler:\n  tokenizer: torchserve\n"
        write_archive("texts", texts, example, (["tokens", "offsets"], ["logits"]), axes, "text_classifier", config)
        archive = HERE / "archives" / "texts"
        (archive / "source_vocab.json").write_text(json.dumps(WORDS) + "\n")
        manifest = json.loads((archive / "MAR-INF" / "MANIFEST.json").read_text())
        manifest["model"]["extensions"] += ",source_vocab.json"
        (archive / "MAR-INF" / "MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n")

    if "--onnx" in flags:
        example = (torch.zeros(1, 3), torch.ones(1, dtype=torch.int64))
        names = (["x", "count"], ["sums", "twice"])
        axes = {name: {0: "batch"} for name in ("x", "count", "sums", "twice")}
        write_archive("numbers", Numbers(), example, names, axes, "base_handler", labels=None)


main(*sys.argv[1:])
