"""Makes the tiny models of this folder, and their expected answers in goldens.json.

    pip install onnx onnxruntime numpy
    python test/models/make.py

Every file is under 10 KB and comes out the same each time. README.md says what each is for.
"""

import json
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper, numpy_helper

HERE = Path(__file__).resolve().parent
OPSET = 12  # the newest that ONNX Runtime's WebGL provider takes without trouble


# ── Numbers ─────────────────────────────────────────────────────────────────────────────────────


def numbers(count, seed):
    """Floats in [-1, 1) that any language can repeat: x ← (1664525 x + 1013904223) mod 2³², value = x / 2³¹ - 1, as float32."""
    out, x = np.empty(count, np.float32), seed
    for i in range(count):
        x = (1664525 * x + 1013904223) % 2**32
        out[i] = x / 2**31 - 1
    return out


def generated(dims, seed):
    return {"dtype": "float32", "dims": list(dims), "seed": seed}


def literal(array, dtype=None):
    """A tensor as JSON: float16 as its bits, bool as 0 and 1, int64 as strings, and what JSON has no word for as strings too."""
    dtype = dtype or {"float32": "float32", "float16": "float16", "bool": "bool", "object": "string"}.get(str(array.dtype), str(array.dtype))
    flat = array.reshape(-1)
    if dtype == "float16":
        data = flat.view(np.uint16).tolist()
    elif dtype == "bool":
        data = flat.astype(int).tolist()
    elif dtype == "int64":
        data = [str(v) for v in flat.tolist()]
    elif dtype == "string":
        data = [str(v) for v in flat.tolist()]
    else:
        data = [v if not isinstance(v, float) or np.isfinite(v) else str(v).replace("inf", "Infinity").replace("nan", "NaN") for v in flat.tolist()]
    return {"dtype": dtype, "dims": list(array.shape), "data": data}


def array_of(tensor):
    dims = tensor["dims"]
    if "seed" in tensor:
        return numbers(int(np.prod(dims)), tensor["seed"]).reshape(dims)
    if tensor["dtype"] == "float16":
        return np.array(tensor["data"], np.uint16).view(np.float16).reshape(dims)
    if tensor["dtype"] == "string":
        return np.array(tensor["data"], object).reshape(dims)
    kind = {"bool": np.bool_}.get(tensor["dtype"]) or np.dtype(tensor["dtype"])
    return np.array([float(v) if isinstance(v, str) and kind == np.float32 else int(v) if isinstance(v, str) else v for v in tensor["data"]], kind).reshape(dims)


# ── Models ──────────────────────────────────────────────────────────────────────────────────────


def value(name, kind, dims):
    return helper.make_tensor_value_info(name, kind, dims)


def weight(name, dims, seed, scale=1.0):
    return numpy_helper.from_array((numbers(int(np.prod(dims)), seed) * np.float32(scale)).reshape(dims), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def conv(inputs, output, size=3):
    return node("Conv", inputs, output, kernel_shape=[size, size], pads=[size // 2] * 4, strides=[1, 1], dilations=[1, 1], group=1)


def model(name, nodes, inputs, outputs, weights=(), opset=OPSET, check=True, domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *domains], producer_name="tabserve test/models/make.py")
    made.ir_version = 7
    if check:
        onnx.checker.check_model(made, full_check=True)
    return made


def affine(batch):
    return model(
        "affine",
        [node("Gemm", "x weight bias", "y", transB=1)],
        [value("x", T.FLOAT, [batch, 4])],
        [value("y", T.FLOAT, [batch, 3])],
        [weight("weight", [3, 4], 1), weight("bias", [3], 2)],
    )


def tiny_classifier(batch):
    return model(
        "tiny_classifier",
        [
            conv("image conv.weight conv.bias", "conv"),
            node("Relu", "conv", "relu"),
            node("GlobalAveragePool", "relu", "pool"),
            node("Flatten", "pool", "features", axis=1),
            node("Gemm", "features classes.weight classes.bias", "logits", transB=1),
        ],
        [value("image", T.FLOAT, [batch, 3, 8, 8])],
        [value("logits", T.FLOAT, [batch, 5])],
        [weight("conv.weight", [6, 3, 3, 3], 3), weight("conv.bias", [6], 4), weight("classes.weight", [5, 6], 5, 4), weight("classes.bias", [5], 6)],
    )


def dtypes():
    kinds = dict(float32=T.FLOAT, int32=T.INT32, int64=T.INT64, uint8=T.UINT8, bool=T.BOOL)
    nodes = [node("Identity", f"in_{k}", f"out_{k}") for k in kinds]
    nodes += [node("Cast", "in_float32", "float32_as_int32", to=T.INT32), node("Cast", "in_uint8", "uint8_as_float32", to=T.FLOAT)]
    outputs = [value(f"out_{k}", t, [4]) for k, t in kinds.items()] + [value("float32_as_int32", T.INT32, [4]), value("uint8_as_float32", T.FLOAT, [4])]
    return model("dtypes", nodes, [value(f"in_{k}", t, [4]) for k, t in kinds.items()], outputs)


def wide_integers():
    kinds = dict(int32=T.INT32, int64=T.INT64)
    return model("wide_integers", [node("Identity", f"in_{k}", f"out_{k}") for k in kinds], [value(f"in_{k}", t, [4]) for k, t in kinds.items()], [value(f"out_{k}", t, [4]) for k, t in kinds.items()])


def decisions():
    """The index of the largest, and which are positive: outputs that are no floats."""
    zero = numpy_helper.from_array(np.array(0, np.float32), "zero")
    nodes = [node("ArgMax", "x", "best", axis=1, keepdims=0), node("Greater", "x zero", "positive")]
    return model("decisions", nodes, [value("x", T.FLOAT, ["N", 4])], [value("best", T.INT64, ["N"]), value("positive", T.BOOL, ["N", 4])], [zero])


def where():
    """Where x is positive: as many rows as there are."""
    zero = numpy_helper.from_array(np.array(0, np.float32), "zero")
    nodes = [node("Greater", "x zero", "positive"), node("NonZero", "positive", "axes"), node("Transpose", "axes", "at", perm=[1, 0])]
    return model("where", nodes, [value("x", T.FLOAT, [2, 3])], [value("at", T.INT64, ["found", 2])], [zero])


def branch():
    """x + x where the sum of x is positive, else -x."""
    zero = numpy_helper.from_array(np.array(0, np.float32), "zero")
    double = helper.make_graph([node("Add", "x x", "doubled")], "double", [], [value("doubled", T.FLOAT, [4])])
    negate = helper.make_graph([node("Neg", "x", "negated")], "negate", [], [value("negated", T.FLOAT, [4])])
    nodes = [node("ReduceSum", "x", "sum", keepdims=0), node("Greater", "sum zero", "positive"), helper.make_node("If", ["positive"], ["y"], then_branch=double, else_branch=negate)]
    return model("branch", nodes, [value("x", T.FLOAT, [4])], [value("y", T.FLOAT, [4])], [zero])


def strings():
    return model("strings", [node("Identity", "x", "y")], [value("x", T.STRING, ["N"])], [value("y", T.STRING, ["N"])])


def float16():
    one = numpy_helper.from_array(np.array([1], np.float16), "one")
    nodes = [node("Add", "x one", "y"), node("Cast", "y", "y_float32", to=T.FLOAT)]
    return model("float16", nodes, [value("x", T.FLOAT16, [4])], [value("y", T.FLOAT16, [4]), value("y_float32", T.FLOAT, [4])], [one])


def two_inputs():
    return model(
        "two_inputs",
        [node("Add", "a b", "sum"), node("Mul", "a b", "product")],
        [value("a", T.FLOAT, [1, 4]), value("b", T.FLOAT, [1, 4])],
        [value("sum", T.FLOAT, [1, 4]), value("product", T.FLOAT, [1, 4])],
    )


def conv_relu_conv():
    return model(
        "conv_relu_conv",
        [conv("x first.weight first.bias", "first"), node("Relu", "first", "relu"), conv("relu second.weight second.bias", "y")],
        [value("x", T.FLOAT, [1, 4, 8, 8])],
        [value("y", T.FLOAT, [1, 4, 8, 8])],
        [weight("first.weight", [4, 4, 3, 3], 7, 0.3), weight("first.bias", [4], 8), weight("second.weight", [4, 4, 3, 3], 9, 0.3), weight("second.bias", [4], 10)],
    )


def hardsigmoid():
    return model("hardsigmoid", [node("HardSigmoid", "x", "y", alpha=0.2, beta=0.5)], [value("x", T.FLOAT, [1, 4])], [value("y", T.FLOAT, [1, 4])])


def nan():
    """log(x), 1/x and x/x: all finite for positive numbers. 1/0 is infinite and 0/0 is not a number on every backend; shaders may get log wrong."""
    one = numpy_helper.from_array(np.array([1], np.float32), "one")
    nodes = [node("Log", "x", "log"), node("Div", "one x", "inverse"), node("Div", "x x", "quotient")]
    return model("nan", nodes, [value("x", T.FLOAT, [1, 4])], [value("log", T.FLOAT, [1, 4]), value("inverse", T.FLOAT, [1, 4]), value("quotient", T.FLOAT, [1, 4])], [one])


def dynamic_image():
    nodes = [node("GlobalAveragePool", "image", "pool"), node("Flatten", "pool", "means", axis=1)]
    return model("dynamic_image", nodes, [value("image", T.FLOAT, [1, 3, "height", "width"])], [value("means", T.FLOAT, [1, 3])])


def missing_op():
    nodes = [helper.make_node("Frobnicate", ["x"], ["y"], domain="org.tabserve.test")]
    return model("missing_op", nodes, [value("x", T.FLOAT, [1, 4])], [value("y", T.FLOAT, [1, 4])], check=False, domains=[helper.make_opsetid("org.tabserve.test", 1)])


def slow():
    """`rounds` times a 256 × 256 matrix, x ← x · x, where x is 1/256 everywhere and stays so: some 34 million multiplications a round."""
    count = lambda name, v: numpy_helper.from_array(np.array(v, np.int64), name)
    body = helper.make_graph(
        [node("Identity", "running", "still"), node("MatMul", "state state", "next")],
        "square",
        [value("round", T.INT64, []), value("running", T.BOOL, []), value("state", T.FLOAT, [256, 256])],
        [value("still", T.BOOL, []), value("next", T.FLOAT, [256, 256])],
    )
    nodes = [
        node("Expand", "x side", "matrix"),
        helper.make_node("Loop", ["rounds", "", "matrix"], ["squared"], body=body),
        node("ReduceMean", "squared", "y", keepdims=0),
    ]
    return model("slow", nodes, [value("x", T.FLOAT, [1]), value("rounds", T.INT64, [])], [value("y", T.FLOAT, [])], [count("side", [256, 256])])


# ── Files that are no model ─────────────────────────────────────────────────────────────────────


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")


def corrupt(classifier):
    return {
        "truncated.onnx": classifier[: len(classifier) // 2],
        "garbage.onnx": bytes(((numbers(1024, 99) + 1) * 128).astype(np.uint8)),
        "empty.onnx": b"",
        "no_graph.onnx": onnx.ModelProto(ir_version=7, producer_name="tabserve").SerializeToString(),
        "not_a_model.onnx": png(),
    }


# ── Everything ──────────────────────────────────────────────────────────────────────────────────

f32 = lambda dims, data: {"dtype": "float32", "dims": dims, "data": data}

MODELS = {
    "affine": (affine("N"), [{"x": generated([1, 4], 100)}, {"x": generated([5, 4], 101)}]),
    "affine_fixed": (affine(1), [{"x": generated([1, 4], 100)}]),
    "tiny_classifier": (tiny_classifier(1), [{"image": generated([1, 3, 8, 8], 102)}, {"image": f32([1, 3, 8, 8], [0] * 192)}]),
    "tiny_classifier_batch": (tiny_classifier("N"), [{"image": generated([1, 3, 8, 8], 102)}, {"image": generated([3, 3, 8, 8], 103)}]),
    "dtypes": (
        dtypes(),
        [
            {
                "in_float32": f32([4], [0.5, -1.75, 3.0, 100.25]),
                "in_int32": {"dtype": "int32", "dims": [4], "data": [0, -1, 16777216, -16777216]},
                "in_int64": {"dtype": "int64", "dims": [4], "data": ["0", "-1", "16777216", "-16777216"]},
                "in_uint8": {"dtype": "uint8", "dims": [4], "data": [0, 1, 128, 255]},
                "in_bool": {"dtype": "bool", "dims": [4], "data": [0, 1, 1, 0]},
            }
        ],
    ),
    "wide_integers": (
        wide_integers(),
        [
            {
                "in_int32": {"dtype": "int32", "dims": [4], "data": [0, -1, 2147483647, -2147483648]},
                "in_int64": {"dtype": "int64", "dims": [4], "data": ["0", "-1", "9007199254740993", "-9223372036854775808"]},
            }
        ],
    ),
    "decisions": (decisions(), [{"x": generated([1, 4], 109)}, {"x": generated([3, 4], 110)}]),
    "where": (where(), [{"x": generated([2, 3], 111)}, {"x": f32([2, 3], [1, 1, 1, 0, -1, 1])}, {"x": f32([2, 3], [0] * 6)}]),
    "branch": (branch(), [{"x": f32([4], [1, 2, 3, -4])}, {"x": f32([4], [1, 2, -3, -4])}]),
    "strings": (strings(), [{"x": {"dtype": "string", "dims": [3], "data": ["tab", "", "größer 🐢"]}}]),
    "float16": (float16(), [{"x": literal(np.array([0, 0.5, -1, 1000], np.float16))}]),
    "two_inputs": (two_inputs(), [{"a": generated([1, 4], 104), "b": generated([1, 4], 105)}]),
    "conv_relu_conv": (conv_relu_conv(), [{"x": generated([1, 4, 8, 8], 106)}]),
    "hardsigmoid": (hardsigmoid(), [{"x": f32([1, 4], [-4, -1, 1, 4])}]),
    "nan": (nan(), [{"x": f32([1, 4], [1, 2, 4, 0.5])}, {"x": f32([1, 4], [1, 0, -1, 0.5])}]),
    "dynamic_image": (dynamic_image(), [{"image": generated([1, 3, 4, 6], 107)}, {"image": generated([1, 3, 9, 5], 108)}]),
    "slow": (slow(), [{"x": f32([1], [1 / 256]), "rounds": {"dtype": "int64", "dims": [], "data": [rounds]}} for rounds in ("3", "2500")]),
}

ARCHIVE = {
    "MAR-INF/MANIFEST.json": {
        "createdOn": "2026-11-21T00:00:00Z",
        "runtime": "tabserve",
        "archiverVersion": "1.0",
        "model": {"modelName": "tiny", "modelVersion": "1.0", "serializedFile": "tiny_classifier.onnx", "handler": "image_classifier", "configFile": "model-config.yaml"},
    },
    "index_to_name.json": {"0": "ant", "1": "bee", "2": "cat", "3": "dog", "4": "eel"},
}
CONFIG = """handler:
  imageProcessing:
    - resize: [8, 8] # height, width
    - toTensor
  output: logits
  topK: 3
"""
LABELS = {
    "labels_names.json": {"0": "ant", "1": "bee", "2": "cat", "3": "dog", "4": "eel"},
    "labels_pairs.json": {"0": ["n01", "ant"], "1": ["n02", "bee"], "2": ["n03", "cat"], "3": ["n04", "dog"], "4": ["n05", "eel"]},
    "labels_object_type_names.json": {"object_type_names": ["ant", "bee", "cat", "dog", "eel"]},
    "labels_partial.json": {"0": "ant", "3": "dog"},
}


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=2, ensure_ascii=False)
    path.write_text(re.sub(r'\[\s*([^\[\]{}]*?)\s*\]', lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", text) + "\n")


def main():
    goldens = {}
    for name, (made, cases) in MODELS.items():
        data = made.SerializeToString()
        assert len(data) < 10_000, name
        (HERE / f"{name}.onnx").write_bytes(data)
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        goldens[name] = []
        for feeds in cases:
            results = session.run(names, {k: array_of(v) for k, v in feeds.items()})
            goldens[name].append({"inputs": feeds, "outputs": {k: literal(np.asarray(v)) for k, v in zip(names, results)}})
        print(f"{name}.onnx: {len(data)} bytes, {len(cases)} case(s)")
    (HERE / "missing_op.onnx").write_bytes(missing_op().SerializeToString())

    classifier = MODELS["tiny_classifier"][0].SerializeToString()
    bad = corrupt(classifier)
    for name, data in bad.items():
        (HERE / name).write_bytes(data)
    for name in [*bad, "missing_op.onnx"]:
        try:
            onnxruntime.InferenceSession(str(HERE / name), providers=["CPUExecutionProvider"])
            raise SystemExit(f"{name} should not load")
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:110].replace(str(HERE), '')}")

    for name, content in ARCHIVE.items():
        write_json(HERE / "tiny-archive" / name, content)
    (HERE / "tiny-archive/model-config.yaml").write_text(CONFIG)
    (HERE / "tiny-archive/tiny_classifier.onnx").write_bytes(classifier)
    for name, content in LABELS.items():
        write_json(HERE / name, content)
    write_json(HERE / "goldens.json", {
        "about": "Expected outputs, computed in Python by ONNX Runtime; made by make.py. A tensor has `data`, or a `seed`: x ← (1664525 x + 1013904223) mod 2^32, value = x / 2^31 - 1, rounded to float32. int64 and non-finite numbers are strings, float16 is its 16 bits.",
        "runtime": f"onnxruntime {onnxruntime.__version__}",
        "models": goldens,
    })


if __name__ == "__main__":
    main()
