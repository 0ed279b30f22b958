"""Writes the language classifier as a TensorFlow.js graph model: the weights of languages.onnx.

    .venv/bin/python training/languages_tfjs.py    # after training/languages.py, with what that one needs

Reads   public/models/languages/   languages.onnx, tokenizer.json, and the texts of training/languages.sentences.json
Writes  public/models/languages/   model.json, languages.bin

Batch and length stay dynamic, and no shape is computed: heads are split, not reshaped, and a token's position is a sum over the tokens before it.
Before it ends it runs what it has written with `tfjs_graph.py`, which shares no code with TensorFlow.js, and holds the answers against those of ONNX Runtime.
"""

import json

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from tokenizers import Tokenizer

from common import ROOT
from tfjs_graph import Graph
from tfjs_writer import Writer

ARCHIVE = ROOT / "public/models/languages"
HEADS, LAYERS, EPSILON = 4, 2, 1e-5
TOLERANCE = 1e-5

INT64, INT32 = {"type": "DT_INT64"}, {"type": "DT_INT32"}


class Transformer(Writer):
    def __init__(self, weights):
        super().__init__()
        self.source = weights
        self.axes = {axis: self.constant(f"axis{axis}", np.int32(axis)) for axis in (0, 1, 2)}

    def linear(self, name, x):
        """[batch, length, width]; the weights have a batch of one."""
        y = self.add(f"{name}/product", "BatchMatMulV2", x, self.constant(f"{name}/kernel", self.source[f"{name}.weight"][None]), adj_x={"b": False}, adj_y={"b": False})
        bias = self.source.get(f"{name}.bias")
        return y if bias is None else self.add(name, "AddV2", y, self.constant(f"{name}/bias", bias))

    def reduce(self, name, op, x, axis, keep=True):
        return self.add(name, op, x, self.axes[axis], Tidx=INT32, keep_dims={"b": keep})

    def norm(self, name, x):
        mean = self.reduce(f"{name}/mean", "Mean", x, 2)
        variance = self.reduce(f"{name}/variance", "Mean", self.add(f"{name}/squares", "SquaredDifference", x, mean), 2)
        scale = self.add(f"{name}/rsqrt", "Rsqrt", self.add(f"{name}/epsilon", "AddV2", variance, self.constant(f"{name}/small", np.float32(EPSILON))))
        y = self.add(f"{name}/scaled", "Mul", self.add(f"{name}/centered", "Sub", x, mean), scale)
        y = self.add(f"{name}/weighted", "Mul", y, self.constant(f"{name}/weight", self.source[f"{name}.weight"]))
        return self.add(name, "AddV2", y, self.constant(f"{name}/bias", self.source[f"{name}.bias"]))

    def attention(self, name, x, mask, scale):
        qkv = self.linear(f"{name}.qkv", self.norm(f"{name}.before", x))
        self.add(f"{name}/heads", "Split", self.axes[2], qkv, num_split={"i": str(3 * HEADS)})
        parts = [f"{name}/heads:{i}" if i else f"{name}/heads" for i in range(3 * HEADS)]
        answers = []
        for head, (q, k, v) in enumerate(zip(parts[:HEADS], parts[HEADS : 2 * HEADS], parts[2 * HEADS :])):
            at = f"{name}/head{head}"
            scores = self.add(f"{at}/scaled", "Mul", self.add(f"{at}/scores", "BatchMatMulV2", q, k, adj_x={"b": False}, adj_y={"b": True}), scale)
            weights = self.add(f"{at}/weights", "Softmax", self.add(f"{at}/masked", "AddV2", scores, mask))
            answers.append(self.add(at, "BatchMatMulV2", weights, v, adj_x={"b": False}, adj_y={"b": False}))
        together = self.add(f"{name}/together", "ConcatV2", *answers, self.axes[2], N={"i": str(HEADS)}, Tidx=INT32)
        return self.add(f"{name}/attended", "AddV2", x, self.linear(f"{name}.out", together))

    def feed_forward(self, name, x):
        up = self.add(f"{name}/relu", "Relu", self.linear(f"{name}.up", self.norm(f"{name}.between", x)))
        return self.add(f"{name}/answer", "AddV2", x, self.linear(f"{name}.down", up))


def convert(weights):
    writer = Transformer(weights)
    ids, attention_mask = (writer.input(name, "int64", (-1, -1)) for name in ("input_ids", "attention_mask"))
    gather = {"Tparams": {"type": "DT_FLOAT"}, "Tindices": INT64, "Taxis": INT32, "batch_dims": {"i": "0"}}
    tokens = writer.add("tokens", "GatherV2", writer.constant("tokens/table", weights["tokens.weight"]), ids, writer.axes[0], **gather)
    ones = writer.add("ones", "OnesLike", ids, T=INT64)
    places = writer.add("places", "Cumsum", ones, writer.axes[1], T=INT64, Tidx=INT32, exclusive={"b": True}, reverse={"b": False})
    positions = writer.add("positions", "GatherV2", writer.constant("positions/table", weights["positions"]), places, writer.axes[0], **gather)
    x = writer.add("embeddings", "AddV2", writer.linear("widen", tokens), positions)

    flags = writer.add("flags", "Cast", attention_mask, SrcT=INT64, DstT={"type": "DT_FLOAT"})
    absent = writer.add("absent", "Sub", writer.constant("one", np.float32(1)), flags)
    bias = writer.add("bias", "Mul", absent, writer.constant("never", np.float32(-10000)))
    mask = writer.add("mask", "ExpandDims", bias, writer.axes[1], Tdim=INT32)
    scale = writer.constant("scale", np.float32((weights["positions"].shape[1] / HEADS) ** -0.5))
    for layer in range(LAYERS):
        x = writer.feed_forward(f"layers.{layer}", writer.attention(f"layers.{layer}", x, mask, scale))

    present = writer.add("present", "ExpandDims", flags, writer.axes[2], Tdim=INT32)
    sums = writer.reduce("sums", "Sum", writer.add("kept", "Mul", writer.norm("last", x), present), 1, keep=False)
    mean = writer.add("mean", "RealDiv", sums, writer.reduce("lengths", "Sum", flags, 1))
    scores = writer.add("scores", "MatMul", mean, writer.constant("head/kernel", weights["head.weight"].T), transpose_a={"b": False}, transpose_b={"b": False})
    writer.add("logits", "BiasAdd", scores, writer.constant("head/bias", weights["head.bias"]))
    return writer


def read_weights(graph):
    """By their names in PyTorch: the export renames the matrices of its linear layers, which stand here transposed."""
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            weights[".".join(node.name.strip("/").split("/")[:-1]) + ".weight"] = weights[node.input[1]]
    return weights


def main():
    path = ARCHIVE / "languages.onnx"
    writer = convert(read_weights(onnx.load(str(path)).graph))
    writer.save(ARCHIVE / "model.json", "languages.bin", {"logits": ("float32", (-1, 30))}, "training/languages_tfjs.py")

    run, session = Graph(ARCHIVE / "model.json"), onnxruntime.InferenceSession(str(path))
    tokenizer = Tokenizer.from_file(str(ARCHIVE / "tokenizer.json"))
    worst = 0.0
    for texts in json.loads((ROOT / "training/languages.sentences.json").read_text()).values():
        encodings = tokenizer.encode_batch([*texts, ""])
        ids, mask = (np.array([getattr(e, key) for e in encodings]) for key in ("ids", "attention_mask"))
        (expected,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
        worst = max(worst, float(np.abs(run(ids, mask)["logits"].numpy() - expected).max()))
    print(f"largest difference of a logit from ONNX Runtime's: {worst:.1e}")
    assert worst < TOLERANCE


if __name__ == "__main__":
    main()
