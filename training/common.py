"""What the training scripts share."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def package_version(name):
    return json.loads((ROOT / "node_modules" / name / "package.json").read_text())["version"]


def write_json(path, value):
    """Indented, but with lists of plain numbers on one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, indent=2, ensure_ascii=False)
    text = re.sub(r"\[[-+\d\s.,eE]+\]", lambda m: "[" + " ".join(m.group()[1:-1].split()) + "]", text)
    path.write_text(text + "\n")


def torchvision_transforms():
    """torchvision's transforms, also where its wheel lacks compiled operators (they are not needed on Pillow images)."""
    try:
        from torchvision import transforms
    except RuntimeError:
        import sys

        import torch

        for module in [m for m in sys.modules if m.startswith("torchvision")]:
            del sys.modules[module]
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        from torchvision import transforms
    return transforms
