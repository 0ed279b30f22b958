"""Makes this folder: the tiny models of the folder above, a second time, as TensorFlow.js has them.

    pip install onnx onnxruntime numpy
    python test/models/make.py && python test/models/tfjs/make.py

The same weights, the same names, so the same answers: those of ONNX Runtime in ../goldens.json, which know nothing of TensorFlow.
Graph models are GraphDefs as JSON, layers models (`.layers.json`) are Keras configs as JSON; both as `tensorflowjs_converter` writes them, here by hand.
"""

import base64
import json
import sys
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from make import numbers  # noqa: E402

DT = {"float32": "DT_FLOAT", "int32": "DT_INT32", "int64": "DT_INT64", "uint8": "DT_UINT8", "bool": "DT_BOOL", "string": "DT_STRING", "float16": "DT_HALF"}
F, I, L = {"type": "DT_FLOAT"}, {"type": "DT_INT32"}, {"type": "DT_INT64"}


def weight(dims, seed, scale=1.0):
    return (numbers(int(np.prod(dims)), seed) * np.float32(scale)).reshape(dims)


def shape(dims):
    return {"dim": [{"size": str(size)} for size in dims]}


def text(value):
    return {"s": base64.b64encode(value.encode()).decode()}


def ints(values):
    return {"list": {"i": [str(v) for v in values]}}


def node(op, name, inputs="", **attr):
    return {"name": name, "op": op, **({"input": inputs.split()} if inputs else {}), "attr": attr}


def placeholder(name, dtype, dims):
    return node("Placeholder", name, dtype={"type": DT[dtype]}, shape={"shape": shape(dims)})


def conv(name, inputs):
    return node("Conv2D", name, inputs, T=F, strides=ints([1, 1, 1, 1]), dilations=ints([1, 1, 1, 1]), padding=text("SAME"), data_format=text("NHWC"), use_cudnn_on_gpu={"b": True})


class Graph:
    """A graph model. `inputs` and `outputs`: name → (dtype, dims); -1 where a dimension is free."""

    def __init__(self, inputs, nodes, outputs, weights=(), functions=(), shards=1):
        self.signature = {
            "inputs": {name: {"name": f"{name}:0", "dtype": DT[dtype], "tensorShape": shape(dims)} for name, (dtype, dims) in inputs.items()},
            "outputs": {name: {"name": f"{name}:0", "dtype": DT[dtype], "tensorShape": shape(dims)} for name, (dtype, dims) in outputs.items()},
        }
        self.weights = dict(weights)
        self.shards = shards
        inside = {n["name"] for f in functions for n in f["nodeDef"]}
        constants = [node("Const", name, dtype={"type": DT[str(v.dtype)]}, value={"tensor": {"dtype": DT[str(v.dtype)], "tensorShape": shape(v.shape)}}) for name, v in self.weights.items()]
        for f in functions:
            f["nodeDef"] = [c for c in constants if c["name"] in f["uses"]] + f["nodeDef"]
        used = {name for f in functions for name in f.pop("uses")}
        self.topology = {
            "node": [placeholder(name, *info) for name, info in inputs.items()] + [c for c in constants if c["name"] not in used | inside] + nodes,
            "library": {"function": list(functions)} if functions else {},
            "versions": {"producer": 440},
        }

    def json(self):
        return {"format": "graph-model", "generatedBy": "tabserve test/models/tfjs/make.py", "convertedBy": None, "signature": self.signature, "modelTopology": self.topology}


class Layers:
    """A layers model: a functional Keras model. `layers`: (class, name, config, names of the layers that it reads)."""

    def __init__(self, layers, inputs, outputs, weights, shards=1):
        self.weights, self.shards = weights, shards
        self.config = {
            "name": "model",
            "layers": [
                {"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": [[[source, 0, 0, {}] for source in sources]] if sources else []}
                for kind, name, config, sources in layers
            ],
            "input_layers": [[name, 0, 0] for name in inputs],
            "output_layers": [[name, 0, 0] for name in outputs],
        }

    def json(self):
        topology = {"keras_version": "2.11.0", "backend": "tensorflow", "model_config": {"class_name": "Functional", "config": self.config}}
        return {"format": "layers-model", "generatedBy": "tabserve test/models/tfjs/make.py", "convertedBy": None, "modelTopology": topology}


def function(name, inputs, nodes, outputs, uses=()):
    """A function of a graph. `inputs`: name → dtype; `outputs`: name → (dtype, what it is). `uses`: the weights that it reads."""
    return {
        "signature": {
            "name": name,
            "inputArg": [{"name": n, "type": DT[d]} for n, d in inputs.items()],
            "outputArg": [{"name": n, "type": DT[d]} for n, (d, _) in outputs.items()],
        },
        "nodeDef": nodes,
        "ret": {n: source for n, (_, source) in outputs.items()},
        "uses": list(uses),
    }


# ── Models ──────────────────────────────────────────────────────────────────────────────────────


def affine(batch):
    nodes = [node("MatMul", "product", "x weight", T=F, transpose_a={"b": False}, transpose_b={"b": True}), node("BiasAdd", "y", "product bias", T=F)]
    return Graph({"x": ("float32", [batch, 4])}, nodes, {"y": ("float32", [batch, 3])}, {"weight": weight([3, 4], 1), "bias": weight([3], 2)})


def affine_layers():
    layers = [
        ("InputLayer", "x", {"batch_input_shape": [None, 4], "dtype": "float32", "sparse": False}, []),
        ("Dense", "y", {"units": 3, "activation": "linear", "use_bias": True}, ["x"]),
    ]
    return Layers(layers, ["x"], ["y"], {"y/kernel": weight([3, 4], 1).T, "y/bias": weight([3], 2)})


CLASSIFIER = {"conv.weight": weight([6, 3, 3, 3], 3), "conv.bias": weight([6], 4), "classes.weight": weight([5, 6], 5, 4), "classes.bias": weight([5], 6)}


def tiny_classifier(batch):
    nodes = [
        node("Transpose", "nhwc", "image last", T=F, Tperm=I),
        conv("conv", "nhwc conv.weight"),
        node("BiasAdd", "biased", "conv conv.bias", T=F),
        node("Relu", "relu", "biased", T=F),
        node("Mean", "features", "relu space", T=F, Tidx=I, keep_dims={"b": False}),
        node("MatMul", "scores", "features classes.weight", T=F, transpose_a={"b": False}, transpose_b={"b": True}),
        node("BiasAdd", "logits", "scores classes.bias", T=F),
    ]
    weights = {**CLASSIFIER, "conv.weight": CLASSIFIER["conv.weight"].transpose(2, 3, 1, 0), "last": np.array([0, 2, 3, 1], np.int32), "space": np.array([1, 2], np.int32)}
    return Graph({"image": ("float32", [batch, 3, 8, 8])}, nodes, {"logits": ("float32", [batch, 5])}, weights, shards=3)


def tiny_classifier_nhwc():
    """As its authors would have it: channels last, names of their own, and the features as the first output."""
    graph = tiny_classifier(1)
    renamed = {"image": "pixels", "logits": "Identity_1", "features": "Identity"}
    nodes = [n for n in graph.topology["node"] if n["op"] not in ("Const", "Placeholder", "Transpose")]
    for n in nodes:
        n["name"] = renamed.get(n["name"], n["name"])
        n["input"] = ["pixels" if name == "nhwc" else renamed.get(name, name) for name in n["input"]]
    weights = {name: v for name, v in graph.weights.items() if name != "last"}
    outputs = {"Identity": ("float32", [1, 6]), "Identity_1": ("float32", [1, 5])}
    return Graph({"pixels": ("float32", [1, 8, 8, 3])}, nodes, outputs, weights)


def golden(tensors):
    """The bytes of a `.safetensors` file of float32 tensors."""
    header, data = {}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array, np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def two_layouts():
    """One archive in both formats, each in its own layout and with its own names."""
    archive = HERE.parent / "two-layouts"
    for folder in ("MAR-INF", "tfjs"):
        (archive / folder).mkdir(parents=True, exist_ok=True)
    (archive / "model.onnx").write_bytes((HERE.parent / "tiny_classifier.onnx").read_bytes())
    save(archive / "tfjs", "model", tiny_classifier_nhwc())
    manifest = {"runtime": "tabserve", "model": {"modelName": "two-layouts", "modelVersion": "1.0", "serializedFile": "model.onnx", "handler": "image_classifier", "configFile": "model-config.yaml"}}
    (archive / "MAR-INF/MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n")
    (archive / "model-config.yaml").write_text("handler:\n  imageProcessing:\n    - resize: [8, 8]\n    - toTensor\n  topK: 5\n")
    # What ONNX Runtime in Python answers.
    case = json.loads((HERE.parent / "goldens.json").read_text())["models"]["tiny_classifier"][0]
    image, logits = numbers(192, case["inputs"]["image"]["seed"]).reshape(1, 3, 8, 8), np.array([case["outputs"]["logits"]["data"]])
    (archive / "golden.safetensors").write_bytes(golden({"inputs/image": image, "outputs/logits": logits}))
    (archive / "tfjs/golden.safetensors").write_bytes(golden({"inputs/pixels": image.transpose(0, 2, 3, 1), "outputs/Identity_1": logits}))
    (archive / "tabserve.json").write_text(TWO_LAYOUTS)


TWO_LAYOUTS = """\
{
  "models": {
    "onnx": "model.onnx",
    "tfjs": {
      "file": "tfjs/model.json",
      "config": {
        "handler": {
          "imageProcessing": [{ "resize": [8, 8] }, "toTensor", { "layout": "NHWC" }],
          "outputName": "Identity_1"
        }
      },
      "golden": ["tfjs/golden.safetensors"]
    }
  },
  "golden": ["golden.safetensors"]
}
"""


def tiny_classifier_layers():
    first = {"data_format": "channels_first"}
    layers = [
        ("InputLayer", "image", {"batch_input_shape": [None, 3, 8, 8], "dtype": "float32", "sparse": False}, []),
        ("Conv2D", "conv", {"filters": 6, "kernel_size": [3, 3], "strides": [1, 1], "padding": "same", "activation": "relu", "use_bias": True, **first}, ["image"]),
        ("GlobalAveragePooling2D", "pool", first, ["conv"]),
        ("Dense", "logits", {"units": 5, "activation": "linear", "use_bias": True}, ["pool"]),
    ]
    weights = {"conv/kernel": CLASSIFIER["conv.weight"].transpose(2, 3, 1, 0), "conv/bias": CLASSIFIER["conv.bias"], "logits/kernel": CLASSIFIER["classes.weight"].T, "logits/bias": CLASSIFIER["classes.bias"]}
    return Layers(layers, ["image"], ["logits"], weights, shards=2)


def two_inputs():
    both = {name: ("float32", [1, 4]) for name in "ab"}
    return Graph(both, [node("AddV2", "sum", "a b", T=F), node("Mul", "product", "a b", T=F)], {"sum": ("float32", [1, 4]), "product": ("float32", [1, 4])})


def two_inputs_layers():
    inputs = [("InputLayer", name, {"batch_input_shape": [1, 4], "dtype": "float32", "sparse": False}, []) for name in "ab"]
    return Layers([*inputs, ("Add", "sum", {}, ["a", "b"]), ("Multiply", "product", {}, ["a", "b"])], ["a", "b"], ["sum", "product"], {})


def dtypes():
    kinds = ["float32", "int32", "int64", "uint8", "bool"]
    nodes = [node("Identity", f"out_{k}", f"in_{k}", T={"type": DT[k]}) for k in kinds]
    nodes += [node("Cast", "float32_as_int32", "in_float32", SrcT=F, DstT=I), node("Cast", "uint8_as_float32", "in_uint8", SrcT={"type": "DT_UINT8"}, DstT=F)]
    outputs = {**{f"out_{k}": (k, [4]) for k in kinds}, "float32_as_int32": ("int32", [4]), "uint8_as_float32": ("float32", [4])}
    return Graph({f"in_{k}": (k, [4]) for k in kinds}, nodes, outputs)


def identity(kind, dims, i="x", o="y"):
    return Graph({i: (kind, dims)}, [node("Identity", o, i, T={"type": DT[kind]})], {o: (kind, dims)})


def wide_integers():
    nodes = [node("Identity", f"out_{k}", f"in_{k}", T={"type": DT[k]}) for k in ["int32", "int64"]]
    return Graph({f"in_{k}": (k, [4]) for k in ["int32", "int64"]}, nodes, {f"out_{k}": (k, [4]) for k in ["int32", "int64"]})


def decisions():
    nodes = [node("ArgMax", "best", "x axis", T=F, Tidx=I, output_type={"type": "DT_INT64"}), node("Greater", "positive", "x zero", T=F)]
    outputs = {"best": ("int64", [-1]), "positive": ("bool", [-1, 4])}
    return Graph({"x": ("float32", [-1, 4])}, nodes, outputs, {"axis": np.array(1, np.int32), "zero": np.array(0, np.float32)})


def where():
    nodes = [node("Greater", "positive", "x zero", T=F), node("Where", "at", "positive", T={"type": "DT_BOOL"})]
    return Graph({"x": ("float32", [2, 3])}, nodes, {"at": ("int64", [-1, 2])}, {"zero": np.array(0, np.float32)})


def branch():
    """x + x where the sum of x is positive, else -x."""
    nodes = [
        node("Sum", "sum", "x axes", T=F, Tidx=I, keep_dims={"b": False}),
        node("Greater", "positive", "sum zero", T=F),
        node("StatelessIf", "y", "positive x", Tcond={"type": "DT_BOOL"}, then_branch={"func": {"name": "double"}}, else_branch={"func": {"name": "negate"}}),
    ]
    functions = [
        function("double", {"a": "float32"}, [node("AddV2", "doubled", "a a", T=F)], {"out": ("float32", "doubled:z:0")}),
        function("negate", {"b": "float32"}, [node("Neg", "negated", "b", T=F)], {"out": ("float32", "negated:y:0")}),
    ]
    return Graph({"x": ("float32", [4])}, nodes, {"y": ("float32", [4])}, {"axes": np.array([0], np.int32), "zero": np.array(0, np.float32)}, functions)


def slow():
    state = {"i": "int32", "n": "int64", "m": "float32"}
    nodes = [
        node("BroadcastTo", "matrix", "x side", T=F, Tidx=I),
        node("StatelessWhile", "loop", "start rounds matrix", T={"list": {"type": ["DT_INT32", "DT_INT64", "DT_FLOAT"]}}, cond={"func": {"name": "more"}}, body={"func": {"name": "square"}}),
        node("Identity", "squared", "loop:2", T=F),
        node("Mean", "y", "squared axes", T=F, Tidx=I, keep_dims={"b": False}),
    ]
    body = [node("AddV2", "next", "i square/one", T=I), node("MatMul", "multiplied", "m m", T=F, transpose_a={"b": False}, transpose_b={"b": False})]
    functions = [
        function("more", state, [node("Less", "less", "i n", T=I)], {"more": ("bool", "less:z:0")}),
        function("square", state, body, {"i_out": ("int32", "next:z:0"), "n_out": ("int64", "n"), "m_out": ("float32", "multiplied:product:0")}, uses=["square/one"]),
    ]
    weights = {"side": np.array([256, 256], np.int32), "start": np.array(0, np.int32), "axes": np.array([0, 1], np.int32), "square/one": np.array(1, np.int32)}
    return Graph({"x": ("float32", [1]), "rounds": ("int64", [])}, nodes, {"y": ("float32", [])}, weights, functions)


def conv_relu_conv():
    nodes = [
        node("Transpose", "nhwc", "x last", T=F, Tperm=I),
        conv("first", "nhwc first.weight"),
        node("BiasAdd", "biased", "first first.bias", T=F),
        node("Relu", "relu", "biased", T=F),
        conv("second", "relu second.weight"),
        node("BiasAdd", "answer", "second second.bias", T=F),
        node("Transpose", "y", "answer second_axis", T=F, Tperm=I),
    ]
    weights = {
        "first.weight": weight([4, 4, 3, 3], 7, 0.3).transpose(2, 3, 1, 0), "first.bias": weight([4], 8),
        "second.weight": weight([4, 4, 3, 3], 9, 0.3).transpose(2, 3, 1, 0), "second.bias": weight([4], 10),
        "last": np.array([0, 2, 3, 1], np.int32), "second_axis": np.array([0, 3, 1, 2], np.int32),
    }
    return Graph({"x": ("float32", [1, 4, 8, 8])}, nodes, {"y": ("float32", [1, 4, 8, 8])}, weights)


def hardsigmoid():
    nodes = [node("Mul", "scaled", "x slope", T=F), node("AddV2", "shifted", "scaled half", T=F), node("Maximum", "low", "shifted zero", T=F), node("Minimum", "y", "low one", T=F)]
    weights = {name: np.array(v, np.float32) for name, v in {"slope": 0.2, "half": 0.5, "zero": 0, "one": 1}.items()}
    return Graph({"x": ("float32", [1, 4])}, nodes, {"y": ("float32", [1, 4])}, weights)


def nan():
    nodes = [node("Log", "log", "x", T=F), node("RealDiv", "inverse", "one x", T=F), node("RealDiv", "quotient", "x x", T=F)]
    return Graph({"x": ("float32", [1, 4])}, nodes, {name: ("float32", [1, 4]) for name in ["log", "inverse", "quotient"]}, {"one": np.array([1], np.float32)})


def dynamic_image():
    nodes = [node("Mean", "means", "image space", T=F, Tidx=I, keep_dims={"b": False})]
    return Graph({"image": ("float32", [1, 3, -1, -1])}, nodes, {"means": ("float32", [1, 3])}, {"space": np.array([2, 3], np.int32)})


def huge():
    """Four gigabytes of x but for a little, and the largest of them."""
    nodes = [node("BroadcastTo", "all", "x side", T=F, Tidx=I), node("Max", "y", "all axes", T=F, Tidx=I, keep_dims={"b": False})]
    weights = {"side": np.array([32768, 32767], np.int32), "axes": np.array([0, 1], np.int32)}
    return Graph({"x": ("float32", [1])}, nodes, {"y": ("float32", [])}, weights)


def pooled(path):
    """../text/make.py's model: the mean of a row's embeddings where the mask says so, and a linear layer. The weights are those of the ONNX file."""
    weights = {w.name: onnx.numpy_helper.to_array(w) for w in onnx.load(path).graph.initializer}
    weights = {name: weights[name] for name in ["ids.weight", "types.weight", "head.weight", "head.bias"]}
    nodes = [
        node("GatherV2", "ids", "ids.weight input_ids rows", Tparams=F, Tindices=L, Taxis=I, batch_dims={"i": "0"}),
        node("GatherV2", "types", "types.weight token_type_ids rows", Tparams=F, Tindices=L, Taxis=I, batch_dims={"i": "0"}),
        node("AddV2", "embeddings", "ids types", T=F),
        node("Cast", "flags", "attention_mask", SrcT=L, DstT=F),
        node("ExpandDims", "mask", "flags last", T=F, Tdim=I),
        node("Mul", "masked", "embeddings mask", T=F),
        node("Sum", "sums", "masked tokens", T=F, Tidx=I, keep_dims={"b": False}),
        node("Sum", "lengths", "mask tokens", T=F, Tidx=I, keep_dims={"b": False}),
        node("RealDiv", "means", "sums lengths", T=F),
        node("MatMul", "scores", "means head.weight", T=F, transpose_a={"b": False}, transpose_b={"b": True}),
        node("BiasAdd", "logits", "scores head.bias", T=F),
    ]
    axes = {"rows": np.array(0, np.int32), "tokens": np.array(1, np.int32), "last": np.array(2, np.int32)}
    inputs = {name: ("int64", [-1, -1]) for name in ["input_ids", "attention_mask", "token_type_ids"]}
    return Graph(inputs, nodes, {"logits": ("float32", [-1, 3])}, {**weights, **axes})


MODELS = {
    "affine": affine(-1),
    "affine.layers": affine_layers(),
    "affine_fixed": affine(1),
    "tiny_classifier": tiny_classifier(1),
    "tiny_classifier_batch": tiny_classifier(-1),
    "tiny_classifier_batch.layers": tiny_classifier_layers(),
    "two_inputs": two_inputs(),
    "two_inputs.layers": two_inputs_layers(),
    "dtypes": dtypes(),
    "wide_integers": wide_integers(),
    "strings": identity("string", [-1]),
    "float16": identity("float16", [4]),
    "decisions": decisions(),
    "where": where(),
    "branch": branch(),
    "slow": slow(),
    "conv_relu_conv": conv_relu_conv(),
    "hardsigmoid": hardsigmoid(),
    "nan": nan(),
    "dynamic_image": dynamic_image(),
    "huge": huge(),
    "missing_op": Graph({"x": ("float32", [1, 4])}, [node("Frobnicate", "y", "x")], {"y": ("float32", [1, 4])}),
}


def save(folder, name, model):
    data = b"".join(np.ascontiguousarray(v).tobytes() for v in model.weights.values())
    # Uneven pieces: a shard may end in the middle of a weight, and of a number.
    cuts = [len(data) * i // model.shards + (i % 2) for i in range(model.shards)] + [len(data)]
    cuts[0] = 0
    paths = [f"{name}.{i + 1}of{model.shards}.bin" for i in range(model.shards)] if data else []
    specs = [{"name": key, "shape": list(v.shape), "dtype": str(v.dtype)} for key, v in model.weights.items()]
    manifest = [{"paths": paths, "weights": specs}] if data else []
    (folder / f"{name}.json").write_text(json.dumps({**model.json(), "weightsManifest": manifest}, indent=1) + "\n")
    for path, start, end in zip(paths, cuts, cuts[1:]):
        (folder / path).write_bytes(data[start:end])
    print(f"{name}.json: {len(data)} bytes of weights in {len(paths)} file(s)")


def main():
    for name, model in MODELS.items():
        save(HERE, name, model)

    # A text classifier in both formats.
    archive = HERE.parent / "text/word-piece"
    save(archive, "model", pooled(archive / "model.onnx"))
    (archive / "tabserve.json").write_text('{ "models": { "onnx": "model.onnx", "tfjs": "model.json" } }\n')

    two_layouts()

    # One archive in both formats.
    archive = HERE.parent / "two-formats"
    (archive / "MAR-INF").mkdir(parents=True, exist_ok=True)
    (archive / "tfjs").mkdir(exist_ok=True)
    manifest = {"runtime": "tabserve", "model": {"modelName": "conv_relu_conv", "modelVersion": "1.0", "serializedFile": "model.onnx", "handler": "base_handler"}}
    (archive / "MAR-INF/MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n")
    (archive / "tabserve.json").write_text('{ "models": { "onnx": "model.onnx", "tfjs": "tfjs/model.json" } }\n')
    (archive / "model.onnx").write_bytes((HERE.parent / "conv_relu_conv.onnx").read_bytes())
    (archive / "tfjs/model.json").write_bytes((HERE / "conv_relu_conv.json").read_bytes())
    for shard in HERE.glob("conv_relu_conv.*.bin"):
        (archive / "tfjs" / shard.name).write_bytes(shard.read_bytes())


if __name__ == "__main__":
    main()
