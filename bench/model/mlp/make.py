"""Makes mlp.onnx, a model that gains from batches, and golden.json, what it answers.

    pip install onnx onnxruntime numpy
    python bench/model/mlp/make.py

Twelve layers of 2048 × 2048 weights: with one row each weight is read for one product, and memory is what it waits for. The weights are not in the file:
the graph makes them from a range, W[i, j] = (i · j mod 4093) / 2046.5 - 1, and the engine computes that once, when it loads the model. Every number up to
the division is an integer below 2²⁴, so they are the same bits everywhere.
"""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper, numpy_helper

HERE = Path(__file__).resolve().parent
WIDTH, LAYERS, CLASSES, PRIME, CASES = 2048, 12, 10, 4093, 16


def constant(name, value):
    return numpy_helper.from_array(np.asarray(value, np.float32), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def model():
    made = [
        node("Range", "zero width one", "numbers"),
        node("Reshape", "numbers as_column", "column"),
        node("Mul", "column numbers", "products"),
        node("Mod", "products prime", "residues", fmod=1),
        node("Div", "residues half", "halves"),
        node("Sub", "halves one", "unscaled"),
        # The variance of what comes out is that of what goes in.
        node("Mul", "unscaled scale", "weight"),
        node("Slice", "weight first last columns", "classes"),
    ]
    run = []
    for layer in range(LAYERS):
        run.append(node("MatMul", f"{'x' if layer == 0 else f'active{layer}'} weight", f"sums{layer}"))
        run.append(node("Tanh", f"sums{layer}", f"active{layer + 1}"))
    run.append(node("MatMul", f"active{LAYERS} classes", "y"))
    constants = [
        constant("zero", 0),
        constant("one", 1),
        constant("width", WIDTH),
        constant("prime", PRIME),
        constant("half", PRIME / 2),
        constant("scale", np.sqrt(3 / WIDTH)),
        numpy_helper.from_array(np.array([WIDTH, 1], np.int64), "as_column"),
        numpy_helper.from_array(np.array([1], np.int64), "first"),
        numpy_helper.from_array(np.array([1 + CLASSES], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "columns"),
    ]
    value = lambda name, dims: helper.make_tensor_value_info(name, T.FLOAT, dims)
    graph = helper.make_graph([*made, *run], "mlp", [value("x", ["N", WIDTH])], [value("y", ["N", CLASSES])], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="tabserve bench/model/mlp/make.py")
    made.ir_version = 7
    onnx.checker.check_model(made, full_check=True)
    return made


def row(index):
    """The same in any language: each case's own slice of a sawtooth."""
    return (((np.arange(WIDTH) * 7 + index * 131) % 1000) / 500 - 1).astype(np.float32)


def main():
    data = model().SerializeToString()
    (HERE / "mlp.onnx").write_bytes(data)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": np.stack([row(index) for index in range(CASES)])})
    print(f"mlp.onnx: {len(data)} bytes; answers between {y.min():.3f} and {y.max():.3f}")
    about = "What mlp.onnx answers, by ONNX Runtime in Python; made by make.py. Row i of the input is x[k] = ((7 k + 131 i) mod 1000) / 500 - 1."
    rows = ",\n    ".join(json.dumps([round(float(v), 6) for v in answer]) for answer in y)
    (HERE / "golden.json").write_text(f'{{\n  "about": {json.dumps(about)},\n  "runtime": "onnxruntime {onnxruntime.__version__}",\n  "y": [\n    {rows}\n  ]\n}}\n')


if __name__ == "__main__":
    main()
