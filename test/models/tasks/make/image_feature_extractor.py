import numpy as np
import torch
from transformers import (
    AutoModel, BitImageProcessor, ConvNextConfig, ConvNextImageProcessor, Dinov2Config, ViTConfig, ViTImageProcessor,
)

from common import answers, export, photo, spread
from image_classifier import CROPPED, SIDE, TRANSFORMER


def unit(vector):
    return vector / np.linalg.norm(vector)


# The vector of each kind: of a vision transformer the first token's, as DINOv2 and ViT are used; of maps their means.
CLS = lambda outputs: outputs.last_hidden_state[0, 0]
KINDS = [
    ("features-vit", lambda: AutoModel.from_config(ViTConfig(**TRANSFORMER), add_pooling_layer=False, attn_implementation="eager"), lambda: ViTImageProcessor(size=SIDE), CLS),
    ("features-dinov2", lambda: AutoModel.from_config(Dinov2Config(**TRANSFORMER), attn_implementation="eager"), lambda: BitImageProcessor(**CROPPED), CLS),
    ("features-convnext", lambda: AutoModel.from_config(ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2)), lambda: ConvNextImageProcessor(size={"shortest_edge": 32}), lambda outputs: outputs.last_hidden_state[0].mean((1, 2))),
]


def make():
    rows = []
    for repository, model_class, processor_class, vector in KINDS:
        processor = processor_class()
        model = spread(model_class())
        export(repository, model, "feature-extraction", [processor])
        requests = []
        for size in [(61, 47), (40, 80)]:
            with torch.no_grad():
                outputs = model(**processor(photo(*size), return_tensors="pt"))
            requests.append({"input": {"photo": size}, "answer": unit(vector(outputs).numpy())})
        rows.append({"architecture": type(model).__name__, "repository": repository, "requests": requests})
    answers("image_feature_extractor", rows)
