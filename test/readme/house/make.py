"""Makes test/readme/house/model.onnx: the price of a house, in thousands, from the mean color of its photo and two numbers.

    pip install onnx numpy
    python test/readme/house/make.py

price = 50 · blue + 20 · rooms + 300 · area / 100 + 10
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

weights = [
    numpy_helper.from_array(np.array([[0], [0], [50], [20], [300]], np.float32), "weight"),
    numpy_helper.from_array(np.array([10], np.float32), "bias"),
]
nodes = [
    helper.make_node("GlobalAveragePool", ["photo"], ["pooled"]),
    helper.make_node("Flatten", ["pooled"], ["colors"]),
    helper.make_node("Concat", ["colors", "facts"], ["all"], axis=1),
    helper.make_node("Gemm", ["all", "weight", "bias"], ["price"]),
]
inputs = [
    helper.make_tensor_value_info("photo", T.FLOAT, ["batch", 3, 32, 32]),
    helper.make_tensor_value_info("facts", T.FLOAT, ["batch", 2]),
]
outputs = [helper.make_tensor_value_info("price", T.FLOAT, ["batch", 1])]
graph = helper.make_graph(nodes, "house", inputs, outputs, weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=7)
onnx.checker.check_model(model)
onnx.save(model, Path(__file__).with_name("model.onnx"))
