"""Makes the archives of this folder, each with its model in both formats, and their expected features.

    pip install torch onnx onnxruntime numpy tokenizers pillow
    python test/models/features/make.py

Reads   test/models/text/word-piece/tokenizer.json, test/goldens/segmenter/*.png
Writes  text/   a vector for each token (`tokens`), and for each text (`texts`)
        image/  maps NCHW or NHWC
        goldens.json  features by ONNX Runtime, pooled and normalized by PyTorch
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from PIL import Image
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent / "tfjs"), str(ROOT / "training")]
import importlib.util  # noqa: E402

spec = importlib.util.spec_from_file_location("tfjs", HERE.parent / "tfjs/make.py")
tfjs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tfjs)
from common import write_json  # noqa: E402

TEXTS = ["Hello, world!", "The quick brown fox jumps over the lazy dog.", "a", "Straße, GROẞ, weiß"]
IMAGE = "test/goldens/segmenter/16x12.png"
POOLINGS = ("mean", "cls", "last-token")


def archive(folder, handler, config, extensions, graph, tf_graph, **files):
    (HERE / folder / "MAR-INF").mkdir(parents=True, exist_ok=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=7)
    onnx.checker.check_model(model)
    onnx.save(model, HERE / folder / "model.onnx")
    tfjs.save(HERE / folder, "model", tf_graph)
    manifest = {"modelName": folder, "serializedFile": "model.onnx", "handler": handler, "configFile": "model-config.yaml"}
    manifest |= {"extensions": extensions} if extensions else {}
    write_json(HERE / folder / "MAR-INF/MANIFEST.json", {"createdOn": "2026-11-22T00:00:00Z", "runtime": "tabserve", "archiverVersion": "1.0", "model": manifest})
    (HERE / folder / "tabserve.json").write_text('{ "models": { "onnx": "model.onnx", "tfjs": "model.json" } }\n')
    (HERE / folder / "model-config.yaml").write_text(config)
    return onnxruntime.InferenceSession(str(HERE / folder / "model.onnx"))


def text():
    """Embeddings of ids and a linear layer: `tokens`. Their sum over all positions, padding included: `texts`."""
    shutil.copy(ROOT / "test/models/text/word-piece/tokenizer.json", (HERE / "text").mkdir(parents=True, exist_ok=True) or HERE / "text/tokenizer.json")
    tokenizer = Tokenizer.from_file(str(HERE / "text/tokenizer.json"))
    weights = {"words": tfjs.weight([tokenizer.get_vocab_size(), 8], 11), "mix": tfjs.weight([8, 6], 12)}
    dims = ["batch", "length"]
    inputs = [helper.make_tensor_value_info(name, T.INT64, dims) for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("tokens", T.FLOAT, [*dims, 6]), helper.make_tensor_value_info("texts", T.FLOAT, ["batch", 6])]
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["embeddings"]),
        helper.make_node("MatMul", ["embeddings", "mix"], ["mixed"]),
        helper.make_node("Tanh", ["mixed"], ["tokens"]),
        helper.make_node("Cast", ["attention_mask"], ["flags"], to=T.FLOAT),
        helper.make_node("Unsqueeze", ["flags"], ["mask"], axes=[2]),
        helper.make_node("Mul", ["tokens", "mask"], ["masked"]),
        helper.make_node("ReduceSum", ["masked"], ["texts"], axes=[1], keepdims=0),
    ]
    graph = helper.make_graph(nodes, "features", inputs, outputs, [numpy_helper.from_array(value, name) for name, value in weights.items()])
    node, F, I, L = tfjs.node, tfjs.F, tfjs.I, tfjs.L
    tf_nodes = [
        node("GatherV2", "embeddings", "words input_ids rows", Tparams=F, Tindices=L, Taxis=I, batch_dims={"i": "0"}),
        node("BatchMatMulV2", "mixed", "embeddings mix", T=F, adj_x={"b": False}, adj_y={"b": False}),
        node("Tanh", "tokens", "mixed", T=F),
        node("Cast", "flags", "attention_mask", SrcT=L, DstT=F),
        node("ExpandDims", "mask", "flags last", T=F, Tdim=I),
        node("Mul", "masked", "tokens mask", T=F),
        node("Sum", "texts", "masked one", T=F, Tidx=I, keep_dims={"b": False}),
    ]
    axes = {"rows": np.array(0, np.int32), "one": np.array(1, np.int32), "last": np.array(2, np.int32)}
    tf_outputs = {"tokens": ("float32", [-1, -1, 6]), "texts": ("float32", [-1, 6])}
    tf_graph = tfjs.Graph({name: ("int64", [-1, -1]) for name in ("input_ids", "attention_mask")}, tf_nodes, tf_outputs, {**weights, **axes})
    session = archive("text", "text_feature_extractor", "handler:\n  outputName: tokens\n", "tokenizer.json", graph, tf_graph)

    tokenizer.no_truncation()
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    encodings = tokenizer.encode_batch(TEXTS)
    feeds = {"input_ids": np.array([e.ids for e in encodings]), "attention_mask": np.array([e.attention_mask for e in encodings])}
    tokens, texts = (torch.from_numpy(value) for value in session.run(["tokens", "texts"], feeds))
    mask = torch.from_numpy(feeds["attention_mask"])[:, :, None].float()
    lengths = mask.sum(1)
    last = (lengths[:, 0] - 1).long()
    pooled = {"mean": (tokens * mask).sum(1) / lengths, "cls": tokens[:, 0], "last-token": tokens[torch.arange(len(TEXTS)), last]}
    return {"inputs": TEXTS, **both(pooled), "texts": texts.tolist()}


def both(pooled):
    unit = lambda value: torch.nn.functional.normalize(value, dim=1)
    return {"raw": {name: value.tolist() for name, value in pooled.items()}, "unit": {name: unit(value).tolist() for name, value in pooled.items()}}


def image():
    """A convolution with stride 4: six maps, or twelve positions."""
    weight = tfjs.weight([6, 3, 4, 4], 21)
    inputs = [helper.make_tensor_value_info("x", T.FLOAT, [1, 3, 12, 16])]
    outputs = [helper.make_tensor_value_info("maps", T.FLOAT, [1, 6, 3, 4]), helper.make_tensor_value_info("positions", T.FLOAT, [1, 12, 6])]
    nodes = [
        helper.make_node("Conv", ["x", "weight"], ["maps"], strides=[4, 4]),
        helper.make_node("Transpose", ["maps"], ["last"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["last", "dims"], ["positions"]),
    ]
    initializers = [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(np.array([1, 12, 6], np.int64), "dims")]
    graph = helper.make_graph(nodes, "features", inputs, outputs, initializers)
    node, F, I = tfjs.node, tfjs.F, tfjs.I
    conv = {"T": F, "strides": tfjs.ints([1, 4, 4, 1]), "dilations": tfjs.ints([1, 1, 1, 1]), "padding": tfjs.text("VALID"), "data_format": tfjs.text("NHWC")}
    tf_nodes = [
        node("Transpose", "pixels", "x order", T=F, Tperm=I),
        node("Conv2D", "last", "pixels weight", **conv),
        node("Transpose", "maps", "last back", T=F, Tperm=I),
        node("Reshape", "positions", "last dims", T=F, Tshape=I),
    ]
    constants = {"weight": weight.transpose(2, 3, 1, 0), "order": np.array([0, 2, 3, 1], np.int32), "back": np.array([0, 3, 1, 2], np.int32), "dims": np.array([1, 12, 6], np.int32)}
    tf_outputs = {"maps": ("float32", [1, 6, 3, 4]), "positions": ("float32", [1, 12, 6])}
    tf_graph = tfjs.Graph({"x": ("float32", [1, 3, 12, 16])}, tf_nodes, tf_outputs, constants)
    config = "handler:\n  outputName: maps\n  imageProcessing:\n    - toTensor\n"
    session = archive("image", "image_feature_extractor", config, None, graph, tf_graph)

    pixels = np.asarray(Image.open(ROOT / IMAGE).convert("RGB"), np.float32) / 255
    maps, positions = (torch.from_numpy(value) for value in session.run(["maps", "positions"], {"x": pixels.transpose(2, 0, 1)[None]}))
    pooled = {"maps": maps.mean((2, 3)), "mean": positions.mean(1), "cls": positions[:, 0]}
    return {"input": IMAGE, **both(pooled)}


if __name__ == "__main__":
    write_json(HERE / "goldens.json", {"versions": {"onnxruntime": onnxruntime.__version__, "torch": torch.__version__}, "text": text(), "image": image()})
