"""Makes goldens.json, scene.png and the models of ../../models/detection: published detection heads, decoded here in float64.

    pip install torch torchvision onnx onnxruntime pillow numpy
    nice python test/goldens/detection/make.py

Two kinds of cases. `heads`: seeded tensors as a model of each format gives them, and the objects that they mean, in the pixels of an image
that was stretched, letterboxed or cropped to the model's input. `models`: an image file, through torchvision's transforms and ONNX Runtime, to objects.
The decoders are re-implementations of the published ones, named where they stand; SSD's anchors and boxes are held against torchvision's own.
Nothing is compared that lies within 1e-6 of a threshold.
"""

import base64
import importlib.util
import json
import pathlib
import sys
import types

sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")

import numpy as np
import onnxruntime
import torch
from onnx import TensorProto as T
from onnx import numpy_helper
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def module(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


transforms = module(ROOT / "goldens/transforms/make.py", "transforms_make")
models = module(ROOT / "models/make.py", "models_make")

WIDTH, HEIGHT = 96, 64  # of the input tensor
LABELS = ["cat", "dog", "owl"]
CLASSES = len(LABELS)


# ── Decoders: (boxes [n, 4] x1 y1 x2 y2 in pixels of the tensor, scores [n], classes [n]), the best class of each box ─────────────────────────


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def corners(cx, cy, w, h):
    return np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1)


def best(boxes, scores, first=0):
    return boxes, scores.max(-1), scores.argmax(-1) + first


def torchvision(out, options):
    boxes = out["boxes"].reshape(-1, 4)
    if options.get("format") == "yxyx":
        boxes = boxes[:, [1, 0, 3, 2]]
    if options.get("unit") == "fraction":
        boxes = boxes * [WIDTH, HEIGHT, WIDTH, HEIGHT]
    return boxes, out["scores"].ravel(), out["labels"].ravel().astype(int)


def yolov5(out, options):
    """ultralytics/yolov5 utils/general.py non_max_suppression"""
    x = out["output"][0]
    return best(corners(*x[:, :4].T), x[:, 4:5] * x[:, 5:])


def yolov8(out, options):
    """ultralytics utils/ops.py non_max_suppression"""
    x = out["output"][0]
    x = x.T if x.shape[0] == 4 + CLASSES else x
    scale = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT]) if options.get("unit") == "fraction" else 1
    return best(corners(*(x[:, :4] * scale).T), x[:, 4:])


def grid(strides, offset):
    """Centers and strides of all cells, row by row, in pixels."""
    centers, steps = [], []
    for s in strides:
        ys, xs = np.meshgrid(np.arange(-(-HEIGHT // s)), np.arange(-(-WIDTH // s)), indexing="ij")
        centers.append((np.stack([xs, ys], -1).reshape(-1, 2) + offset) * s)
        steps.append(np.full(xs.size, s))
    return np.concatenate(centers), np.concatenate(steps)


def yolox(out, options):
    """Megvii-BaseDetection/YOLOX yolox/utils/demo_utils.py demo_postprocess"""
    x = out["output"][0]
    centers, s = grid(options.get("strides", [8, 16, 32]), 0)
    return best(corners(x[:, 0] * s + centers[:, 0], x[:, 1] * s + centers[:, 1], np.exp(x[:, 2]) * s, np.exp(x[:, 3]) * s), x[:, 4:5] * x[:, 5:])


def nanodet(out, options):
    """RangiLyu/nanodet nanodet/model/head/nanodet_head.py get_bboxes and module/integral.py"""
    centers, s = grid(options.get("strides", [8, 16, 32]), options.get("centerOffset", 0.5))
    if len(out) == 1:
        scores, sides = np.split(next(iter(out.values()))[0], [CLASSES], -1)
    else:
        by_points = sorted(((k, v[0]) for k, v in out.items()), key=lambda item: -item[1].shape[0])
        scores = np.concatenate([v for k, v in by_points if k.startswith("scores")])
        sides = np.concatenate([v for k, v in by_points if k.startswith("sides")])
    bins = sides.shape[1] // 4
    d = (softmax(sides.reshape(-1, 4, bins)) @ np.arange(bins)) * s[:, None]
    return best(np.concatenate([centers - d[:, :2], centers + d[:, 2:]], -1), scores)


def rows(out, options):
    x = next(iter(out.values()))
    x = x[0] if x.ndim == 3 else x
    columns = options.get("columns", ["x1", "y1", "x2", "y2", "score", "class"])
    c = {name: x[:, i] for i, name in enumerate(columns)}
    if "cx" in c:
        boxes = corners(c["cx"], c["cy"], c["w"], c["h"])
    elif "w" in c:
        boxes = np.stack([c["x1"], c["y1"], c["x1"] + c["w"], c["y1"] + c["h"]], -1)
    else:
        boxes = np.stack([c["x1"], c["y1"], c["x2"], c["y2"]], -1)
    if options.get("unit") == "fraction":
        boxes = boxes * [WIDTH, HEIGHT, WIDTH, HEIGHT]
    return boxes, c["score"], c.get("class", np.zeros(len(x))).astype(int)


def detr(out, options):
    """huggingface/transformers post_process_object_detection of DETR (softmax) and RT-DETR (sigmoid)"""
    logits = out["logits"][0]
    p = sigmoid(logits) if options.get("activation") == "sigmoid" else softmax(logits)[:, :-1]
    return best(corners(*(out["pred_boxes"][0] * [WIDTH, HEIGHT, WIDTH, HEIGHT]).T), p)


def torchvision_anchors(o):
    """torchvision models/detection/anchor_utils.py DefaultBoxGenerator, in fractions, float64"""
    n = len(o["grids"])
    scales = o.get("scales") or [o.get("minRatio", 0.15) + (o.get("maxRatio", 0.9) - o.get("minRatio", 0.15)) * k / (n - 1) for k in range(n)] + [1.0]
    anchors = []
    for k, (rows_, columns) in enumerate(o["grids"]):
        pairs = [[scales[k]] * 2, [(scales[k] * scales[k + 1]) ** 0.5] * 2]
        for ar in o["aspectRatios"][k]:
            pairs += [[scales[k] * ar**0.5, scales[k] / ar**0.5], [scales[k] / ar**0.5, scales[k] * ar**0.5]]
        fx, fy = (WIDTH / o["steps"][k], HEIGHT / o["steps"][k]) if "steps" in o else (columns, rows_)
        anchors += [[(x + 0.5) / fx, (y + 0.5) / fy, *np.clip(wh, 0, 1)] for y in range(rows_) for x in range(columns) for wh in pairs]
    return np.array(anchors)


def tensorflow_anchors(o):
    """tensorflow/models object_detection/anchor_generators/multiple_grid_anchor_generator.py create_ssd_anchors"""
    n = len(o["grids"])
    scales = [0.2 + (0.95 - 0.2) * i / (n - 1) for i in range(n)] + [1.0]
    anchors = []
    for layer, (rows_, columns) in enumerate(o["grids"]):
        specs = [(0.1, 1.0), (scales[0], 2.0), (scales[0], 0.5)] if layer == 0 else [(scales[layer], ar) for ar in [1.0, 2.0, 0.5, 3.0, 0.3333]] + [((scales[layer] * scales[layer + 1]) ** 0.5, 1.0)]
        # base_anchor_size: sizes are in units of the shorter side.
        base_width, base_height = min(WIDTH, HEIGHT) / WIDTH, min(WIDTH, HEIGHT) / HEIGHT
        anchors += [[(x + 0.5) / columns, (y + 0.5) / rows_, s * r**0.5 * base_width, s / r**0.5 * base_height] for y in range(rows_) for x in range(columns) for s, r in specs]
    return np.array(anchors)


def blazeface_anchors(o):
    """google-ai-edge/mediapipe calculators/tflite/ssd_anchors_calculator.cc with fixed_anchor_size"""
    return np.array([[(x + 0.5) / c, (y + 0.5) / r, 1, 1] for (r, c), k in zip(o["grids"], o["perCell"]) for y in range(r) for x in range(c) for _ in range(k)])


def ssd(out, options):
    """torchvision models/detection/_utils.py BoxCoder; TensorFlow's faster_rcnn_box_coder.py; MediaPipe's tensors_to_detections_calculator.cc"""
    how = options["anchors"]
    reg = np.concatenate([v[0] for k, v in out.items() if k.startswith("boxes")])
    logits = np.concatenate([v[0] for k, v in out.items() if k.startswith("scores")])
    if "blazeface" in how:
        a = blazeface_anchors(how["blazeface"])
        return best(corners(a[:, 0] * WIDTH + reg[:, 0], a[:, 1] * HEIGHT + reg[:, 1], reg[:, 2], reg[:, 3]), sigmoid(logits))
    if "file" in how:
        a = np.array(ANCHOR_FILE)
    else:
        a = torchvision_anchors(how["torchvision"]) if "torchvision" in how else tensorflow_anchors(how["tensorflow"])
    tx, ty, tw, th = reg.T if "tensorflow" not in how else reg[:, [1, 0, 3, 2]].T
    v = options.get("variances", [0.1, 0.1, 0.2, 0.2])
    limit = np.log(1000 / 16)
    boxes = corners(
        (a[:, 0] + tx * v[0] * a[:, 2]) * WIDTH,
        (a[:, 1] + ty * v[1] * a[:, 3]) * HEIGHT,
        np.exp(np.minimum(tw * v[2], limit)) * a[:, 2] * WIDTH,
        np.exp(np.minimum(th * v[3], limit)) * a[:, 3] * HEIGHT,
    )
    if "tensorflow" in how:
        return best(boxes, sigmoid(logits)[:, 1:], 1)
    p = softmax(logits)
    return best(boxes, p[:, 1:], 1) if options.get("background", "first") == "first" else best(boxes, p[:, :-1])


ANCHOR_FILE = [[(x + 0.5) / 6, (y + 0.5) / 4, w, h] for y in range(4) for x in range(6) for w, h in [(0.2, 0.3), (0.35, 0.25)]]
DECODERS = dict(torchvision=torchvision, yolov5=yolov5, yolov8=yolov8, yolox=yolox, nanodet=nanodet, rows=rows, detr=detr, ssd=ssd)
IOU = dict(torchvision=1, yolov5=0.45, yolov8=0.7, yolox=0.45, nanodet=0.6, rows=1, detr=1, ssd=0.45)


def check_against_torchvision(how, reg):
    """Our float64 anchors and boxes are torchvision's, but for its float32."""
    from torchvision.models.detection._utils import BoxCoder
    from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
    from torchvision.models.detection.image_list import ImageList

    o = how["torchvision"]
    generator = DefaultBoxGenerator(o["aspectRatios"], scales=o.get("scales"), min_ratio=o.get("minRatio", 0.15), max_ratio=o.get("maxRatio", 0.9), steps=o.get("steps"))
    images = ImageList(torch.zeros(1, 3, HEIGHT, WIDTH), [(HEIGHT, WIDTH)])
    [theirs] = generator(images, [torch.zeros(1, 1, r, c) for r, c in o["grids"]])
    a = torchvision_anchors(o) * [WIDTH, HEIGHT, WIDTH, HEIGHT]
    np.testing.assert_allclose(corners(*a.T), theirs.numpy(), rtol=1e-5, atol=1e-4)
    boxes, *_ = ssd({"boxes": reg[None], "scores": np.zeros((1, len(reg), 4))}, {"anchors": how})
    np.testing.assert_allclose(boxes, BoxCoder((10.0, 10.0, 5.0, 5.0)).decode_single(torch.from_numpy(reg).float(), theirs).numpy(), rtol=1e-4, atol=1e-3)


# ── From boxes in the tensor to objects in the image ──────────────────────────────────────────────────────────────────────────────────────────


def placement(steps, width, height):
    """(scale x, scale y, offset x, offset y): tensor = image · scale + offset, by torchvision's and Ultralytics' arithmetic of sizes."""
    sx = sy = 1.0
    ox = oy = 0.0
    w, h = width, height
    for step in steps:
        name, value = (step, None) if isinstance(step, str) else next(iter(step.items()))
        if name == "resize" and isinstance(value, int):
            new = (value, int(value * h / w)) if w <= h else (int(value * w / h), value)
        elif name == "resize":
            new = (value[1], value[0])
        elif name == "letterbox":
            size = value["size"] if isinstance(value, dict) else value
            r = min(size[0] / h, size[1] / w)
            new = (max(1, round(w * r)), max(1, round(h * r)))
        elif name == "centerCrop":
            ox, oy = ox - round((w - value[1]) / 2), oy - round((h - value[0]) / 2)
            w, h = value[1], value[0]
            continue
        else:
            continue
        sx, sy, ox, oy = sx * new[0] / w, sy * new[1] / h, ox * new[0] / w, oy * new[1] / h
        w, h = new
        if name == "letterbox":
            if not (isinstance(value, dict) and value.get("position") == "top-left"):
                ox, oy = ox + (size[1] - w) // 2, oy + (size[0] - h) // 2
            w, h = size[1], size[0]
    assert (w, h) == (WIDTH, HEIGHT)
    return sx, sy, ox, oy


def iou(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def objects(decoded, steps, width, height, score=0.5, threshold=1.0, most=100):
    """The rules that ObjectDetector states: score ≥ threshold, what lies outside the image out, class-wise greedy NMS (IoU > threshold goes), the best, clipped."""
    boxes, scores, classes = decoded
    sx, sy, ox, oy = placement(steps, width, height)
    assert not np.any((np.abs(scores - score) < 1e-6) & (scores != score)), "a score at the threshold"
    found = []
    for box, s, c in zip(boxes, scores, classes):
        box = np.array([(box[0] - ox) / sx, (box[1] - oy) / sy, (box[2] - ox) / sx, (box[3] - oy) / sy])
        clipped = np.clip(box, 0, [width, height, width, height])
        if s >= score and clipped[2] > clipped[0] and clipped[3] > clipped[1]:
            found.append((float(s), int(c), box, clipped))
    kept = []
    for c in sorted({item[1] for item in found}):
        left = sorted((item for item in found if item[1] == c), key=lambda item: -item[0])
        while left:
            first = left.pop(0)
            kept.append(first)
            overlaps = [iou(first[2], item[2]) for item in left]
            assert threshold == 1 or all(abs(value - threshold) > 1e-6 for value in overlaps), "an IoU at the threshold"
            left = [item for item, value in zip(left, overlaps) if value <= threshold]
    order = {id(item): index for index, item in enumerate(found)}
    kept.sort(key=lambda item: (-item[0], order[id(item)]))
    return [[c, round(s, 7), *[round(float(v), 5) for v in clipped]] for s, c, _, clipped in kept[:most]]


# ── Heads ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

STRETCH = [{"resize": [HEIGHT, WIDTH]}]
LETTERBOX = [{"letterbox": [HEIGHT, WIDTH]}]
TOP_LEFT = [{"letterbox": {"size": [HEIGHT, WIDTH], "position": "top-left"}}]
CROP = [{"resize": 80}, {"centerCrop": [HEIGHT, WIDTH]}]
WAYS = {"stretch": STRETCH, "letterbox": LETTERBOX, "top-left": TOP_LEFT, "crop": CROP}
IMAGES = [(201, 123), (90, 130), (96, 64)]

SSD_TV = {"torchvision": {"grids": [[4, 6], [2, 3]], "aspectRatios": [[2], [2, 3]], "minRatio": 0.2, "maxRatio": 0.6}}
SSD_STEPS = {"torchvision": {"grids": [[4, 6], [2, 3]], "aspectRatios": [[2], [2]], "scales": [0.2, 0.45, 0.8], "steps": [16, 32]}}
SSD_TF = {"tensorflow": {"grids": [[4, 6], [2, 3]]}}
SSD_BLAZE = {"blazeface": {"grids": [[4, 6], [2, 3]], "perCell": [2, 6]}}


def centres_and_sizes(random, n):
    return np.stack([random.uniform(0, WIDTH, n), random.uniform(0, HEIGHT, n), random.uniform(8, 50, n), random.uniform(8, 40, n)], -1)


def probabilities(random, n, classes):
    """Most are low, as a detector's are."""
    return random.beta(0.4, 2, (n, classes))


def make_heads(random):
    """name, decoder, options, outputs"""
    n = 40
    cxcywh = centres_and_sizes(random, n)
    xyxy = corners(*cxcywh.T)
    p = probabilities(random, n, CLASSES)
    fraction = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT])
    yield "torchvision", "torchvision", {}, {"boxes": xyxy, "labels": p.argmax(-1), "scores": p.max(-1)}
    tf = {"boxes": (xyxy / fraction)[None][:, :, [1, 0, 3, 2]], "labels": p.argmax(-1)[None].astype(np.float32), "scores": p.max(-1)[None]}
    yield "TensorFlow's detection API", "torchvision", {"format": "yxyx", "unit": "fraction", "outputs": {"boxes": "boxes", "labels": "labels", "scores": "scores"}}, tf
    yield "yolov5", "yolov5", {}, {"output": np.concatenate([cxcywh, random.beta(1, 1, (n, 1)), probabilities(random, n, CLASSES) ** 0.5], -1)[None]}
    both = np.concatenate([cxcywh, p], -1)
    yield "yolov8", "yolov8", {}, {"output": both.T[None]}
    yield "yolov8, boxes first, fractions", "yolov8", {"unit": "fraction"}, {"output": np.concatenate([cxcywh / fraction, p], -1)[None]}
    cells = 96 + 24 + 6
    raw = lambda n, spread: np.concatenate([random.normal(0.5, 0.6, (n, 2)), random.normal(0.7, spread, (n, 2)), random.beta(1, 1, (n, 1)), probabilities(random, n, CLASSES) ** 0.5], -1)
    yield "yolox", "yolox", {}, {"output": raw(cells, 0.5)[None]}
    yield "yolox, other strides", "yolox", {"strides": [16, 32, 64]}, {"output": raw(24 + 6 + 2, 0.3)[None]}

    def ssd_head(how, anchors, classes, parts=1, keypoints=0, logit=2.0):
        a = anchors(next(iter(how.values()))) if callable(anchors) else np.array(anchors)
        pixel = "blazeface" in how
        reg = random.normal(0, 4, (len(a), 4)) if not pixel else np.concatenate([random.normal(0, 6, (len(a), 2)), random.uniform(10, 40, (len(a), 2)), random.normal(0, 9, (len(a), keypoints))], -1)
        reg, logits = (reg if pixel else reg * [1, 1, 0.5, 0.5])[None], random.normal(-1 if classes == 1 else 0, logit, (1, len(a), classes))
        if parts == 1:
            return {"boxes": reg, "scores": logits}
        cut = len(a) * 3 // 4
        return {"boxes a": reg[:, :cut], "scores a": logits[:, :cut], "boxes b": reg[:, cut:], "scores b": logits[:, cut:]}

    yield "ssd, torchvision", "ssd", {"anchors": SSD_TV}, ssd_head(SSD_TV, torchvision_anchors, CLASSES + 1)
    yield "ssd, torchvision with steps", "ssd", {"anchors": SSD_STEPS}, ssd_head(SSD_STEPS, torchvision_anchors, CLASSES + 1)
    yield "ssd, TensorFlow", "ssd", {"anchors": SSD_TF}, ssd_head(SSD_TF, tensorflow_anchors, CLASSES + 1, logit=1.5)
    yield "ssd, BlazeFace", "ssd", {"anchors": SSD_BLAZE}, ssd_head(SSD_BLAZE, blazeface_anchors, 1, keypoints=12)
    outputs = {"outputs": {"boxes": ["boxes a", "boxes b"], "scores": ["scores a", "scores b"]}}
    yield "ssd, anchors of a file, in parts", "ssd", {"anchors": {"file": "anchors.json"}, "background": "last", "variances": [0.2, 0.1, 0.3, 0.2], **outputs}, ssd_head({"file": 0}, ANCHOR_FILE, CLASSES + 1, 2)
    final = np.concatenate([xyxy, p.max(-1)[:, None], p.argmax(-1)[:, None]], -1)
    yield "rows", "rows", {}, {"output": final[None]}
    columns = ["ignore", "class", "score", "cx", "cy", "w", "h"]
    yield "rows, other columns, no batch axis", "rows", {"columns": columns, "unit": "fraction"}, {"output": np.concatenate([np.zeros((n, 1)), p.argmax(-1)[:, None], p.max(-1)[:, None], cxcywh / fraction], -1)}
    yield "rows, one class", "rows", {"columns": ["score", "x1", "y1", "w", "h"]}, {"output": np.concatenate([p.max(-1)[:, None], xyxy[:, :2], cxcywh[:, 2:]], -1)[None]}
    yield "detr", "detr", {}, {"logits": random.normal(0, 2, (1, n, CLASSES + 1)), "pred_boxes": (cxcywh / fraction)[None]}
    yield "detr, sigmoid", "detr", {"activation": "sigmoid"}, {"pred_boxes": (cxcywh / fraction)[None], "logits": random.normal(-1, 1.5, (1, n, CLASSES))}
    sides = lambda n, bins: random.normal(0, 2, (n, 4 * bins)) - 0.4 * np.tile(np.arange(bins), 4)
    yield "nanodet", "nanodet", {}, {"output": np.concatenate([probabilities(random, cells, CLASSES), sides(cells, 8)], -1)[None]}
    plus = [16, 32, 64]
    yield "nanodet plus", "nanodet", {"strides": plus, "centerOffset": 0}, {"output": np.concatenate([probabilities(random, 32, CLASSES), sides(32, 8)], -1)[None]}
    split = {}
    for points in (24, 96, 6):
        split[f"sides {points}"] = sides(points, 11)[None]
        split[f"scores {points}"] = probabilities(random, points, CLASSES)[None]
    yield "nanodet, six outputs", "nanodet", {}, split


def ties(outputs):
    """Every third box is the one before it once more."""
    def again(x):
        if x.ndim == 3 and x.shape[1] == 4 + CLASSES and x.shape[2] > x.shape[1]:
            return np.ascontiguousarray(again(x.transpose(0, 2, 1)).transpose(0, 2, 1))
        x, axis = x.copy(), 1 if x.ndim == 3 or (x.ndim == 2 and x.shape[0] == 1) else 0
        x = np.moveaxis(x, axis, 0)
        x[2::3] = x[1::3][: len(x[2::3])]
        return np.moveaxis(x, 0, axis)

    return {k: again(v) for k, v in outputs.items()}


def float32(outputs):
    """What a model would give; decoded in float64 from there."""
    return {k: v.astype(np.int64) if k == "labels" and v.dtype != np.float32 else v.astype(np.float32) for k, v in outputs.items()}


def double(outputs):
    return {k: v.astype(np.float64) for k, v in outputs.items()}


def tensor_json(x):
    x = np.ascontiguousarray(x)
    return {"dtype": str(x.dtype), "dims": list(x.shape), "data": base64.b64encode(x.astype(x.dtype.newbyteorder("<")).tobytes()).decode()}


def head_cases():
    """Each head three times: as it comes, with many objects and other params, with ties; the first also with a threshold that nothing reaches."""
    variants = [
        (1, lambda x: x, {"": {}, "none": {"scoreThreshold": 1}}),
        (2, lambda x: x, {"many": {"scoreThreshold": 0.2, "iouThreshold": 0.3, "maxDetections": 12}}),
        (3, ties, {"ties": {"scoreThreshold": 0.3, "iouThreshold": 0.5}}),
    ]
    for seed, change, runs in variants:
        random = np.random.default_rng(seed)
        for index, (name, decoder, options, outputs) in enumerate(make_heads(random)):
            outputs = float32(change(outputs))
            image = IMAGES[(index + seed) % len(IMAGES)]
            decoded = DECODERS[decoder](double(outputs), options)
            case = {"name": f"{name} {seed}", "decoder": {decoder: options}, "image": image, "outputs": {k: tensor_json(v) for k, v in outputs.items()}, "runs": []}
            for run, params in runs.items():
                wanted = dict(score=params.get("scoreThreshold", 0.5), threshold=params.get("iouThreshold", IOU[decoder]), most=params.get("maxDetections", 100))
                expected = {way: objects(decoded, steps, *image, **wanted) for way, steps in WAYS.items() if seed == 1 or way in ("letterbox", "crop")}
                assert (run == "none") == (not expected["letterbox"]), (name, run)
                case["runs"].append({"params": params, "expected": expected})
            yield case


# ── Models ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

node, value = models.node, models.value


def weight(name, array, dtype=np.float32):
    return numpy_helper.from_array(np.ascontiguousarray(array).astype(dtype), name)


class Net:
    """A head of `columns` numbers for each cell of a grid: a 1 × 1 convolution of the image's means over the cell, and a constant."""

    def __init__(self, seed):
        self.random, self.nodes, self.weights, self.inputs = np.random.default_rng(seed), [], [], [value("image", T.FLOAT, [1, 3, HEIGHT, WIDTH])]
        self.pooled = {}

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(node(op, inputs, output, **attributes))
        return output

    def means(self, cell):
        if cell not in self.pooled:
            self.pooled[cell] = self.add("AveragePool", "image", f"means{cell}", kernel_shape=[cell, cell], strides=[cell, cell], pads=[0] * 4)
        return self.pooled[cell]

    def head(self, name, cell, columns, constant, gain, per_cell=1):
        """[1, cells · per_cell, columns]; `constant` has that shape, `gain` how much each column follows the image."""
        self.weights += [
            weight(f"{name}.weight", self.random.normal(0, 1, (per_cell * columns, 3, 1, 1)) * np.tile(gain, per_cell)[:, None, None, None]),
            weight(f"{name}.bias", np.zeros(per_cell * columns)),
            weight(f"{name}.split", [1, per_cell, columns, level_cells(cell)], np.int64),
            weight(f"{name}.shape", [1, -1, columns], np.int64),
            weight(f"{name}.constant", constant),
        ]
        conv = self.add("Conv", f"{self.means(cell)} {name}.weight {name}.bias", f"{name}.conv", kernel_shape=[1, 1], strides=[1, 1], pads=[0] * 4, dilations=[1, 1], group=1)
        # ONNX Runtime's WebGL reshapes wrongly where the last axis becomes another.
        split = self.add("Reshape", f"{conv} {name}.split", f"{name}.parts")
        last = self.add("Transpose", split, f"{name}.last", perm=[0, 3, 1, 2])
        table = self.add("Reshape", f"{last} {name}.shape", f"{name}.table")
        return self.add("Add", f"{table} {name}.constant", f"{name}.out")

    def model(self, name, outputs):
        return models.model(name, self.nodes, self.inputs, [value(n, kind, dims) for n, kind, dims in outputs], self.weights)


def level_cells(cell):
    return (HEIGHT // cell) * (WIDTH // cell)


def cell_boxes(random, cell):
    """A box somewhere around each cell's center."""
    ys, xs = np.meshgrid(np.arange(HEIGHT // cell), np.arange(WIDTH // cell), indexing="ij")
    centers = (np.stack([xs, ys], -1).reshape(-1, 2) + 0.5) * cell
    return np.concatenate([centers, random.uniform(cell, 3 * cell, (len(centers), 2))], -1)[None]


def make_models():
    """name, model, decoder, options, steps"""
    n, s = level_cells(16), 16
    logits = lambda net, count, classes: net.random.normal(-1.2, 1.2, (1, count, classes))

    net = Net(1)
    boxes = net.head("box", 16, 4, cell_boxes(net.random, s), [4, 4, 6, 6])
    net.add("Sigmoid", net.head("class", 16, 1 + CLASSES, logits(net, n, 1 + CLASSES) + 1.2, [3] * 4), "scores")
    net.add("Concat", f"{boxes} scores", "output", axis=2)
    yield "yolov5", net.model("yolov5", [("output", T.FLOAT, [1, n, 5 + CLASSES])]), "yolov5", {}, STRETCH

    net = Net(2)
    boxes = net.head("box", 16, 4, cell_boxes(net.random, s), [4, 4, 6, 6])
    net.add("Sigmoid", net.head("class", 16, CLASSES, logits(net, n, CLASSES), [4] * 3), "scores")
    net.add("Concat", f"{boxes} scores", "both", axis=2)
    net.add("Transpose", "both", "output", perm=[0, 2, 1])
    yield "yolov8", net.model("yolov8", [("output", T.FLOAT, [1, 4 + CLASSES, n])]), "yolov8", {}, LETTERBOX

    net, parts = Net(3), []
    for cell in (8, 16, 32):
        count = level_cells(cell)
        boxes = net.head(f"box{cell}", cell, 4, np.concatenate([net.random.normal(0.5, 0.3, (1, count, 2)), net.random.normal(0.6, 0.3, (1, count, 2))], -1), [0.3] * 4)
        net.add("Sigmoid", net.head(f"class{cell}", cell, 1 + CLASSES, logits(net, count, 1 + CLASSES) + 0.8, [3] * 4), f"scores{cell}")
        parts.append(net.add("Concat", f"{boxes} scores{cell}", f"level{cell}", axis=2))
    net.add("Concat", " ".join(parts), "output", axis=1)
    yield "yolox", net.model("yolox", [("output", T.FLOAT, [1, 126, 5 + CLASSES])]), "yolox", {}, TOP_LEFT

    net, names = Net(4), {"boxes": [], "scores": []}
    shapes = {16: 4, 32: 6}
    for cell, per_cell in shapes.items():
        count = level_cells(cell) * per_cell
        names["boxes"].append(net.head(f"box{cell}", cell, 4, net.random.normal(0, 2, (1, count, 4)), [1] * 4, per_cell))
        names["scores"].append(net.head(f"class{cell}", cell, CLASSES + 1, net.random.normal(0, 1.5, (1, count, CLASSES + 1)) + [2, 0, 0, 0], [2] * 4, per_cell))
    for output, parts in names.items():
        net.add("Concat", " ".join(parts), output, axis=1)
    count = sum(level_cells(cell) * per_cell for cell, per_cell in shapes.items())
    yield "ssd", net.model("ssd", [("boxes", T.FLOAT, [1, count, 4]), ("scores", T.FLOAT, [1, count, CLASSES + 1])]), "ssd", {"anchors": SSD_TV}, CROP

    net = Net(5)
    boxes = net.head("box", 16, 4, np.concatenate([cell_boxes(net.random, s)[..., :2] - 12, cell_boxes(net.random, s)[..., :2] + 14], -1), [5] * 4)
    net.add("Sigmoid", net.head("score", 16, 1, net.random.normal(0, 1.5, (1, n, 1)), [2]), "scores")
    net.weights.append(weight("classes", net.random.integers(0, CLASSES, (1, n, 1))))
    net.add("Concat", f"{boxes} scores classes", "output", axis=2)
    yield "rows", net.model("rows", [("output", T.FLOAT, [1, n, 6])]), "rows", {}, CROP

    net = Net(6)
    net.head("class", 16, CLASSES + 1, net.random.normal(0, 2, (1, n, CLASSES + 1)), [2] * 4)
    net.add("Sigmoid", net.head("box", 16, 4, np.concatenate([net.random.normal(0, 1, (1, n, 2)), net.random.normal(-1, 0.5, (1, n, 2))], -1), [0.5] * 4), "pred_boxes")
    net.add("Identity", "class.out", "logits")
    yield "detr", net.model("detr", [("logits", T.FLOAT, [1, n, CLASSES + 1]), ("pred_boxes", T.FLOAT, [1, n, 4])]), "detr", {}, LETTERBOX

    net, outputs = Net(7), []
    for cell in (16, 32):
        count = level_cells(cell)
        net.add("Identity", net.head(f"side{cell}", cell, 44, net.random.normal(0, 2, (1, count, 44)) - 0.5 * np.tile(np.arange(11), 4), [0.5] * 44), f"sides {cell}".replace(" ", "_"))
        net.add("Sigmoid", net.head(f"class{cell}", cell, CLASSES, logits(net, count, CLASSES) + 0.4, [3] * 3), f"scores_{cell}")
        outputs += [(f"sides_{cell}", T.FLOAT, [1, count, 44]), (f"scores_{cell}", T.FLOAT, [1, count, CLASSES])]
    yield "nanodet", net.model("nanodet", outputs), "nanodet", {"strides": [16, 32]}, STRETCH

    # The boxes of one image, without a batch axis, as torchvision exports them: also the input has none.
    net = Net(8)
    net.inputs = [value("images", T.FLOAT, [3, HEIGHT, WIDTH])]
    net.weights += [weight("axes", [1, 3, HEIGHT, WIDTH], np.int64), weight("flat", [-1, 4], np.int64), weight("table", [-1, CLASSES], np.int64)]
    net.add("Reshape", "images axes", "image")
    boxes = net.head("box", 16, 4, np.concatenate([cell_boxes(net.random, s)[..., :2] - 12, cell_boxes(net.random, s)[..., :2] + 14], -1), [5] * 4)
    net.add("Reshape", f"{boxes} flat", "boxes")
    net.add("Reshape", f"{net.head('class', 16, CLASSES, logits(net, n, CLASSES) + 0.6, [4] * 3)} table", "class")
    net.add("Sigmoid", "class", "probabilities")
    net.add("ArgMax", "probabilities", "labels", axis=1, keepdims=0)
    net.add("ReduceMax", "probabilities", "scores", axes=[1], keepdims=0)
    yield "torchvision", net.model("torchvision", [("boxes", T.FLOAT, [n, 4]), ("labels", T.INT64, [n]), ("scores", T.FLOAT, [n])]), "torchvision", {}, STRETCH


def scene():
    """A picture of 201 × 123 pixels: gradients, rectangles and discs."""
    y, x = np.mgrid[0:123, 0:201]
    image = np.stack([x * 255 / 200, y * 255 / 122, 255 - (x + y) * 255 / 322], -1)
    for cx, cy, r, color in [(50, 40, 22, (250, 30, 20)), (150, 70, 30, (10, 220, 60)), (100, 100, 15, (240, 240, 30))]:
        image[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = color
    for x1, y1, x2, y2, color in [(120, 10, 190, 35, (20, 20, 230)), (10, 80, 60, 115, (0, 0, 0))]:
        image[y1:y2, x1:x2] = color
    return Image.fromarray(image.round().astype(np.uint8))


def model_cases():
    image = scene()
    image.save(HERE / "scene.png", optimize=True)
    for name, made, decoder, options, steps in make_models():
        data = made.SerializeToString()
        assert len(data) < 10_000, (name, len(data))
        (ROOT / f"models/detection/{name}.onnx").write_bytes(data)
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        [feed] = session.get_inputs()
        results = {}
        for way, chosen in WAYS.items() if name == "yolov8" else [("", steps)]:
            tensor = transforms.apply(image, [*chosen, "toTensor"]).numpy()
            names = [o.name for o in session.get_outputs()]
            outputs = dict(zip(names, session.run(names, {feed.name: tensor if len(feed.shape) == 3 else tensor[None]})))
            decoded = DECODERS[decoder](double(outputs), options)
            found = objects(decoded, chosen, *image.size, threshold=IOU[decoder])
            assert 3 <= len(found) <= 60, (name, len(found))
            near = min(abs(decoded[1] - 0.5))
            assert near > 1e-3, (name, way, "a score near the threshold", near)
            yield {"model": name, "decoder": {decoder: options}, "imageProcessing": [*chosen, "toTensor"], "expected": found}
            results[way] = len(found)
        print(f"{name}.onnx: {len(data)} bytes, objects {results}")


if __name__ == "__main__":
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # torchvision's own is compiled for another torch
    for how in (SSD_TV, SSD_STEPS):
        check_against_torchvision(how, np.random.default_rng(0).normal(0, 6, (len(torchvision_anchors(how["torchvision"])), 4)))
    heads, made = list(head_cases()), list(model_cases())
    line = lambda case: json.dumps(case, separators=(",", ":"))
    about = "Made by make.py. `outputs` are base64 of little-endian numbers; an object is [class, score, xmin, ymin, xmax, ymax]."
    text = ",\n".join(map(line, heads)), ",\n".join(map(line, made))
    (HERE / "goldens.json").write_text(
        f'{{"about":{json.dumps(about)},"labels":{json.dumps(LABELS)},"size":[{WIDTH},{HEIGHT}],"ways":{json.dumps(WAYS)},"anchors":{json.dumps(ANCHOR_FILE)},\n"heads":[\n{text[0]}\n],"models":[\n{text[1]}\n]}}\n'
    )
    print(f"{len(heads)} heads, {len(made)} model cases, {(HERE / 'goldens.json').stat().st_size} bytes")
