"""Makes of `llama` what transformers.js' scripts/quantize.py makes of a model: `quantized/q8.onnx`, whose activations are
quantized at run time, `q4.onnx`, whose blocks of weights have scales, and `fp16.onnx`. `q4_int8.onnx` is `q4.onnx` with
accuracy level 4: its activations are quantized, too.

    python test/models/generation/quantize.py

Needs onnx and onnxruntime.
"""
import pathlib

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from onnxruntime.transformers.float16 import convert_float_to_float16

HERE = pathlib.Path(__file__).parent
MODEL = HERE / "llama/onnx/model.onnx"
FOLDER = HERE / "quantized"


def main():
    FOLDER.mkdir(exist_ok=True)
    options = {"EnableSubgraph": True, "MatMulConstBOnly": True}
    quantize_dynamic(MODEL, FOLDER / "q8.onnx", weight_type=QuantType.QInt8, extra_options=options)
    for name, level in [("q4", None), ("q4_int8", 4)]:
        quantizer = MatMulNBitsQuantizer(onnx.load(MODEL), block_size=16, is_symmetric=True, accuracy_level=level)
        quantizer.process()
        quantizer.model.save_model_to_file(str(FOLDER / f"{name}.onnx"), use_external_data_format=False)
    halves = convert_float_to_float16(onnx.load(MODEL), keep_io_types=False, disable_shape_infer=True)
    onnx.save(halves, FOLDER / "fp16.onnx")


main()
