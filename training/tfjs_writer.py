"""Writes a TensorFlow.js graph model by hand: nodes, constants, and the signature."""

import base64
import json

import numpy as np

DTYPES = {"float32": "DT_FLOAT", "int32": "DT_INT32", "int64": "DT_INT64"}


def dims(shape):
    return {"dim": [{"size": str(size)} for size in shape]}


def text(value):
    return {"s": base64.b64encode(value.encode()).decode()}


def ints(*values):
    return {"list": {"i": [str(value) for value in values]}}


class Writer:
    """Nodes in the order in which they are added, and the constants with their bytes."""

    def __init__(self):
        self.nodes, self.weights, self.data, self.inputs = [], [], b"", {}

    def input(self, name, dtype, shape):
        """-1 where a dimension is free."""
        self.nodes.append({"name": name, "op": "Placeholder", "attr": {"dtype": {"type": DTYPES[dtype]}, "shape": {"shape": dims(shape)}}})
        self.inputs[name] = entry(name, dtype, shape)
        return name

    def add(self, name, op, *inputs, **attr):
        self.nodes.append({"name": name, "op": op, "input": list(inputs), "attr": {"T": {"type": "DT_FLOAT"}, **attr}})
        return name

    def constant(self, name, array):
        dtype = DTYPES[str(array.dtype)]
        tensor = {"dtype": dtype, "tensorShape": dims(array.shape)}
        self.nodes.append({"name": name, "op": "Const", "attr": {"dtype": {"type": dtype}, "value": {"tensor": tensor}}})
        self.weights.append({"name": name, "shape": list(array.shape), "dtype": str(array.dtype)})
        self.data += np.ascontiguousarray(array).tobytes()
        return name

    def save(self, path, weights, outputs, script):
        """`weights`: the name of the file beside `path`. `outputs`: dtype and shape by name."""
        model = {
            "format": "graph-model",
            "generatedBy": script,
            "signature": {"inputs": self.inputs, "outputs": {name: entry(name, *info) for name, info in outputs.items()}},
            "modelTopology": {"node": self.nodes, "library": {}, "versions": {"producer": 1}},
            "weightsManifest": [{"paths": [weights], "weights": self.weights}],
        }
        (path.parent / weights).write_bytes(self.data)
        path.write_text(json.dumps(model, separators=(",", ":")) + "\n")


def entry(name, dtype, shape):
    return {"name": f"{name}:0", "dtype": DTYPES[dtype], "tensorShape": dims(shape)}
