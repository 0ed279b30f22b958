"""Makes models whose tensors lie in two other files, and the answers of ONNX Runtime in Python.

pip install onnx==1.23.1 onnxruntime numpy; python test/models/external-data/make.py
"""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

HERE = Path(__file__).parent
rng = np.random.default_rng(7)


def external(name: str, values: np.ndarray, location: str, offset: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=values.shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", values.nbytes)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def constant(name: str, tensor: TensorProto) -> onnx.GraphProto:
    node = helper.make_node("Constant", [], [name], value=tensor)
    return helper.make_graph([node], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8])])


weights = rng.standard_normal((64, 8)).astype(np.float32)
biases = rng.standard_normal((2, 8)).astype(np.float32)
(HERE / "weights").mkdir(exist_ok=True)
(HERE / "model.onnx_data").write_bytes(weights.tobytes())
(HERE / "weights" / "biases.bin").write_bytes(biases.tobytes())


def save(name: str, nodes: list, initializers: list) -> onnx.GraphProto:
    zero = helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0])
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "weights"], ["product"]),
            helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
            helper.make_node("Greater", ["sum", "zero"], ["positive"]),
            *nodes,
            helper.make_node("Add", ["product", "bias"], ["y"]),
        ],
        "external",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
        [external("weights", weights, "model.onnx_data", 0), zero, *initializers],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (HERE / f"{name}.onnx").write_bytes(model.SerializeToString())
    return graph


rows = [external(name, biases[at], "weights/biases.bin", at * 32) for at, name in enumerate(("yes", "no"))]
# ONNX Runtime Web does not load external data of a subgraph's constants: this one is only read, never run.
branches = {"then_branch": constant("yes", rows[0]), "else_branch": constant("no", rows[1])}
save("subgraphs", [helper.make_node("If", ["positive"], ["bias"], **branches)], [])
graph = save("model", [helper.make_node("Where", ["positive", "yes", "no"], ["bias"])], rows)

session = onnxruntime.InferenceSession(HERE / "model.onnx")
x = np.linspace(-1, 1.5, 64, dtype=np.float32).reshape(1, 64)
expected = [{"x": f.ravel().tolist(), "y": session.run(None, {"x": f})[0].ravel().tolist()} for f in (x, -x)]
(HERE / "expected.json").write_text(json.dumps(expected))

# Locations that lead out of the model's folder.
for name, location in (("outside", "../secret.bin"), ("absolute", "/etc/secret.bin"), ("windows", "..\\secret.bin")):
    graph.initializer[0].external_data[0].value = location
    bad = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (HERE / f"{name}.onnx").write_bytes(bad.SerializeToString())
