from transformers import (
    AutoModelForImageClassification, BeitConfig, BeitImageProcessor, BitImageProcessor, ConvNextConfig, ConvNextImageProcessor,
    ConvNextV2Config, DeiTConfig, DeiTImageProcessor, Dinov2Config, EfficientNetConfig, EfficientNetImageProcessor, HieraConfig,
    MobileNetV2Config, MobileNetV2ImageProcessor, MobileViTConfig, MobileViTImageProcessor, RegNetConfig, ResNetConfig, SwinConfig,
    ViTConfig, ViTImageProcessor, pipeline,
)

from common import answers, export, photo, spread

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
    ("image-mobilenet-v2", MobileNetV2Config, {"image_size": 32, "depth_multiplier": 0.1, "min_depth": 4, "finegrained_output": False, "expand_ratio": 2}, lambda: MobileNetV2ImageProcessor(**CROPPED)),
    ("image-mobilevit", MobileViTConfig, {"image_size": 32, "hidden_sizes": [8, 12, 16], "neck_hidden_sizes": [4, 4, 8, 8, 8, 8, 16], "num_attention_heads": 2, "expand_ratio": 1.0}, lambda: MobileViTImageProcessor(size={"shortest_edge": 40}, crop_size=SIDE)),
    ("image-dinov2", Dinov2Config, TRANSFORMER, lambda: BitImageProcessor(**CROPPED)),
    ("image-hiera", HieraConfig, {"image_size": [32, 32], "patch_kernel": [7, 7], "patch_stride": [4, 4], "patch_padding": [3, 3], "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "query_stride": [2, 2], "num_query_pool": 1, "masked_unit_size": [4, 4], "masked_unit_attention": [True, False]}, lambda: BitImageProcessor(**CROPPED)),
    ("image-several-labels", ViTConfig, {**TRANSFORMER, "problem_type": "multi_label_classification"}, lambda: ViTImageProcessor(size=SIDE)),
]
GPU = {"image-vit": ["webgpu"], "image-convnext": ["webgpu"]}


def make():
    rows = []
    for repository, config_class, fields, processor_class in CONFIGS:
        processor = processor_class()
        model = spread(AutoModelForImageClassification.from_config(config_class(**NAMES, **fields), attn_implementation="eager"))
        export(repository, model, "image-classification", [processor])
        pipe = pipeline("image-classification", model=model, image_processor=processor)
        requests = []
        for size in [(61, 47), (40, 80)]:
            found = pipe(photo(*size), top_k=5)
            if model.config.problem_type == "multi_label_classification":
                found = [one for one in found if one["score"] >= 0.5]
            requests.append({"input": {"photo": size}, "answer": found})
        rows.append({"architecture": type(model).__name__, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests})
    answers("image_classifier", rows)
