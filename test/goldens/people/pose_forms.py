"""What Ultralytics and mmpose make of the outputs of their pose models, on random outputs: their formulas in numpy, float64.

    pip install numpy
    python test/goldens/people/pose_forms.py

Writes  test/goldens/people/pose-forms.json

yolov8: ultralytics 8.3, `LetterBox(auto=False)`, `non_max_suppression` (confidence 0.25, IoU 0.7), `scale_boxes`, `scale_coords`: boxes are clipped to
the photo; points are not, as `construct_result` leaves them for drawing.
simcc: mmpose 1.3, `GetBBoxCenterScale(padding=1.25)`, `TopdownAffine(use_udp=False)`, `get_simcc_maximum`, split ratio 2.
"""

import json
import re
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
random = np.random.default_rng(7)


def iou(a, b):
    width, height = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if width <= 0 or height <= 0:
        return 0.0
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return width * height / (area(a) + area(b) - width * height)


def yolo():
    """Photo 320 × 200 in a tensor of 64 × 64: five people, each proposed three times."""
    width, height, side = 320, 200, 64
    ratio = min(side / width, side / height)
    left = round((side - round(width * ratio)) / 2 - 0.1)
    top = round((side - round(height * ratio)) / 2 - 0.1)
    rows = []
    for _ in range(5):
        center, size = random.uniform(14, 50, 2), random.uniform(8, 30, 2)
        points = center + random.normal(0, 8, (17, 2))
        for _ in range(3):
            rows.append(np.concatenate([center + random.normal(0, 1, 2), size, [random.uniform(0.1, 0.95)], np.column_stack([points, random.uniform(0, 1, 17)]).reshape(-1)]))
    output = np.array(rows, np.float32).T
    kept = []
    for row in sorted(output.T.astype(np.float64), key=lambda row: -row[4]):
        box = np.concatenate([row[:2] - row[2:4] / 2, row[:2] + row[2:4] / 2])
        if row[4] > 0.25 and all(iou(box, other) <= 0.7 for other, _ in kept):
            kept.append((box, row))
    people = []
    for box, row in kept:
        box = (box - [left, top] * 2) / ratio
        points = row[5:].reshape(17, 3)
        people.append({
            "score": row[4],
            "box": np.clip(box, 0, [width, height] * 2),
            "points": np.column_stack([(points[:, :2] - [left, top]) / ratio, points[:, 2]]),
        })
    return {"photo": [width, height], "side": side, "output": output.reshape(-1), "people": people}


def simcc():
    """Two boxes in a photo of 300 × 200; crops of 48 × 64."""
    columns, rows, split = 48, 64, 2
    boxes = np.array([[40, 20, 120, 180], [150, 60, 290, 110]], np.float64)
    x = random.uniform(0, 0.9, (2, 17, columns * split)).astype(np.float32)
    y = random.uniform(0, 0.9, (2, 17, rows * split)).astype(np.float32)
    people = []
    for (left, top, right, bottom), own_x, own_y in zip(boxes, x, y):
        center, (width, height) = np.array([left + right, top + bottom]) / 2, np.array([right - left, bottom - top]) * 1.25
        aspect = columns / rows
        scale = np.array([width, width / aspect]) if width > height * aspect else np.array([height * aspect, height])
        places = np.column_stack([own_x.argmax(1), own_y.argmax(1)]) / split
        scores = np.minimum(own_x.max(1), own_y.max(1))
        points = places / [columns, rows] * scale + center - scale / 2
        people.append({"score": scores.mean(), "box": np.concatenate([points.min(0), points.max(0)]), "points": np.column_stack([points, scores])})
    return {"photo": [300, 200], "size": [rows, columns], "boxes": boxes, "x": x.reshape(-1), "y": y.reshape(-1), "people": people}


def plain(value):
    return np.round(value.astype(np.float64), 6).tolist() if isinstance(value, np.ndarray) else round(float(value), 6)


text = json.dumps({"yolov8": yolo(), "simcc": simcc()}, indent=1, default=plain)
text = re.sub(r"\[[-+\d\s.,e]+\]", lambda m: "[" + " ".join(m.group()[1:-1].split()) + "]", text)
(HERE / "pose-forms.json").write_text(text + "\n")
