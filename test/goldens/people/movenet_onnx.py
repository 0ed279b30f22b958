"""A model in the form of MoveNet's exports to ONNX, whose points depend on the image: the first one is the brightest pixel, the others are constants.

    pip install onnx onnxruntime
    python test/goldens/people/movenet_onnx.py

Writes  test/models/movenet/movenet.onnx: `input`, int32 [1, 64, 64, 3] in 0..255; `output_0`, float32 [1, 1, 17, 3]: y, x and score, in fractions of the image
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SIDE = 64
PATH = Path(__file__).resolve().parents[2] / "models/movenet/movenet.onnx"


def main():
    constants = {
        "flat": np.int64([1, -1]), "side": np.float32(SIDE), "rest": np.column_stack([np.linspace(0.1, 0.9, 16), np.linspace(0.8, 0.2, 16), np.full(16, 0.5)]).astype(np.float32),
        "sure": np.float32([[0.75]]), "dims": np.int64([1, 1, 17, 3]), "brightness": np.float32([[[[1 / 3]], [[1 / 3]], [[1 / 3]]]]).reshape(1, 3, 1, 1),
    }
    node = helper.make_node
    nodes = [
        node("Cast", ["input"], ["float"], to=TensorProto.FLOAT),
        node("Transpose", ["float"], ["nchw"], perm=[0, 3, 1, 2]),
        node("Conv", ["nchw", "brightness"], ["gray"], kernel_shape=[1, 1]),
        node("Reshape", ["gray", "flat"], ["row"]),
        node("ArgMax", ["row"], ["best"], axis=1, keepdims=1),
        node("Cast", ["best"], ["at"], to=TensorProto.FLOAT),
        node("Div", ["at", "side"], ["lines"]),
        node("Floor", ["lines"], ["line"]),
        node("Sub", ["lines", "line"], ["x"]),
        node("Div", ["line", "side"], ["y"]),
        node("Concat", ["y", "x", "sure"], ["first"], axis=1),
        node("Concat", ["first", "rest"], ["points"], axis=0),
        node("Reshape", ["points", "dims"], ["output_0"]),
    ]
    graph = helper.make_graph(
        nodes, "movenet",
        [helper.make_tensor_value_info("input", TensorProto.INT32, [1, SIDE, SIDE, 3])],
        [helper.make_tensor_value_info("output_0", TensorProto.FLOAT, [1, 1, 17, 3])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=7)
    onnx.checker.check_model(model, full_check=True)
    PATH.parent.mkdir(exist_ok=True)
    onnx.save(model, PATH)
    image = np.zeros((1, SIDE, SIDE, 3), np.int32)
    image[0, 20, 41] = 200
    (points,) = onnxruntime.InferenceSession(str(PATH)).run(None, {"input": image})
    assert np.allclose(points[0, 0, 0], [20 / SIDE, 41 / SIDE, 0.75]), points[0, 0, 0]


if __name__ == "__main__":
    main()
