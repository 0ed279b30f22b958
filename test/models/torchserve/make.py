"""Makes four archives and goldens.json: what TorchServe's own handlers answer with the same models, over the same bytes.

    pip install torch torchvision onnx pillow pyyaml packaging
    git clone https://github.com/pytorch/serve    # 62c4d6a
    python test/models/torchserve/make.py --serve serve

The models are tiny, and their weights are random numbers. Each is saved twice: as TorchScript, which TorchServe's handlers load with `initialize`, and as ONNX for
TabServe's archives. An answer is what TorchServe's frontend sends for the row: `handler.handle([{"body": bytes}], context)[0]`.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import types
from pathlib import Path
from typing import Dict, List

os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # TorchServe loads the vocabulary as a pickled object.

# Beside a PyTorch of another version torchvision has no operators; nothing here needs them. TorchServe's handlers import captum for explanations only.
sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")
sys.modules["captum"], sys.modules["captum.attr"] = types.ModuleType("captum"), types.ModuleType("captum.attr")
for unused in ("IntegratedGradients", "LayerIntegratedGradients", "TokenReferenceBase"):
    setattr(sys.modules["captum.attr"], unused, lambda *_: None)

import torch
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
LABELS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]
PHOTOS = ["public/models/nanodet/samples/cat.jpg", "public/models/nanodet/samples/coffee.jpg", "test/goldens/images/rgb.webp"]
TEXTS = [
    "The <b>World</b> Cup &amp; more: Brazil won't play, they've said.",
    "Crème brûlée & naïve café: stocks rise; it's 5 o'clock.",
    "MIXED Case, unknown words and one.two,three!",
]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.head = nn.AvgPool2d(16), nn.Linear(3 * 14 * 14, len(LABELS))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.pool(x).flatten(1)) * 3


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.head = nn.AvgPool2d(32), nn.Conv2d(3, 5, 1)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        return {"out": self.head(self.pool(x)) * 3}


class Boxes(nn.Module):
    """What a detector finds in one image: boxes in its pixels, by score."""

    def __init__(self):
        super().__init__()
        self.boxes, self.scores = nn.Linear(12, 6 * 4), nn.Linear(12, 6)

    def forward(self, image: Tensor) -> Dict[str, Tensor]:
        size = torch.ones_like(image[0]).sum(0)
        height, width = size[0], torch.ones_like(image[0]).sum(1)[0]
        few = image[:, ::16, ::16]  # Over many pixels, engines round sums in different ways.
        features = torch.cat([few.mean((1, 2)), few.amax((1, 2)), few.amin((1, 2)), (few * few).mean((1, 2))])
        scores, order = torch.sort(torch.sigmoid(self.scores(features) * 3 + 1), descending=True)
        sides = torch.sigmoid(self.boxes(features).reshape(6, 4))[order]
        x, y = sides[:, 0] * width / 2, sides[:, 1] * height / 2
        boxes = torch.stack([x, y, x + sides[:, 2] * width / 2, y + sides[:, 3] * height / 2], 1)
        return {"boxes": boxes, "labels": order + 1, "scores": scores}


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.each = Boxes()

    def forward(self, images: Tensor) -> List[Dict[str, Tensor]]:
        found: List[Dict[str, Tensor]] = []
        for index in range(images.shape[0]):
            found.append(self.each(images[index]))
        return found


class Bag(nn.Module):
    def __init__(self, words: int):
        super().__init__()
        self.embedding, self.head = nn.EmbeddingBag(words, 8), nn.Linear(8, 4)

    def forward(self, text: Tensor, offsets: Tensor) -> Tensor:
        return self.head(self.embedding(text, offsets)) * 3


class Values(nn.Module):
    """A model whose answer is a dict, as a list: what an ONNX file can have."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x: Tensor):
        return tuple(self.model(x).values())


class Vocabulary(dict):
    """torchtext's: a word that is not known has the index of <unk>."""

    def __missing__(self, word):
        return self["<unk>"]


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def archive(name, extras):
    model = {"modelName": name, "serializedFile": "model.onnx", "handler": name, "configFile": "model-config.yaml", "extensions": ",".join(extras)}
    write_json(HERE / name / "MAR-INF/MANIFEST.json", {"createdOn": "2026-11-22T00:00:00Z", "runtime": "tabserve", "archiverVersion": "1.0", "model": model})
    for file, content in extras.items():
        write_json(HERE / name / file, content)
    config = {"object_detector": "handler:\n  decoder: torchvision\n", "text_classifier": "handler:\n  tokenizer: torchserve\n"}
    (HERE / name / "model-config.yaml").write_text(config.get(name, "{}\n"))


def export(name, model, feeds, outputs, dynamic):
    """As ONNX, and as TorchScript beside TorchServe's labels in a folder that is returned."""
    archive_of_torchserve = Path(tempfile.mkdtemp())
    torch.jit.script(model.eval()).save(str(archive_of_torchserve / "model.pt"))
    shutil.copy(HERE / name / "index_to_name.json", archive_of_torchserve)
    single = {"image_segmenter": lambda: Values(model), "object_detector": lambda: Values(model.each)}.get(name, lambda: model)()
    options = {"input_names": list(feeds), "output_names": outputs, "dynamic_axes": dynamic, "opset_version": 17, "dynamo": False}
    torch.onnx.export(single.eval(), tuple(feeds.values()), str(HERE / name / "model.onnx"), **options)
    return archive_of_torchserve


def answers(name, folder, bodies):
    from ts.context import Context, RequestProcessor
    from ts.torch_handler.image_classifier import ImageClassifier
    from ts.torch_handler.image_segmenter import ImageSegmenter
    from ts.torch_handler.object_detector import ObjectDetector
    from ts.torch_handler.text_classifier import TextClassifier

    classes = {"image_classifier": ImageClassifier, "image_segmenter": ImageSegmenter, "object_detector": ObjectDetector, "text_classifier": TextClassifier}

    class NoMetrics:
        def add_time(self, *_, **__):
            pass

    handler = classes[name]()
    manifest = {"model": {"modelName": name, "serializedFile": "model.pt"}}
    context = Context(name, str(folder), manifest, 1, None, "0.12.0", metrics=NoMetrics(), model_yaml_config={})
    context.request_processor = [RequestProcessor({})]
    handler.initialize(context)
    return [handler.handle([{"body": bytearray(body)}], context)[0] for body in bodies]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", type=Path, required=True, help="a checkout of pytorch/serve")
    options = parser.parse_args()
    sys.path.insert(0, str(options.serve))
    from ts.handler_utils.text_utils import get_tokenizer

    photos = [(ROOT / path).read_bytes() for path in PHOTOS]
    names = {str(index): label for index, label in enumerate(LABELS)}
    image = torch.zeros(1, 3, 224, 224)
    goldens = {}

    torch.manual_seed(20261122)
    archive("image_classifier", {"index_to_name.json": {key: ["n0" + key, label] for key, label in names.items()}})
    folder = export("image_classifier", Classifier(), {"x": image}, ["logits"], {"x": {0: "batch"}, "logits": {0: "batch"}})
    goldens["image_classifier"] = [{"file": file, "answer": answer} for file, answer in zip(PHOTOS, answers("image_classifier", folder, photos))]

    archive("image_segmenter", {"index_to_name.json": {key: names[key] for key in list(names)[:5]}})
    folder = export("image_segmenter", Segmenter(), {"x": image}, ["out"], {"x": {0: "batch"}, "out": {0: "batch"}})
    goldens["image_segmenter"] = [{"file": file, "answer": answer} for file, answer in zip(PHOTOS, answers("image_segmenter", folder, photos))]

    archive("object_detector", {"index_to_name.json": names})
    folder = export("object_detector", Detector(), {"image": torch.rand(3, 40, 60)}, ["boxes", "labels", "scores"], {"image": {1: "height", 2: "width"}})
    goldens["object_detector"] = [{"file": file, "answer": answer} for file, answer in zip(PHOTOS, answers("object_detector", folder, photos))]

    words = get_tokenizer("basic_english")("the world cup more brazil will not play they have said creme brulee naive cafe stocks rise it is 5 oclock mixed case and")
    pairs = ["world cup", "will not", "creme brulee"]
    vocabulary = Vocabulary({word: index for index, word in enumerate(["<unk>", *dict.fromkeys([*words, *pairs])])})
    archive("text_classifier", {"index_to_name.json": dict(zip("0123", ["World", "Sports", "Business", "Sci/Tech"])), "source_vocab.json": vocabulary})
    feeds = {"text": torch.tensor([1, 2, 3]), "offsets": torch.tensor([0])}
    folder = export("text_classifier", Bag(len(vocabulary)), feeds, ["logits"], {"text": {0: "tokens"}, "offsets": {0: "batch"}, "logits": {0: "batch"}})
    torch.save(vocabulary, folder / "source_vocab.pt")
    goldens["text_classifier"] = [{"text": text, "answer": answer} for text, answer in zip(TEXTS, answers("text_classifier", folder, [text.encode() for text in TEXTS]))]

    write_json(HERE / "goldens.json", goldens)


if __name__ == "__main__":
    main()
