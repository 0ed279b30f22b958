"""Makes precisions/ and half/: an image classifier of four numbers for each color, as Hugging Face's exporters lay it out. precisions/ has it in three precisions,
with float32 inputs and outputs: float32; float16 between two casts, its weights in external data; and 8 bits by ONNX Runtime's dynamic quantization. half/ has it in
float16 alone, inputs and outputs too. expected.json has what ONNX Runtime answers for each file. Run with numpy, onnx and onnxruntime at hand:

    python test/models/hugging-face/precisions.py
"""
import json
import pathlib
import shutil

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

HERE = pathlib.Path(__file__).resolve().parent
LABELS = {"0": "red", "1": "green", "2": "blue", "3": "gray"}
COLOR = [141, 118, 133]  # of each of the 8 x 8 pixels of the photo
WEIGHTS = np.array([[13.1, -6.37, -8.03, 0.213], [-7.71, 12.91, -4.87, 0.331], [-5.13, -3.79, 13.3, 0.127]], np.float32)
BIAS = np.array([0.1, -0.2, 0.05, 0.3], np.float32)


def model(dtype, io):
    """Global average, then a dense layer. `dtype` is that of the weights, `io` that of input and output."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    steps = [helper.make_node("GlobalAveragePool", ["x"], ["mean"]), helper.make_node("Flatten", ["mean"], ["flat"]), helper.make_node("MatMul", ["flat", "weight"], ["product"]), helper.make_node("Add", ["product", "bias"], ["y"])]
    if kind == io:
        steps[0].input[0], steps[-1].output[0] = "pixel_values", "logits"
    else:
        steps = [helper.make_node("Cast", ["pixel_values"], ["x"], to=kind), *steps, helper.make_node("Cast", ["y"], ["logits"], to=io)]
    weights = [numpy_helper.from_array(WEIGHTS.astype(dtype), "weight"), numpy_helper.from_array(BIAS.astype(dtype), "bias")]
    graph = helper.make_graph(steps, "colors", [helper.make_tensor_value_info("pixel_values", io, [1, 3, 8, 8])], [helper.make_tensor_value_info("logits", io, [1, 4])], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def answer(path):
    """Softmax of the logits for the photo, by label."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    pixels = np.broadcast_to(((np.array(COLOR) / 255 - 0.5) / 0.5).reshape(1, 3, 1, 1), (1, 3, 8, 8))
    half = session.get_inputs()[0].type == "tensor(float16)"
    logits = session.run(None, {"pixel_values": pixels.astype(np.float16 if half else np.float32)})[0][0].astype(np.float64)
    scores = np.exp(logits - logits.max())
    return dict(zip(LABELS.values(), (scores / scores.sum()).tolist()))


for name in ("precisions", "half"):
    shutil.rmtree(HERE / name, ignore_errors=True)
    (HERE / name / "onnx").mkdir(parents=True)
    config = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "id2label": LABELS}
    processor = {"image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": 8, "width": 8}, "resample": 2, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (HERE / name / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (HERE / name / "preprocessor_config.json").write_text(json.dumps(processor, indent=1) + "\n")

folder = HERE / "precisions/onnx"
files = {"fp32": folder / "model.onnx", "fp16": folder / "model_fp16.onnx", "q8": folder / "model_quantized.onnx", "half": HERE / "half/onnx/model_fp16.onnx"}
onnx.save(model(np.float32, TensorProto.FLOAT), files["fp32"])
onnx.save(model(np.float16, TensorProto.FLOAT), files["fp16"], save_as_external_data=True, location="model_fp16.onnx_data", size_threshold=0)
(folder / "model_fp16.onnx_data").chmod(0o644)
quantize_dynamic(files["fp32"], files["q8"], weight_type=QuantType.QUInt8)
onnx.save(model(np.float16, TensorProto.FLOAT16), files["half"])
expected = {name: answer(path) for name, path in files.items()}
assert max(abs(expected["q8"][label] - expected["fp32"][label]) for label in expected["q8"]) > 1e-3, "the answer must tell which file has run"
(HERE / "precisions/expected.json").write_text(json.dumps({"color": COLOR, "scores": expected}, indent=1) + "\n")
