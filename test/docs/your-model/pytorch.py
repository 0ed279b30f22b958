import json

import torch
from safetensors.torch import save_file
from torchvision.models import MobileNet_V3_Small_Weights, mobilenet_v3_small

weights = MobileNet_V3_Small_Weights.DEFAULT
model = mobilenet_v3_small(weights=weights).eval()
image = torch.rand(1, 3, 224, 224)
torch.onnx.export(
    model, (image,), "mobilenet_v3_small.onnx", input_names=["input"], output_names=["output"],
    dynamic_shapes={"x": {0: "batch"}},  # x is the parameter of the model's forward()
    opset_version=18, external_data=False,  # the weights in the .onnx file
)
json.dump(weights.meta["categories"], open("index_to_name.json", "w"))
with torch.no_grad():
    save_file({"inputs/input": image, "outputs/output": model(image)}, "python.safetensors")
