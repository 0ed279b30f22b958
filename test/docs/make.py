"""Makes the stand-ins of this folder: models with the inputs and outputs of the published ones that docs/model-config.md names, and the same answer to everything.

    pip install onnx tokenizers
    python test/docs/make.py

Names, dims and dtypes are what the published exports have; see the page. Of a table of detections the first row is an object, the others are nothing.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = Path(__file__).resolve().parent


class Graph:
    """A graph that answers with constants, stored small: what repeats is expanded when the model runs."""

    def __init__(self, *inputs):
        self.inputs = [helper.make_tensor_value_info(*info) for info in inputs]
        self.nodes, self.weights, self.outputs = [], [], []

    def const(self, values, dtype=np.float32):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def filled(self, value, dims, dtype=np.float32):
        return self.node("Expand", self.const(value, dtype), self.const(dims, np.int64))

    def table(self, first, dims, axis=1, rest=0.0):
        """[1, …] with `first` at index 0 of `axis`, and `rest` at all others."""
        one, others = list(dims), list(dims)
        one[axis], others[axis] = 1, dims[axis] - 1
        return self.node("Concat", self.const(np.reshape(first, one)), self.filled(rest, others), axis=axis)

    def rows(self, values, source):
        """`values` for each row of the input `source`."""
        batch = self.node("Slice", self.node("Shape", source), self.const([0], np.int64), self.const([1], np.int64))
        return self.node("Expand", values, self.node("Concat", batch, self.const([1], np.int64), axis=0))

    def hot(self, index, count, on, off=0.0):
        return self.node("OneHot", self.const([index], np.int64), self.const(count, np.int64), self.const([off, on]))

    def output(self, name, value, dims, dtype=T.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return self

    def save(self, file, **metadata):
        graph = helper.make_graph(self.nodes, "stand-in", self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        for key, value in metadata.items():
            model.metadata_props.add(key=key, value=str(value))
        onnx.checker.check_model(model)
        onnx.save(model, HERE / file)


def image(name, *dims):
    return (name, T.FLOAT, list(dims))


def classification():
    g = Graph(image("input", "batch", 3, 224, 224))
    g.output("output", g.rows(g.hot(281, 1000, 9), "input"), ["batch", 1000]).save("mobilenet_v3_small.onnx")
    g = Graph(image("input_1", "unk__1", 224, 224, 3))
    g.output("predictions", g.rows(g.hot(281, 1000, 0.9, 0.0001), "input_1"), ["unk__2", 1000]).save("mobilenetv2_keras.onnx")


def features():
    g = Graph(image("input", "batch", 3, 224, 224))
    g.output("features", g.rows(g.const([[3, 4]]), "input"), ["batch", 2]).save("resnet18_features.onnx")


def pictures():
    g = Graph(image("LR", 1, "height", "width", 3))
    twice = g.node("Mul", g.node("Shape", "LR"), g.const([1, 2, 2, 1], np.int64))
    g.output("SR", g.node("Expand", g.const([[[[300, 51, -9]]]]), twice), [1, "height_2", "width_2", 3]).save("esrgan_slim.onnx")


def detection():
    cat = {"coco80": 15, "coco91": 17}
    scores = lambda count, index, value=0.9: np.eye(count)[index] * value

    g = Graph(image("images", 3, "height", "width"))
    g.output("boxes", g.const([[10, 20, 110, 220], [0, 0, 5, 5]]), ["n", 4])
    g.output("labels", g.const([cat["coco91"], 1], np.int64), ["n"], T.INT64)
    g.output("scores", g.const([0.9, 0.1]), ["n"]).save("fasterrcnn.onnx")

    g = Graph(image("images", 1, 3, 640, 640))
    g.output("output0", g.table([320, 320, 100, 50, 0.95, *scores(80, cat["coco80"])], [1, 25200, 85]), [1, 25200, 85]).save("yolov5s.onnx")

    g = Graph(image("images", 1, 3, 640, 640))
    g.output("output0", g.table([320, 320, 100, 50, *scores(80, cat["coco80"])], [1, 84, 8400], axis=2), [1, 84, 8400])
    names = {index: "cat" if index == cat["coco80"] else f"class {index}" for index in range(80)}
    g.save("yolov8n.onnx", task="detect", names=names)

    g = Graph(image("images", 1, 3, 640, 640))
    g.output("output0", g.table([270, 295, 370, 345, 0.9, cat["coco80"]], [1, 300, 6]), [1, 300, 6]).save("yolov10n.onnx")

    # Cell 0 of stride 8, moved to the middle: (26 + 0) · 8 = 208; exp(ln 12.5) · 8 = 100.
    g = Graph(image("images", 1, 3, 416, 416))
    g.output("output", g.table([26, 13, np.log(12.5), np.log(6.25), 0.95, *scores(80, cat["coco80"])], [1, 3549, 85]), [1, 3549, 85]).save("yolox_nano.onnx")

    # Anchor 0 of 16 pixels, moved to the middle by 9.5 of its sides, which the variance divides.
    g = Graph(image("images", 1, 3, 320, 320))
    g.output("bbox_regression", g.table([30, 15, 0, 0], [1, 3234, 4]), [1, 3234, 4])
    g.output("cls_logits", g.table(scores(91, cat["coco91"], 9), [1, 3234, 91]), [1, 3234, 91]).save("ssdlite320_heads.onnx")

    g = Graph(image("image", 1, 3, 800, 800))
    g.output("pred_logits", g.table(scores(92, cat["coco91"], 9), [1, 100, 92]), [1, 100, 92])
    g.output("pred_boxes", g.table([0.5, 0.5, 0.25, 0.25], [1, 100, 4]), [1, 100, 4]).save("detr_resnet50.onnx")

    g = Graph(image("pixel_values", "batch_size", 3, 640, 640))
    g.output("logits", g.table(scores(80, cat["coco80"], 18) - 9, [1, 300, 80], rest=-9.0), ["batch_size", 300, 80])
    g.output("pred_boxes", g.table([0.5, 0.5, 0.25, 0.25], [1, 300, 4]), ["batch_size", 300, 4]).save("rtdetr_r50vd.onnx")

    # The last bin of each side: 7 · 8 = 56 pixels from point 0, cut off at the image.
    g = Graph(image("data", 1, 3, 416, 416))
    g.output("output", g.table([*scores(80, cat["coco80"]), *np.tile(np.eye(8)[7] * 30, 4)], [1, 3598, 112]), [1, 3598, 112]).save("nanodet_plus_m_416.onnx")


def segmentation():
    person = 15
    g = Graph(image("input", 1, 3, 520, 520))
    g.output("out", g.node("Expand", g.const(np.eye(21)[person].reshape(1, 21, 1, 1) * 9), g.const([1, 21, 520, 520], np.int64)), [1, 21, 520, 520])
    g.save("deeplabv3_mobilenet_v3_large.onnx")

    g = Graph(image("input", 1, 3, 520, 520))
    g.output("classes", g.filled(person, [1, 520, 520], np.int64), [1, 520, 520], T.INT64).save("deeplabv3_argmax.onnx")

    g = Graph(image("input.1", 1, 3, 320, 320))
    for name in range(1959, 1966):
        g.output(str(name), g.filled(0.9, [1, 1, 320, 320]), [1, 1, 320, 320])
    g.save("u2net.onnx")

    g = Graph(image("x", 1, 3, 144, 256))
    maps = g.node("Expand", g.const([[[[0.1]], [[0.9]]]]), g.const([1, 2, 144, 256], np.int64))
    g.output("softmax_0.tmp_0", maps, [1, 2, 144, 256]).save("pp_humansegv2_lite.onnx")


def text():
    ids = lambda *names: [(name, T.INT64, ["batch_size", "sequence_length"]) for name in names]
    three = ("input_ids", "attention_mask", "token_type_ids")
    for file, inputs, logits in [
        ("distilbert_sst2.onnx", three[:2], [-2, 2]),
        ("toxic_bert.onnx", three, [3, -3, 2, -3, -3, -3]),
        ("bert_mnli.onnx", three, [2, 0, -2]),
    ]:
        g = Graph(*ids(*inputs))
        g.output("logits", g.rows(g.const([logits]), "input_ids"), ["batch_size", len(logits)]).save(file)
    g = Graph(*ids(*three))
    length = g.node("Shape", "input_ids")
    g.output("last_hidden_state", g.node("Expand", g.const([[[3, 4]]]), g.node("Concat", length, g.const([1], np.int64), axis=0)), ["batch_size", "sequence_length", 2]).save("all_minilm.onnx")
    g = Graph(("text", T.INT64, ["tokens"]), ("offsets", T.INT64, ["batch"]))
    g.output("output", g.rows(g.const([[0, 3, 0, 0]]), "offsets"), ["batch", 4]).save("ag_news.onnx")

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "good", "bad", "film", "un", "##good"]
    tokenizer = Tokenizer(models.WordPiece({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.save(str(HERE / "tokenizer.json"), pretty=False)


if __name__ == "__main__":
    classification()
    features()
    pictures()
    detection()
    segmentation()
    text()
