"""Makes the models that TorchServe and TabServe serve side by side, with the same weights: TorchScript for TorchServe
into the folder that is given, and with `--onnx` the ONNX archives in `archives/` here.

    python make.py FOLDER [--onnx]
"""

import json
import sys
from pathlib import Path

import torch
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


def write_archive(name, model, handler, outputs):
    """Writes an archive that TabServe reads: a folder with a manifest."""
    folder = HERE / "archives" / name
    (folder / "MAR-INF").mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        model,
        torch.zeros(1, 3, 224, 224),
        str(folder / f"{name}.onnx"),
        input_names=["images"],
        output_names=outputs,
        dynamic_axes={"images": {0: "batch"}, outputs[0]: {0: "batch"}},
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
            "extensions": "index_to_name.json",
        },
        "archiverVersion": "0.12.0",
    }
    (folder / "MAR-INF" / "MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n")
    (folder / "index_to_name.json").write_text(json.dumps(dict(enumerate(CLASSES)), indent=2) + "\n")


def main(target, *flags):
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index_to_name.json").write_text(json.dumps(dict(enumerate(CLASSES))))
    for name, module, handler, outputs in (
        ("classifier", Classifier(), "image_classifier", ["logits"]),
        ("segmenter", Segmenter(), "image_segmenter", ["out"]),
    ):
        model = fill(module)
        torch.jit.trace(model, torch.zeros(1, 3, 224, 224), strict=False).save(str(folder / f"{name}.pt"))
        if "--onnx" in flags:
            write_archive(name, model, handler, outputs)


main(*sys.argv[1:])
