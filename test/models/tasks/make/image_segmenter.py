import numpy as np
import torch
from transformers import (
    BeitConfig, BeitForSemanticSegmentation, BeitImageProcessor, ConvNextConfig, Data2VecVisionConfig, Data2VecVisionForSemanticSegmentation, DPTConfig, DPTForSemanticSegmentation, DPTImageProcessor,
    MobileNetV2Config, MobileNetV2ForSemanticSegmentation, MobileNetV2ImageProcessor, MobileViTConfig, MobileViTForSemanticSegmentation, MobileViTImageProcessor, MobileViTV2Config, MobileViTV2ForSemanticSegmentation, SegformerConfig,
    SegformerForSemanticSegmentation, SegformerImageProcessor, UperNetConfig, UperNetForSemanticSegmentation, pipeline,
)

import image_families  # of which MobileViTV2 is exported

from common import answers, export_graph, photo, spread

LABELS = ["wall", "sky", "tree", "road", "sea"]
NAMES = {"id2label": dict(enumerate(LABELS)), "label2id": {name: index for index, name in enumerate(LABELS)}}
SIDE = {"height": 64, "width": 64}


def segformer():
    return SegformerForSemanticSegmentation(SegformerConfig(
        depths=[1, 1, 1, 1], hidden_sizes=[8, 8, 16, 16], num_attention_heads=[1, 1, 2, 2], mlp_ratios=[1, 1, 1, 1], decoder_hidden_size=16, **NAMES))


def beit():
    return BeitForSemanticSegmentation(BeitConfig(
        image_size=64, patch_size=16, hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=24, out_indices=[1, 2, 3, 4], pool_scales=[1, 2], use_auxiliary_head=False,
        use_relative_position_bias=True, **NAMES))


def upernet():
    backbone = ConvNextConfig(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], out_features=["stage1", "stage2", "stage3", "stage4"])
    return UperNetForSemanticSegmentation(UperNetConfig(backbone_config=backbone, hidden_size=16, pool_scales=[1, 2], use_auxiliary_head=False, **NAMES))


def mobilevit():
    return MobileViTForSemanticSegmentation(MobileViTConfig(
        image_size=64, hidden_sizes=[8, 12, 16], neck_hidden_sizes=[4, 4, 8, 8, 8, 8, 16], num_attention_heads=2, expand_ratio=1.0, aspp_out_channels=16, atrous_rates=[1, 2, 3], **NAMES))


def mobilevitv2():
    return MobileViTV2ForSemanticSegmentation(MobileViTV2Config(
        image_size=64, width_multiplier=0.125, n_attn_blocks=[1, 1, 1], base_attn_unit_dims=[64, 64, 64], aspp_out_channels=16, atrous_rates=[1, 2, 3], **NAMES))


def mobilenet():
    return MobileNetV2ForSemanticSegmentation(MobileNetV2Config(image_size=64, depth_multiplier=0.1, min_depth=4, expand_ratio=2, **NAMES))


def data2vec():
    return Data2VecVisionForSemanticSegmentation(Data2VecVisionConfig(
        image_size=64, patch_size=16, hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=24, out_indices=[1, 2, 3, 4], pool_scales=[1, 2], use_auxiliary_head=False,
        use_relative_position_bias=True, **NAMES))


def dpt():
    return DPTForSemanticSegmentation(DPTConfig(
        image_size=64, patch_size=16, hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=24, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=16,
        use_auxiliary_head=False, **NAMES))


MODELS = [
    ("segment-segformer", segformer, lambda: SegformerImageProcessor(size=SIDE)),
    ("segment-beit", beit, lambda: BeitImageProcessor(size=SIDE, do_center_crop=False)),
    ("segment-upernet", upernet, lambda: SegformerImageProcessor(size=SIDE)),
    ("segment-mobilenet-v2", mobilenet, lambda: MobileNetV2ImageProcessor(size=SIDE, do_center_crop=False)),
    ("segment-mobilevit", mobilevit, lambda: MobileViTImageProcessor(size=SIDE, do_center_crop=False)),
    ("segment-mobilevitv2", mobilevitv2, lambda: MobileViTImageProcessor(size=SIDE, do_center_crop=False)),
    ("segment-data2vec-vision", data2vec, lambda: BeitImageProcessor(size=SIDE, do_center_crop=False)),
    ("segment-dpt", dpt, lambda: DPTImageProcessor(size=SIDE)),
]
# Whose sides are constants of the graph.
FIXED = {"segment-mobilenet-v2", "segment-mobilevitv2", "segment-beit", "segment-upernet", "segment-data2vec-vision", "segment-dpt"}
GPU = {"segment-segformer": ["webgpu"]}


def make():
    rows = []
    for repository, build, processor_class in MODELS:
        processor = processor_class()
        # The first weights that show three classes.
        for seed in range(200):
            model = spread(build(), seed, scale=[0.35, 0.15, 0.8][seed % 3] if "mobilevit" in repository else 0.35)
            pipe = pipeline("image-segmentation", model=model, image_processor=processor)
            if len([one for one in pipe(photo(61, 47)) if (np.asarray(one["mask"]) > 0).sum() > 40]) > (1 if "mobilevit" in repository else 2):
                break
        example = processor(photo(61, 47), return_tensors="pt")["pixel_values"]
        export_graph(repository, model, [processor], example, ["logits"], fixed=repository in FIXED, is_fused=repository not in ("segment-mobilenet-v2", "segment-mobilevitv2"))
        requests = []
        for size in [(61, 47), (40, 56)]:
            image = photo(*size)
            classes = np.zeros(size[::-1], int)
            for segment in pipe(image):
                classes[np.asarray(segment["mask"]) > 0] = LABELS.index(segment["label"])
            print(repository, size, np.bincount(classes.flatten()))
            requests.append({"input": {"photo": size}, "answer": {"result": "classes", "width": size[0], "height": size[1], "labels": LABELS, "classes": classes.flatten()}})
        rows.append({"architecture": type(model).__name__, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests})
    answers("image_segmenter", rows)
