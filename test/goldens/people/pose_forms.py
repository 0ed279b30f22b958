"""What Ultralytics and mmpose make of the outputs of their pose models, on random outputs: their formulas in numpy, float64.

    pip install numpy onnx
    python test/goldens/people/pose_forms.py

Writes  test/goldens/people/pose-forms.json, and test/models/yolo-pose/*.onnx: models that return these outputs, with an exporter's metadata

yolov8: ultralytics 8.3, `LetterBox(auto=False)`, `non_max_suppression` (confidence 0.25, IoU 0.7), `scale_boxes`, `scale_coords`: boxes are clipped to
the photo; points are not, as `construct_result` leaves them for drawing.
simcc: mmpose 1.3, `GetBBoxCenterScale(padding=1.25)`, `TopdownAffine(use_udp=False)`, `get_simcc_maximum`, split ratio 2.
"""

import json
import re
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
MODELS = HERE.parents[1] / "models/yolo-pose"
random = np.random.default_rng(7)


def iou(a, b):
    width, height = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if width <= 0 or height <= 0:
        return 0.0
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return width * height / (area(a) + area(b) - width * height)


def yolo(points=17, size=3, classes=1):
    """Photo 320 × 200 in a tensor of 64 × 64: five people, each proposed three times. A point has x, y and, of size 3, a score."""
    width, height, side = 320, 200, 64
    ratio = min(side / width, side / height)
    left = round((side - round(width * ratio)) / 2 - 0.1)
    top = round((side - round(height * ratio)) / 2 - 0.1)
    rows = []
    for _ in range(5):
        center, extent = random.uniform(14, 50, 2), random.uniform(8, 30, 2)
        own = center + random.normal(0, 8, (points, 2))
        for _ in range(3):
            rows.append(np.concatenate([
                center + random.normal(0, 1, 2), extent, random.uniform(0.1, 0.95, classes),
                np.column_stack([own, *([random.uniform(0, 1, points)] if size == 3 else [])]).reshape(-1)]))
    output = np.array(rows, np.float32).T
    kept = []
    best = lambda row: row[4:4 + classes].max()
    for row in sorted(output.T.astype(np.float64), key=lambda row: -best(row)):
        box = np.concatenate([row[:2] - row[2:4] / 2, row[:2] + row[2:4] / 2])
        kind = row[4:4 + classes].argmax()
        if best(row) > 0.25 and all(iou(box, other) <= 0.7 or kind != own[4:4 + classes].argmax() for other, own in kept):
            kept.append((box, row))
    people = []
    for box, row in kept:
        box = (box - [left, top] * 2) / ratio
        own = row[4 + classes:].reshape(points, size)
        people.append({
            "score": best(row),
            "box": np.clip(box, 0, [width, height] * 2),
            "points": np.column_stack([(own[:, :2] - [left, top]) / ratio, own[:, 2] if size == 3 else np.ones(points)]),
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


def yolo_file(path, output, **metadata):
    """Writes a model that returns `output` for any image, with what ultralytics 8.3's exporter writes in a file: `self.metadata`, each value as Python's text."""
    rows = output.shape[0]
    image = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 64, 64])
    answer = helper.make_tensor_value_info("output0", TensorProto.FLOAT, [1, rows, output.shape[1]])
    graph = helper.make_graph([
        helper.make_node("ReduceMean", ["images"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Mul", ["mean", "zero"], ["nothing"]),
        helper.make_node("Add", ["answer", "nothing"], ["output0"]),
    ], "yolo", [image], [answer], [numpy_helper.from_array(np.float32(0).reshape(1), "zero"), numpy_helper.from_array(output[None], "answer")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
    args = {"batch": 1, "half": False, "dynamic": False, "simplify": True, "opset": None, "nms": False}
    known = {
        "description": "Ultralytics YOLO11n-pose model trained on made-up numbers", "author": "Ultralytics", "date": "2025-09-30T12:00:00.000000", "version": "8.3.203",
        "license": "AGPL-3.0 License (https://ultralytics.com/license)", "docs": "https://docs.ultralytics.com", "stride": 32, "task": "pose", "batch": 1,
        "imgsz": [64, 64], "args": args, "channels": 3} | metadata
    for key, value in known.items():
        model.metadata_props.add(key=key, value=str(value))
    onnx.checker.check_model(model)
    onnx.save(model, path)


if __name__ == "__main__":
    forms = {"yolov8": yolo(), "simcc": simcc(), "yolo4": yolo(4, 2, 2)}
    text = json.dumps(forms, indent=1, default=plain)
    text = re.sub(r"\[[-+\d\s.,e]+\]", lambda m: "[" + " ".join(m.group()[1:-1].split()) + "]", text)
    (HERE / "pose-forms.json").write_text(text + "\n")
    MODELS.mkdir(exist_ok=True)
    yolo_file(MODELS / "people.onnx", forms["yolov8"]["output"].reshape(56, -1), names={0: "person"}, kpt_shape=[17, 3])
    yolo_file(MODELS / "crates.onnx", forms["yolo4"]["output"].reshape(14, -1), names={0: "crate", 1: "barrel"}, kpt_shape=[4, 2])
