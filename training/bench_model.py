"""The benchmark's model: nsfwjs's MobileNetV2 of middle size, taken out of its npm package, and converted to ONNX as transformers.js takes a model.

    npm pack nsfwjs@4.3.0 && tar xzf nsfwjs-4.3.0.tgz       # 41 MB unpacked: no dependency of the project
    npm install
    pip install torch torchvision pillow onnx onnxruntime
    python training/bench_model.py package

Writes  bench/model/onnx/model.onnx                               NCHW, a batch of any size, logits
        bench/model/{config.json,preprocessor_config.json}

The kernels stay the 8-bit integers that they are, and ONNX Runtime makes float32 of them when it opens the model. Its answers to the samples, in one batch, are
checked against tfjs_graph.py's in float64: they must be about as near as PyTorch in float32 is.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from PIL import Image

from common import ROOT, write_json
from human_models import stretched
from moderation import LABELS, MODEL, PHOTOS, SAMPLES, SIDE, save, unpack
from tfjs_graph import Graph, key
from tfjs_onnx import Converter

BENCH = ROOT / "bench/model"
LOGITS = "StatefulPartitionedCall/sequential/dense/BiasAdd"


def convert(path):
    graph = Graph(path)
    weights = [weight for group in json.loads(path.read_text())["weightsManifest"] for weight in group["weights"]]
    quantizations = {weight["name"]: (weight["quantization"]["scale"], weight["quantization"]["min"]) for weight in weights}
    converter = Converter(graph, graph.trace(np.zeros((1, SIDE, SIDE, 3)), fetch=[LOGITS]), quantizations=quantizations)
    converter.names = {key("input"): {"nchw": "pixel_values"}}
    inputs, outputs = {"pixel_values": ["batch", 3, SIDE, SIDE]}, {LOGITS: ("logits", ["batch", len(LABELS)])}
    return converter.model("mobilenet_v2_mid", inputs, outputs, "training/bench_model.py")


def multiply_adds(model):
    """Of one image, in convolutions and dense layers: for each number that comes out, as many as its kernel has weights."""
    graph = onnx.shape_inference.infer_shapes(onnx.load_from_string(model)).graph
    dims = {info.name: [dim.dim_value for dim in info.type.tensor_type.shape.dim] for info in [*graph.value_info, *graph.output]}
    return sum(int(np.prod(dims[node.output[0]][1:]) * np.prod(dims[node.input[1]][1:])) for node in graph.node if node.op_type in ("Conv", "Gemm"))


def write_configs():
    write_json(BENCH / "config.json", {
        "model_type": "mobilenet_v2",
        "architectures": ["MobileNetV2ForImageClassification"],
        "num_labels": len(LABELS),
        "id2label": {str(i): label for i, label in enumerate(LABELS)},
        "label2id": {label: i for i, label in enumerate(LABELS)},
    })
    write_json(BENCH / "preprocessor_config.json", {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "size": {"height": SIDE, "width": SIDE},
        "resample": 2,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": False,
    })


def main():
    options = argparse.ArgumentParser()
    options.add_argument("package", type=Path, help="nsfwjs, unpacked")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        unpack(options.package, "mobilenet_v2_mid", Path(folder))
        path = Path(folder) / MODEL.name
        model, exact, rounded = convert(path), Graph(path), Graph(path, torch.float32)
    session = save(BENCH / "onnx/model.onnx", model)
    write_configs()
    print(f"{multiply_adds(model)} multiply-adds")

    images = np.concatenate([stretched(Image.open(PHOTOS / sample).convert("RGB"), SIDE, SIDE).numpy() for sample in SAMPLES])
    logits, probabilities = LOGITS, exact.outputs[0]
    expected, floats = (graph(images, fetch=[logits, probabilities]) for graph in (exact, rounded))
    answers = torch.from_numpy(session.run(None, {"pixel_values": images.transpose(0, 3, 1, 2)})[0])
    for name, onnx_answers in ((logits, answers), (probabilities, answers.softmax(-1))):
        difference, rounding = (float((got - expected[name]).abs().max()) for got in (onnx_answers, floats[name]))
        print(f"{name}: largest difference {difference:.1e}, PyTorch's in float32 {rounding:.1e}")
        assert difference < 1e-6 + 2 * rounding
    for sample, row in zip(SAMPLES, expected[probabilities]):
        print(sample, dict(zip(LABELS, row.numpy().round(4).tolist())))


if __name__ == "__main__":
    main()
