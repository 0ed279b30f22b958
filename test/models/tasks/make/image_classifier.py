from transformers import (
    AutoModelForImageClassification, BeitConfig, BeitImageProcessor, BitImageProcessor, ConvNextConfig, ConvNextImageProcessor,
    ConvNextV2Config, DeiTConfig, DeiTImageProcessor, Dinov2Config, EfficientNetConfig, EfficientNetImageProcessor, HieraConfig,
    MobileNetV1Config, MobileNetV1ImageProcessor, MobileNetV2Config, MobileNetV2ImageProcessor, MobileViTConfig, MobileViTImageProcessor, RegNetConfig, ResNetConfig, SwinConfig,
    TimmWrapperConfig, TimmWrapperImageProcessor, ViTConfig, ViTImageProcessor, pipeline,
)
import json
import unittest.mock

import torch

from common import HERE, answers, export, export_graph, kebab, photo, spread
from image_families import image_families

NAMES = {"id2label": {0: "cat", 1: "dog", 2: "tree", 3: "sea", 4: "house", 5: "road"}}
SIDE = {"height": 32, "width": 32}
TRANSFORMER = {"image_size": 32, "patch_size": 8, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
STAGES = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]}
CROPPED = {"size": {"shortest_edge": 40}, "crop_size": SIDE}
CONFIGS = [
    ("image-vit", ViTConfig, TRANSFORMER, lambda: ViTImageProcessor(size=SIDE)),
    ("image-deit", DeiTConfig, {**TRANSFORMER, "architectures": ["DeiTForImageClassification"]}, lambda: DeiTImageProcessor(size={"height": 40, "width": 40}, crop_size=SIDE)),
    ("image-beit", BeitConfig, {**TRANSFORMER, "patch_size": 16, "use_relative_position_bias": True, "num_hidden_layers": 1}, lambda: BeitImageProcessor(size=SIDE, do_center_crop=False)),
    ("image-swin", SwinConfig, {"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [2, 1], "num_heads": [1, 2], "window_size": 4}, lambda: ViTImageProcessor(size=SIDE, resample=3)),
    ("image-convnext", ConvNextConfig, {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2}, lambda: ConvNextImageProcessor(size={"shortest_edge": 32})),
    ("image-convnextv2", ConvNextV2Config, {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2}, lambda: ConvNextImageProcessor(size={"shortest_edge": 32}, crop_pct=0.875)),
    ("image-resnet", ResNetConfig, STAGES, lambda: ConvNextImageProcessor(size={"shortest_edge": 32}, crop_pct=0.875)),
    ("image-regnet", RegNetConfig, {**STAGES, "groups_width": 8}, lambda: ConvNextImageProcessor(size={"shortest_edge": 32}, crop_pct=0.875)),
    ("image-efficientnet", EfficientNetConfig, {"image_size": 32, "width_coefficient": 0.25, "depth_coefficient": 0.1, "hidden_dim": 320, "kernel_sizes": [3, 5], "in_channels": [32, 16], "out_channels": [16, 24], "strides": [1, 2], "num_block_repeats": [1, 1], "expand_ratios": [1, 6]}, lambda: EfficientNetImageProcessor(size=SIDE)),
    ("image-mobilenet-v1", MobileNetV1Config, {"image_size": 32, "depth_multiplier": 0.1, "min_depth": 4}, lambda: MobileNetV1ImageProcessor(**CROPPED)),
    ("image-mobilenet-v2", MobileNetV2Config, {"image_size": 32, "depth_multiplier": 0.1, "min_depth": 4, "finegrained_output": False, "expand_ratio": 2}, lambda: MobileNetV2ImageProcessor(**CROPPED)),
    ("image-mobilevit", MobileViTConfig, {"image_size": 32, "hidden_sizes": [8, 12, 16], "neck_hidden_sizes": [4, 4, 8, 8, 8, 8, 16], "num_attention_heads": 2, "expand_ratio": 1.0}, lambda: MobileViTImageProcessor(size={"shortest_edge": 40}, crop_size=SIDE)),
    ("image-dinov2", Dinov2Config, TRANSFORMER, lambda: BitImageProcessor(**CROPPED)),
    ("image-hiera", HieraConfig, {"image_size": [32, 32], "patch_kernel": [7, 7], "patch_stride": [4, 4], "patch_padding": [3, 3], "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "query_stride": [2, 2], "num_query_pool": 1, "masked_unit_size": [4, 4], "masked_unit_attention": [True, False]}, lambda: BitImageProcessor(**CROPPED)),
    ("image-several-labels", ViTConfig, {**TRANSFORMER, "problem_type": "multi_label_classification"}, lambda: ViTImageProcessor(size=SIDE)),
]
# timm's config is what says how images are prepared: transformers has no other file of it. The second has no more than timm itself writes.
TIMM = [
    ("image-timm-fastvit", "fastvit_t8", {"layers": [1, 1, 1, 1], "embed_dims": [8, 8, 16, 16], "mlp_ratios": [1, 1, 1, 1]}, {"input_size": [3, 64, 64], "crop_pct": 0.9, "interpolation": "bicubic"}, True),
    ("image-timm-resnet", "resnet18", {"channels": [8, 8, 16, 16], "layers": [1, 1, 1, 1]}, {"input_size": [3, 64, 48], "crop_pct": 0.95, "crop_mode": "squash", "interpolation": "bilinear", "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.25, 0.5]}, False),
]
GPU = {
    "image-vit": ["webgpu"], "image-bit": ["webgpu"], "image-convnext": ["webgpu"],
    **{f"image-{name}": ["webgl", "webgpu"] for name in ("resnet", "regnet")}, **{f"image-mobilenet-{name}": ["webgl"] for name in ("v1", "v2")}, "image-timm-fastvit": ["webgpu"],
}

# Of so few channels, smaller weights leave nothing of the image.
SCALES = {"image-mobilenet-v1": 0.42, "image-efficientnet": 2, "image-mobilevit": 3}
# Those whose many normalizations leave nothing of it before they have seen images.
SETTLED = ["image-efficientnet", "image-mobilenet-v2", "image-mobilevit"]
# Those whose weights, joined with normalizations, would be most of the repository.
UNFUSED = ["mobilevitv2"]
# Of some score, for two photos: with less, a row would not notice a photo that is prepared wrongly.
MIN_DIFFERENCE = 5e-3


def settle(model, sides=(32, 32)):
    """Sets the mean and the variance of each batch normalization to those of images of noise."""
    torch.manual_seed(1)
    for one in model.modules():
        if isinstance(one, torch.nn.modules.batchnorm._BatchNorm):
            one.reset_running_stats()
            one.momentum = None
    model.train()
    with torch.no_grad():
        model(torch.randn(8, 3, *sides))
    model.eval()


def requests(pipe, model):
    asked = []
    for size in [(61, 47), (40, 80)]:
        found = pipe(photo(*size), top_k=5)
        if model.config.problem_type == "multi_label_classification":
            found = [one for one in found if one["score"] >= 0.5]
        asked.append({"input": {"photo": size}, "answer": found})
    return asked


def sees(asked):
    """Whether the answers differ between two photos."""
    one, other = ({found["label"]: found["score"] for found in request["answer"]} for request in asked)
    return max(abs(one.get(label, 0) - other.get(label, 0)) for label in {*one, *other}) >= MIN_DIFFERENCE


def row(repository, architecture, pipe, model):
    asked = requests(pipe, model)
    if not sees(asked):
        raise SystemExit(f"{architecture} does not see the photo.")
    return {"architecture": architecture, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": asked}


def timm_row(repository, architecture, model_args, pretrained_cfg, has_architectures):
    torch.manual_seed(0)
    config = TimmWrapperConfig(architecture=architecture, model_args=model_args, pretrained_cfg=pretrained_cfg, **NAMES)
    model = spread(AutoModelForImageClassification.from_config(config), scale=0.3)
    processor = TimmWrapperImageProcessor(pretrained_cfg, architecture)
    export_graph(repository, model, [], torch.randn(1, *pretrained_cfg["input_size"]), ["logits"], fixed=True)
    if not has_architectures:
        path = HERE / repository / "config.json"
        own = json.loads(path.read_text())
        path.write_text(json.dumps({key: value for key, value in own.items() if key in ("architecture", "num_classes", "label_names", "pretrained_cfg")}, indent=2) + "\n")
    pipe = pipeline("image-classification", model=model, image_processor=processor)
    return row(repository, f"timm {architecture}", pipe, model)


def make():
    rows = []
    for repository, config_class, fields, processor_class in CONFIGS:
        # Biases are random, too.
        torch.manual_seed(0)
        processor = processor_class()
        model = spread(AutoModelForImageClassification.from_config(config_class(**NAMES, **fields), attn_implementation="eager"), scale=SCALES.get(repository, 0.3))
        if repository in SETTLED:
            settle(model)
        if "webgl" in GPU.get(repository, []):
            # WebGL needs fixed sizes. MobileNet's padding is computed from the image's size.
            export_graph(repository, model, [processor], torch.randn(1, 3, 32, 32), ["logits"], fixed=True, folds="mobilenet" in repository)
        else:
            export(repository, model, "image-classification", [processor])
        pipe = pipeline("image-classification", model=model, image_processor=processor)
        rows.append(row(repository, type(model).__name__, pipe, model))
    answers("image_classifier", [*rows, *(timm_row(*one) for one in TIMM)])
    answers("image_classifier", family_rows())


def family_rows():
    for model_class, config_class, fields, processor_class in image_families():
        yield family_row(model_class, config_class(**NAMES, **fields), processor_class())


def family_row(model_class, config, processor):
    """The row with the first size of weights that sees the photo, and leaves more than one class."""
    repository = f"image-{kebab(model_class.__name__.replace('ForImageClassification', ''))}"
    example = processor(photo(61, 47), return_tensors="pt")["pixel_values"]
    for scale in (0.3, 0.1, 0.03, 0.5, 0.8, 1.2, 2):
        torch.manual_seed(0)
        model = spread(model_class._from_config(config, attn_implementation="eager"), scale=scale)
        settle(model, example.shape[2:])
        pipe = pipeline("image-classification", model=model, image_processor=processor)
        asked = requests(pipe, model)
        if sees(asked) and all(request["answer"][0]["score"] < 0.999 for request in asked):
            break
    # While it is traced, DINOv2 would interpolate positions, although the photo has the model's own size.
    with unittest.mock.patch("torch.jit.is_tracing", lambda: False):
        export_graph(repository, model, [processor], example, ["logits"], fixed=True, is_fused=config.model_type not in UNFUSED)
    return row(repository, type(model).__name__, pipe, model)
