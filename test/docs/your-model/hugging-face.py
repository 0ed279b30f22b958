import json

import torch
from safetensors.torch import save_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "distilbert/distilbert-base-uncased-finetuned-sst-2-english"  # or the path of a folder
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForSequenceClassification.from_pretrained(NAME).eval()
tokenizer.save_pretrained("tokenizer")
json.dump(model.config.id2label, open("index_to_name.json", "w"))
inputs = dict(tokenizer("a good film", return_tensors="pt"))
axes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}  # any batch, any length
torch.onnx.export(
    model, (), "distilbert_sst2.onnx", kwargs=inputs, input_names=list(inputs), output_names=["logits"],
    dynamic_shapes={name: axes for name in inputs}, opset_version=18, external_data=False,
)
with torch.no_grad():
    logits = model(**inputs).logits
save_file({**{f"inputs/{name}": value for name, value in inputs.items()}, "outputs/logits": logits}, "python.safetensors")
