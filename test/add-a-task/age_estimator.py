"""A tiny model of ages: the mean of each color, weighted. NumPy computes what it must answer, Pillow resizes."""
import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from basics import HERE, answers, photo
from seeded import store

REPOSITORY = "age-tiny"
SIDE = 32
WEIGHTS, BIAS = np.float32([[30], [20], [10]]), np.float32([5])


def make():
    folder = HERE / REPOSITORY
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    store(graph(), folder / "onnx/model.onnx")
    write(folder / "config.json", {"architectures": ["TinyForAgeEstimation"]})
    size = {"height": SIDE, "width": SIDE}
    write(folder / "preprocessor_config.json", {
        "image_processor_type": "ViTImageProcessor", "do_resize": True, "size": size, "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": False})
    requests = [
        {"input": {"photo": [61, 47]}, "answer": age(photo(61, 47))},
        {"input": {"photo": [61, 47]}, "params": {"unit": "months"}, "answer": age(photo(61, 47)) * 12},
    ]
    answers("age_estimator", [{"architecture": "TinyForAgeEstimation", "repository": REPOSITORY, "requests": requests}])


def age(image):
    pixels = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BILINEAR), np.float64) / 255
    return float(pixels.mean((0, 1)) @ WEIGHTS[:, 0] + BIAS[0])


def graph():
    nodes = [
        helper.make_node("ReduceMean", ["pixel_values"], ["mean"], axes=[2, 3], keepdims=0),
        helper.make_node("Gemm", ["mean", "weights", "bias"], ["predicted_age"]),
    ]
    pixels = helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, ["batch_size", 3, "height", "width"])
    ages = helper.make_tensor_value_info("predicted_age", TensorProto.FLOAT, ["batch_size", 1])
    weights = [numpy_helper.from_array(WEIGHTS, "weights"), numpy_helper.from_array(BIAS, "bias")]
    made = helper.make_graph(nodes, "age", [pixels], [ages], weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def write(path, fields):
    path.write_text(json.dumps(fields, indent=2) + "\n")
