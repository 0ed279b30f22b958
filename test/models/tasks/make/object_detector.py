"""Detectors. Their processors' own boxes are compared, where the pipeline rounds them to whole pixels; cut at the photo's edges, best first."""
import pathlib

import torch
from transformers import (
    AutoModelForObjectDetection, ConditionalDetrConfig, ConditionalDetrImageProcessor, DabDetrConfig, DeformableDetrConfig, DeformableDetrImageProcessor,
    DetrConfig, DetrImageProcessor, DFineConfig, HGNetV2Config, ResNetConfig, RTDetrConfig, RTDetrImageProcessor, RTDetrResNetConfig, RTDetrV2Config,
    TableTransformerConfig, YolosConfig, YolosImageProcessor, pipeline,
)

from common import answers, export, photo, save, spread, trace

NAMES = {0: "cat", 1: "dog", 2: "tree"}
SHORTEST = {"shortest_edge": 48, "longest_edge": 80}


def resnet():
    return ResNetConfig(embedding_size=8, hidden_sizes=[8, 8, 16], depths=[1, 1, 1], layer_type="basic", out_features=["stage3"])


def several(**fields):
    """A backbone with three sizes of maps."""
    return RTDetrResNetConfig(embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage2", "stage3", "stage4"], **fields)


def hg_net():
    return HGNetV2Config(
        stem_channels=[3, 8, 8], stage_in_channels=[8, 8, 8, 16], stage_mid_channels=[8, 8, 8, 8], stage_out_channels=[8, 8, 16, 16],
        stage_num_blocks=[1, 1, 1, 1], stage_numb_of_layers=[1, 1, 1, 1], hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1],
        embedding_size=8, out_features=["stage2", "stage3", "stage4"])


DETR = {
    "use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None, "num_queries": 8, "d_model": 16, "encoder_layers": 1,
    "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24}
RT_DETR = {
    "num_queries": 12, "d_model": 16, "encoder_hidden_dim": 16, "encoder_in_channels": [8, 16, 16], "decoder_in_channels": [16, 16, 16],
    "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "decoder_layers": 2,
    "anchor_image_size": None, "eval_size": None, "hidden_expansion": 0.5, "num_denoising": 0}
SQUARE = {"height": 64, "width": 64}
CONFIGS = [
    ("detect-detr", lambda: DetrConfig(backbone_config=resnet(), **DETR), lambda: DetrImageProcessor(size=SHORTEST)),
    ("detect-detr-padded", lambda: DetrConfig(backbone_config=resnet(), **DETR), lambda: DetrImageProcessor(size=SHORTEST, pad_size={"height": 88, "width": 96})),
    ("detect-table-transformer", lambda: TableTransformerConfig(backbone_config=resnet(), **DETR), lambda: DetrImageProcessor(size=SHORTEST)),
    ("detect-conditional-detr", lambda: ConditionalDetrConfig(backbone_config=resnet(), **DETR), lambda: ConditionalDetrImageProcessor(size=SHORTEST)),
    ("detect-dab-detr", lambda: DabDetrConfig(backbone_config=resnet(), **{**DETR, "hidden_size": 16}), lambda: ConditionalDetrImageProcessor(size=SHORTEST)),
    ("detect-deformable-detr", lambda: DeformableDetrConfig(backbone_config=several(), num_feature_levels=3, **{**DETR, "d_model": 32}), lambda: DeformableDetrImageProcessor(size=SHORTEST)),
    ("detect-yolos", lambda: YolosConfig(image_size=[48, 80], patch_size=16, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, num_detection_tokens=8, use_mid_position_embeddings=False), lambda: YolosImageProcessor(size=SHORTEST)),
    ("detect-yolos-padded", lambda: YolosConfig(image_size=[80, 96], patch_size=16, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, num_detection_tokens=8, use_mid_position_embeddings=False), lambda: YolosImageProcessor(size=SHORTEST, pad_size={"height": 80, "width": 96})),
    ("detect-rt-detr-padded", lambda: RTDetrConfig(backbone_config=several(), **RT_DETR), lambda: RTDetrImageProcessor(size=SQUARE, do_pad=True, pad_size={"height": 96, "width": 96})),
    ("detect-rt-detr", lambda: RTDetrConfig(backbone_config=several(), **RT_DETR), lambda: RTDetrImageProcessor(size=SQUARE)),
    ("detect-rt-detr-v2", lambda: RTDetrV2Config(backbone_config=several(), **RT_DETR), lambda: RTDetrImageProcessor(size=SQUARE)),
    ("detect-d-fine", lambda: DFineConfig(backbone_config=hg_net(), **RT_DETR), lambda: RTDetrImageProcessor(size=SQUARE)),
]
GPU = {"detect-yolos": ["webgpu"], "detect-yolos-padded": ["webgpu"]}
# With smaller weights these see no difference between two photos.
SCALES = {"detect-rt-detr": 0.5, "detect-rt-detr-padded": 0.5, "detect-rt-detr-v2": 0.5, "detect-d-fine": 0.4}
PHOTOS = [(61, 47), (40, 80)]
# The graph of its export is for the size of map that it was traced with.
SAME_SHAPE = {"detect-deformable-detr": [(61, 47), (122, 94)]}
# Optimum's exports of DETR have no mask of the padding.
TRACED = ("detect-detr-padded", "detect-conditional-detr", "detect-dab-detr", "detect-deformable-detr")


def traced(model, is_dynamic):
    sides = {"height": 2, "width": 3} if is_dynamic else {}
    dynamic = {
        "pixel_values": {0: "batch", **{axis: name for name, axis in sides.items()}},
        "pixel_mask": {0: "batch", **{axis - 1: name for name, axis in sides.items()}},
        "logits": {0: "batch"}, "pred_boxes": {0: "batch"}}
    inputs = {"pixel_values": torch.rand(1, 3, 48, 62), "pixel_mask": torch.ones(1, 48, 62, dtype=torch.int64)}
    return lambda _, target: trace(model, inputs, ["logits", "pred_boxes"], dynamic, pathlib.Path(target) / "model.onnx")


def cut(box, width, height):
    xmin, ymin, xmax, ymax = box.tolist()
    return {"xmin": min(max(xmin, 0), width), "ymin": min(max(ymin, 0), height), "xmax": min(max(xmax, 0), width), "ymax": min(max(ymax, 0), height)}


def threshold_of(scores):
    """How many of the ranked scores are above the widest gap of the upper half, and the middle of that gap."""
    at = max(range(2, len(scores) // 2 + 2), key=lambda at: scores[at - 1] - scores[at])
    return at, round((scores[at - 1] + scores[at]) / 2, 6)


def make():
    rows = []
    for repository, config, processor_class in CONFIGS:
        processor = processor_class()
        made = config()
        made.id2label, made.label2id = NAMES, {name: id for id, name in NAMES.items()}
        model = spread(AutoModelForObjectDetection.from_config(made, attn_implementation="eager"), scale=SCALES.get(repository, 0.3))
        if repository in TRACED:
            save(repository, model, [processor], traced(model, repository not in SAME_SHAPE))
        else:
            export(repository, model, "object-detection", [processor])
        pipe = pipeline("object-detection", model=model, image_processor=processor)
        requests = []
        for size in SAME_SHAPE.get(repository, PHOTOS):
            pipe._get_bounding_box = lambda box, size=size: cut(box, *size)
            found = sorted(pipe(photo(*size), threshold=0), key=lambda one: -one["score"])
            found = [one for one in found if one["box"]["xmin"] < one["box"]["xmax"] and one["box"]["ymin"] < one["box"]["ymax"]]
            at, threshold = threshold_of([one["score"] for one in found])
            requests.append({"input": {"photo": size}, "params": {"scoreThreshold": threshold}, "answer": found[:at]})
        rows.append({"architecture": type(model).__name__, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests})
    answers("object_detector", rows)
