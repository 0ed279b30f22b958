import json

import numpy as np
import torch
from transformers import (
    AutoModel, BitImageProcessor, ConvNextConfig, ConvNextImageProcessor, Dinov2Config, DINOv3ViTConfig, DINOv3ViTImageProcessorFast, MobileNetV1Config, MobileNetV1ImageProcessor, RegNetConfig, ResNetConfig, TimmWrapperConfig, TimmWrapperImageProcessor,
    ViTConfig, ViTImageProcessor,
)

from bare_images import bare_rows
from common import HERE, answers, export, export_graph, photo, spread
from image_classifier import CROPPED, SCALES, SIDE, STAGES, TRANSFORMER


def unit(vector):
    return vector / np.linalg.norm(vector)


# The vector of each kind: of a vision transformer the first token's, as DINOv2 and ViT are used; of maps their means.
CLS = lambda outputs: outputs.last_hidden_state[0, 0]
MEAN = lambda outputs: outputs.last_hidden_state[0].mean((1, 2))
KINDS = [
    ("features-vit", lambda: AutoModel.from_config(ViTConfig(**TRANSFORMER), add_pooling_layer=False, attn_implementation="eager"), lambda: ViTImageProcessor(size=SIDE), CLS),
    ("features-dinov2", lambda: AutoModel.from_config(Dinov2Config(**TRANSFORMER), attn_implementation="eager"), lambda: BitImageProcessor(**CROPPED), CLS),
    ("features-convnext", lambda: AutoModel.from_config(ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2)), lambda: ConvNextImageProcessor(size={"shortest_edge": 32}), MEAN),
]
# Optimum does not export this one.
DINOV3 = ("features-dinov3", lambda: AutoModel.from_config(DINOv3ViTConfig(**TRANSFORMER, num_register_tokens=2), attn_implementation="eager"), lambda: DINOv3ViTImageProcessorFast(size=SIDE), CLS)
# WebGL needs fixed sizes.
WEBGL = [
    ("features-resnet", lambda: AutoModel.from_config(ResNetConfig(**STAGES)), lambda: ConvNextImageProcessor(size={"shortest_edge": 32}, crop_pct=0.875), MEAN),
    ("features-regnet", lambda: AutoModel.from_config(RegNetConfig(**STAGES, groups_width=8)), lambda: ConvNextImageProcessor(size={"shortest_edge": 32}, crop_pct=0.875), MEAN),
    ("features-mobilenet-v1", lambda: AutoModel.from_config(MobileNetV1Config(image_size=32, depth_multiplier=0.1, min_depth=4)), lambda: MobileNetV1ImageProcessor(**CROPPED), MEAN),
]


# A model of timm without classes: its output is the pooled vector, and only its config.json says how images are prepared.
TIMM = {"input_size": [3, 32, 32], "crop_pct": 0.875, "interpolation": "bicubic"}


def timm_row():
    torch.manual_seed(0)
    config = TimmWrapperConfig(architecture="resnet18", model_args={"channels": [8, 8, 16, 16], "layers": [1, 1, 1, 1]}, pretrained_cfg=TIMM, num_labels=0)
    model = spread(AutoModel.from_config(config), scale=0.2)
    processor = TimmWrapperImageProcessor(TIMM, "resnet18")
    export_graph("features-timm-resnet", model, [], torch.randn(1, 3, 32, 32), ["pooler_output"], fixed=True)
    path = HERE / "features-timm-resnet/config.json"
    own = json.loads(path.read_text())
    path.write_text(json.dumps({key: own[key] for key in ("architecture", "num_classes", "pretrained_cfg")}, indent=2) + "\n")
    requests = []
    for size in [(61, 47), (40, 80)]:
        with torch.no_grad():
            vector = model(processor(photo(*size))["pixel_values"]).pooler_output[0]
        requests.append({"input": {"photo": size}, "answer": unit(vector.numpy())})
    return {"architecture": "timm resnet18", "repository": "features-timm-resnet", "requests": requests}


def make():
    rows = []
    for repository, model_class, processor_class, vector in [*KINDS, DINOV3, *WEBGL]:
        processor = processor_class()
        # Of so few channels, smaller weights leave nothing of the image.
        model = spread(model_class(), scale=SCALES.get(repository.replace("features", "image"), 0.3))
        gpu = {}
        if any(repository == one[0] for one in WEBGL):
            gpu = {"gpu": ["webgl"]}
            export_graph(repository, model, [processor], torch.randn(1, 3, 32, 32), ["last_hidden_state"], fixed=True, folds="mobilenet" in repository)
        elif repository == "features-dinov3":
            export_graph(repository, model, [processor], torch.randn(1, 3, 32, 32), ["last_hidden_state"], fixed=True)
        else:
            export(repository, model, "feature-extraction", [processor])
        requests = []
        for size in [(61, 47), (40, 80)]:
            with torch.no_grad():
                outputs = model(**processor(photo(*size), return_tensors="pt"))
            requests.append({"input": {"photo": size}, "answer": unit(vector(outputs).numpy())})
        rows.append({"architecture": type(model).__name__, "repository": repository, **gpu, "requests": requests})
    answers("image_feature_extractor", [*rows, timm_row(), *bare_rows()])
