"""Makes faces.golden.json: the faces that BlazeFace finds in sample photos, and where.

    pip install torch torchvision pillow onnxruntime
    python test/models/blazeface/make.py

ONNX Runtime computes the graphs; the decoding is MediaPipe's, in float64: an anchor is the centre of a cell of a 16 × 16 grid (two each) or an
8 × 8 one (six each), the regression is a centre's offset and a size in pixels of the input, and of overlapping faces the best one stays.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "training"))
from common import write_json  # noqa: E402
from human_models import iou, letterbox, pixels  # noqa: E402

SIZES = {"front": 128, "back": 256}
PHOTOS = ["selfie/samples/friends.jpg", "selfie/samples/grace-hopper.jpg", "selfie/samples/dining-room.jpg"]
SCORE, IOU = 0.6, 0.3


def anchors():
    for grid, count in ((16, 2), (8, 6)):
        for cell in range(grid * grid):
            yield from [((cell % grid + 0.5) / grid, (cell // grid + 0.5) / grid)] * count


def faces(session, size, image):
    """The faces, best first; and how near any decision was to going the other way."""
    square, to_image = letterbox(image, size)
    x = ((pixels(square) / 255 - 0.5) / 0.5)[None].numpy()
    outputs = [value[0].astype(np.float64) for value in session.run(["Identity:0", "Identity_1:0", "Identity_2:0", "Identity_3:0"], {"input:0": x})]
    scores = 1 / (1 + np.exp(-np.concatenate(outputs[:2])[:, 0].clip(-100, 100)))
    rows = np.concatenate(outputs[2:])
    centres = np.array(list(anchors())) * size + rows[:, :2]
    boxes = to_image(np.concatenate([centres - rows[:, 2:4] / 2, centres + rows[:, 2:4] / 2], 1))
    margin, kept = np.abs(scores - SCORE).min(), []
    for i in sorted(np.flatnonzero(scores >= SCORE), key=lambda i: -scores[i]):
        overlaps = [iou(boxes[i], boxes[k]) for k in kept]
        margin = min([margin, *(abs(overlap - IOU) for overlap in overlaps)])
        if all(overlap <= IOU for overlap in overlaps):
            kept.append(i)
    limits = [image.width, image.height] * 2
    return [{"score": round(float(scores[i]), 6), "box": [round(float(v), 3) for v in boxes[i].clip(0, limits)]} for i in kept], margin


def main():
    models = {}
    for name, size in SIZES.items():
        session = onnxruntime.InferenceSession(str(HERE / f"blazeface-{name}.onnx"))
        cases = []
        for photo in PHOTOS:
            found, margin = faces(session, size, Image.open(ROOT / "public/models" / photo).convert("RGB"))
            print(name, photo, f"margin {margin:.4f}", found)
            assert margin > 1e-3, "a decision that rounding could turn"
            cases.append({"photo": photo, "faces": found})
        models[name] = {"size": size, "cases": cases}
    write_json(HERE / "faces.golden.json", {"about": "What BlazeFace finds, made by test/models/blazeface/make.py: ONNX Runtime, then MediaPipe's decoding in float64", "scoreThreshold": SCORE, "iouThreshold": IOU, "models": models})


if __name__ == "__main__":
    main()
