"""Makes small ONNX models with their weights in every place that weights can have, and what smaller weights must be and give.

    pip install numpy onnx onnxruntime
    python test/goldens/optimize/make.py

expected.json has, for each model: an input, the outputs of ONNX Runtime with its weights rounded by NumPy to float16, and quantized by NumPy to 8 bits; and the weights that stay.
"""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper, numpy_helper

HERE = Path(__file__).resolve().parent
rng = np.random.default_rng(16)


def weight(*dims, scale=1.0):
    return (rng.standard_normal(dims) * scale).astype(np.float32)


def info(name, dims, dtype=T.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def save(name, nodes, inputs, outputs, initializers, opset=17, ir=8, **more):
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(graph, producer_name="make.py", ir_version=ir, opset_imports=[helper.make_opsetid("", opset)])
    onnx.checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx", **more)
    return model


def tensor(array, name):
    return numpy_helper.from_array(array, name)


def models():
    x = info("x", ["n", 32])
    y = info("y", ["n", "columns"])
    # One weight with two readers, a vector, a short vector, large integers, and a number that float16 does not have.
    shared, bias, short = weight(32, 32), weight(192), weight(32)
    wide, beyond = weight(32, 192), weight(192, scale=1)
    beyond[7] = 7e4
    columns = np.arange(192, dtype=np.int64)[::-1].copy()
    nodes = [
        helper.make_node("MatMul", ["x", "shared"], ["a"]),
        helper.make_node("MatMul", ["a", "shared"], ["b"]),
        helper.make_node("Add", ["b", "short"], ["c"]),
        helper.make_node("MatMul", ["c", "wide"], ["d"]),
        helper.make_node("Add", ["d", "bias"], ["e"]),
        helper.make_node("Gather", ["e", "columns"], ["f"], axis=1),
        helper.make_node("Min", ["f", "beyond"], ["y"]),
    ]
    initializers = [tensor(v, n) for n, v in {"shared": shared, "bias": bias, "short": short, "wide": wide, "beyond": beyond, "columns": columns}.items()]
    yield "initializers", save("initializers", nodes, [x], [y], initializers)

    # Before IR version 4, weights are listed as inputs. The weight is in float_data; its new tensors are named beside one that is called h0.
    listed = helper.make_tensor("h0", T.FLOAT, [32, 40], weight(32, 40).reshape(-1).tolist())
    nodes = [helper.make_node("MatMul", ["x", "h0"], ["y"])]
    yield "listed", save("listed", nodes, [x, info("h0", [32, 40])], [y], [listed], opset=7, ir=3)

    # Weights in Constant nodes, in a branch, and from outside of the branch.
    outer, inner, other = weight(32, 32), weight(32, 32), weight(32, 32)
    then = helper.make_graph(
        [helper.make_node("MatMul", ["x", "inner"], ["p"]), helper.make_node("MatMul", ["p", "outer"], ["then_y"])],
        "then", [], [info("then_y", ["n", 32])], [tensor(inner, "inner")],
    )  # fmt: skip
    otherwise = helper.make_graph(
        [helper.make_node("Constant", [], ["other"], value=tensor(other, "")), helper.make_node("MatMul", ["x", "other"], ["else_y"])],
        "otherwise", [], [info("else_y", ["n", 32])],
    )  # fmt: skip
    nodes = [
        helper.make_node("Constant", [], ["outer"], value=tensor(outer, "")),
        helper.make_node("Constant", [], ["zero"], value=tensor(np.zeros((), np.float32), "")),
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["positive"]),
        helper.make_node("If", ["positive"], ["y"], then_branch=then, else_branch=otherwise),
    ]
    yield "branches", save("branches", nodes, [x], [y], [])

    # A convolution and its transpose, whose channels are along different axes, and a scale of 8-bit weights, which stays.
    image = info("x", [1, 4, 2, 2])
    conv, transpose = weight(40, 4, 3, 3) * rng.uniform(0.1, 10, (40, 1, 1, 1)), weight(40, 40, 2, 2) * rng.uniform(0.1, 10, (1, 40, 1, 1))
    conv, transpose = conv.astype(np.float32), transpose.astype(np.float32)
    q, scale = rng.integers(-100, 100, (160, 1), np.int8), rng.uniform(0.1, 0.2, 160).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "conv"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("ConvTranspose", ["a", "transpose"], ["b"], strides=[2, 2]),
        helper.make_node("Reshape", ["b", "rows"], ["d"]),
        helper.make_node("DequantizeLinear", ["q", "scale"], ["e"], axis=0),
        helper.make_node("Mul", ["d", "e"], ["f"]),
        helper.make_node("ReduceMax", ["f"], ["y"], axes=[1], keepdims=0),
    ]
    initializers = [tensor(conv, "conv"), tensor(transpose, "transpose"), tensor(q, "q"), tensor(scale, "scale"), tensor(np.array([160, 4], np.int64), "rows")]
    yield "channels", save("channels", nodes, [image], [info("y", ["n"])], initializers, opset=13)

    # Weights, and integers, in another file.
    (HERE / "external.onnx_data").unlink(missing_ok=True)
    nodes = [helper.make_node("MatMul", ["x", "weights"], ["a"]), helper.make_node("Gather", ["a", "columns"], ["y"], axis=1)]
    initializers = [tensor(weight(32, 64), "weights"), tensor(np.arange(64, dtype=np.int64)[::-1].copy(), "columns")]
    yield "external", save(
        "external", nodes, [x], [y], initializers,
        save_as_external_data=True, location="external.onnx_data", size_threshold=256,
    )  # fmt: skip


KEPT = {"initializers": ["beyond"], "channels": ["scale"]}


def half(array):
    return array.astype(np.float16).astype(np.float32)


def eight_bits(array):
    """Symmetric, with a scale for each index along the axis that gives the smallest error."""
    if array.ndim < 2 or array.size < 1024:
        return half(array)
    best = None
    for axis in range(array.ndim):
        if array.shape[axis] < 2 or array.shape[axis] * 16 > array.size:
            continue
        rest = tuple(i for i in range(array.ndim) if i != axis)
        scale = (np.abs(array).max(rest, keepdims=True) / np.float32(127)).astype(np.float32)
        got = np.clip(np.rint(array.astype(np.float64) / scale), -127, 127).astype(np.float32) * scale
        error = float(((array - got) ** 2).sum())
        if best is None or error < best[0]:
            best = (error, got)
    return best[1]


def rounded(model, how, kept):
    """The model with each weight replaced by what is left of it."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)

    def change(tensor, name):
        array = numpy_helper.to_array(tensor, str(HERE))
        if array.dtype == np.float32 and array.size >= 128 and name not in kept:
            array = how(array)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))

    def graph(one):
        for initializer in one.initializer:
            change(initializer, initializer.name)
        for node in one.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    graph(attribute.g)
                elif node.op_type == "Constant":
                    change(attribute.t, node.output[0])

    graph(copy.graph)
    return copy


def run(model, x):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def main():
    expected = {}
    for name, model in models():
        dims = [1 if isinstance(d.dim_param, str) and d.dim_param else d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        kept = KEPT.get(name, [])
        inputs = [weight(*dims)] if name != "branches" else [np.abs(weight(*dims)), -np.abs(weight(*dims))]
        expected[name] = {
            "kept": kept,
            "runs": [
                {
                    "dims": dims,
                    "x": x.reshape(-1).tolist(),
                    **{label: run(rounded(model, how, kept), x).reshape(-1).tolist() for label, how in {"float32": lambda a: a, "float16": half, "int8": eight_bits}.items()},
                }
                for x in inputs
            ],
        }
    text = json.dumps(expected, default=float)
    (HERE / "expected.json").write_text(json.dumps(json.loads(text, parse_float=lambda v: float(f"{float(v):.7g}"))) + "\n")


if __name__ == "__main__":
    main()
