"""Keyword spotters of openWakeWord's shapes with random weights; its own code answers: `pip install --no-deps openwakeword==0.6.0`."""
import json
import pathlib
import shutil
import tempfile

import numpy as np
import onnx
import torch
from openwakeword.model import Model

from basics import HERE, RATE, sound
from common import answers, spread, strip
from seeded import store

STEP = 1280
# Between a score and the threshold; with less, float32 decides.
MIN_GAP = 1e-3
LABELS = ["1_minute_timer", "5_minute_timer", "stop"]


class Spectrogram(torch.nn.Module):
    """Decibels of 32 filters, one frame each 160 samples, and three less than that."""

    def __init__(self):
        super().__init__()
        self.filters = torch.nn.Conv1d(1, 32, 640, stride=160)

    def forward(self, samples):
        powers = (self.filters(samples[:, None] / 2**15) ** 2).transpose(1, 2)
        return 10 * torch.log10(powers + 1e-4)[:, None]


class Embedding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.reduce = torch.nn.Conv2d(1, 3, (4, 4), stride=(4, 4))
        self.out = torch.nn.Linear(3 * 19 * 8, 96)

    def forward(self, windows):
        hidden = torch.relu(self.reduce(windows.permute(0, 3, 1, 2)))
        return torch.tanh(self.out(hidden.flatten(1)) / 4)[:, None, None]


class Head(torch.nn.Module):
    def __init__(self, keywords):
        super().__init__()
        self.hidden, self.out = torch.nn.Linear(16 * 96, 12), torch.nn.Linear(12, keywords)

    def forward(self, embeddings):
        return torch.sigmoid(self.out(torch.tanh(self.hidden(embeddings.flatten(1)))) * 2)


def write_graph(model, example, given, made, axes, path):
    with tempfile.TemporaryDirectory() as target:
        whole = pathlib.Path(target) / "model.onnx"
        torch.onnx.export(model, example, whole, input_names=[given], output_names=[made], dynamic_axes=axes, opset_version=17, dynamo=False)
        graph = onnx.load(whole)
    strip(graph)
    store(graph, path)


def write(repository, keywords, seed):
    folder = HERE / repository
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "MAR-INF").mkdir(parents=True)
    torch.manual_seed(seed)
    write_graph(spread(Spectrogram(), seed), torch.zeros(1, 1760), "input", "output", {"input": {0: "batch", 1: "samples"}, "output": {0: "batch", 2: "frames"}}, folder / "melspectrogram.onnx")
    write_graph(spread(Embedding(), seed), torch.zeros(1, 76, 32, 1), "input_1", "conv2d_19", {"input_1": {0: "batch"}, "conv2d_19": {0: "batch"}}, folder / "embedding_model.onnx")
    write_graph(spread(Head(keywords), seed), torch.zeros(1, 16, 96), "x.1", "score", {}, folder / "hey_tab.onnx")
    (folder / "MAR-INF/MANIFEST.json").write_text(json.dumps({"model": {
        "modelName": "hey_tab", "serializedFile": "hey_tab.onnx", "handler": "keyword_spotter", "configFile": "model-config.yaml",
        **({"extensions": "index_to_name.json"} if keywords > 1 else {})}}, indent=2) + "\n")
    (folder / "model-config.yaml").write_text("nodes:\n  melspectrogram: melspectrogram.onnx\n  embedding: embedding_model.onnx\n")
    if keywords > 1:
        (folder / "index_to_name.json").write_text(json.dumps(dict(enumerate(LABELS)), indent=2) + "\n")
    return folder


def model_of(folder):
    """openWakeWord begins with the embeddings of random noise: here, of silence."""
    own, np.random.randint = np.random.randint, lambda low, high, size: np.zeros(size, np.int16)
    try:
        model = Model([str(folder / "hey_tab.onnx")], inference_framework="onnx", melspec_model_path=str(folder / "melspectrogram.onnx"), embedding_model_path=str(folder / "embedding_model.onnx"))
    finally:
        np.random.randint = own
    if (folder / "index_to_name.json").exists():
        model.class_mapping["hey_tab"] = {str(id): label for id, label in enumerate(LABELS)}
    return model


def int16(samples):
    return np.clip(np.floor(samples.astype(np.float64) * 2**15 + 0.5), -2**15, 2**15 - 1).astype(np.int16)


def scores_of(folder, samples, **options):
    found = model_of(folder).predict_clip(int16(samples), padding=1, **options)
    return {label: np.array([one[label] for one in found]) for label in found[0]}


def detections_of(scores, threshold, patience, debounce):
    """Steps at which a keyword is heard, by the definitions of openWakeWord's options."""
    found = []
    for label, values in scores.items():
        last = -10**9
        for at in range(len(values)):
            row = values[max(0, at - patience + 1):at + 1]
            if len(row) == patience and (row >= threshold).all() and at - last > debounce:
                last = at
                found.append((at, label, values[at]))
    order = list(scores)
    found.sort(key=lambda one: (one[0], order.index(one[1])))
    return [{"label": label, "time": max(0, (at + 1) * STEP / RATE - 1), "score": score} for at, label, score in found]


def make():
    rows = []
    for repository, keywords in [("spot-keyword", 1), ("spot-keywords", len(LABELS))]:
        for seed in range(200):
            folder = write(repository, keywords, seed)
            scores = scores_of(folder, sound(60_000))
            gap = min(np.abs(values[5:] - threshold).min() for values in scores.values() for threshold in (0.5, 0.3))
            heard = [len(detections_of(scores, 0.5, *rules)) for rules in ((1, 13), (2, 13), (1, 0), (1, 4))]
            if gap > MIN_GAP and heard[1] > 0 and len(set(heard)) > 2:
                break
        else:
            raise SystemExit(f"{repository}: no seed")
        requests = []
        for length, params in [(60_000, {}), (60_000, {"patience": 2}), (60_000, {"debounceTime": 0, "threshold": 0.3}), (30_000, {"debounceTime": 0.3})]:
            scores = scores_of(folder, sound(length))
            threshold, patience, debounce = params.get("threshold", 0.5), params.get("patience", 1), params.get("debounceTime", 1)
            detections = detections_of(scores, threshold, patience, int(np.ceil(debounce / (STEP / RATE))))
            if patience == 1 and debounce > 0:
                # As openWakeWord counts them itself.
                own = scores_of(folder, sound(length), threshold={"hey_tab": threshold}, debounce_time=debounce)
                assert sum((values >= threshold).sum() for values in own.values()) == len(detections), (own, detections)
            requests.append({"input": {"sound": length}, "params": params, "answer": {"detections": detections, "scores": {label: list(map(float, values)) for label, values in scores.items()}}})
        print(repository, seed, gap, [len(one["answer"]["detections"]) for one in requests])
        rows.append({"architecture": "openWakeWord" + (" (several keywords)" if keywords > 1 else ""), "repository": repository, "requests": requests})
    answers("keyword_spotter", rows)
