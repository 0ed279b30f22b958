import pathlib
import shutil

import onnx
import torch
from transformers import (
    DepthAnythingConfig, DepthAnythingForDepthEstimation, DepthProConfig, DepthProForDepthEstimation, DepthProImageProcessor, Dinov2Config, DPTConfig, DPTForDepthEstimation, DPTImageProcessor, GLPNConfig,
    GLPNForDepthEstimation, GLPNImageProcessor, PromptDepthAnythingConfig, PromptDepthAnythingForDepthEstimation, ZoeDepthConfig, ZoeDepthForDepthEstimation, ZoeDepthImageProcessor, BeitConfig, pipeline,
)

from common import answers, export_graph, photo, spread

DINO = {"image_size": 56, "patch_size": 14, "hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2, "mlp_ratio": 1, "reshape_hidden_states": False, "apply_layernorm": True}
NECK = {"neck_hidden_sizes": [4, 4, 8, 8], "fusion_hidden_size": 8, "reassemble_factors": [4, 2, 1, 0.5]}


def depth_anything(**fields):
    backbone = Dinov2Config(**DINO, out_features=[f"stage{index}" for index in (1, 2, 3, 4)])
    return DepthAnythingForDepthEstimation(DepthAnythingConfig(backbone_config=backbone, reassemble_hidden_size=16, patch_size=14, head_hidden_size=8, **NECK, **fields))


def dpt():
    return DPTForDepthEstimation(DPTConfig(
        hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=24, image_size=64, patch_size=16, backbone_out_indices=[0, 1, 2, 3], is_hybrid=False, add_projection=False, **NECK))


def dpt_dinov2():
    backbone = Dinov2Config(**DINO, out_features=[f"stage{index}" for index in (1, 2, 3, 4)])
    return DPTForDepthEstimation(DPTConfig(backbone_config=backbone, hidden_size=16, patch_size=14, is_hybrid=False, use_batch_norm_in_fusion_residual=False, add_projection=False, **NECK))


def glpn():
    return GLPNForDepthEstimation(GLPNConfig(depths=[1, 1, 1, 1], hidden_sizes=[8, 8, 16, 16], num_attention_heads=[1, 1, 2, 2], mlp_ratios=[1, 1, 1, 1], decoder_hidden_size=8))


def prompt_depth_anything():
    """The model of which a coarse map of depths may be an input, without it."""
    backbone = Dinov2Config(**DINO, out_features=[f"stage{index}" for index in (1, 2, 3, 4)])
    return PromptDepthAnythingForDepthEstimation(PromptDepthAnythingConfig(backbone_config=backbone, reassemble_hidden_size=16, patch_size=14, head_hidden_size=8, **NECK))


def zoedepth():
    backbone = BeitConfig(
        image_size=64, patch_size=16, hidden_size=16, num_hidden_layers=4, num_attention_heads=2, intermediate_size=24, use_relative_position_bias=True, reshape_hidden_states=False,
        out_features=[f"stage{index}" for index in (1, 2, 3, 4)])
    return ZoeDepthForDepthEstimation(ZoeDepthConfig(
        backbone_config=backbone, backbone_hidden_size=16, bottleneck_features=8, num_relative_features=8, bin_embedding_dim=8, num_attractors=[4, 2, 2, 1], patch_transformer_hidden_size=16,
        patch_transformer_intermediate_size=16, patch_transformer_num_attention_heads=2, **{**NECK, "neck_hidden_sizes": [8, 8, 8, 8]},
        bin_configurations=[{"n_bins": 8, "min_depth": 0.001, "max_depth": 10.0, "name": "nyu"}]))


ENCODER = {"model_type": "dinov2", "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "mlp_ratio": 1, "patch_size": 4, "image_size": 32, "use_mask_token": False, "apply_layernorm": False, "reshape_hidden_states": False}


def depth_pro():
    return DepthProForDepthEstimation(DepthProConfig(
        fusion_hidden_size=8, patch_size=32, intermediate_hook_ids=[1, 0], intermediate_feature_dims=[8, 8], scaled_images_ratios=[0.25, 0.5, 1.0], scaled_images_overlap_ratios=[0.0, 0.5, 0.25],
        scaled_images_feature_dims=[8, 8, 8], use_fov_model=True, num_fov_head_layers=0, image_model_config=ENCODER, patch_model_config=ENCODER, fov_model_config=ENCODER))


KEPT = {"keep_aspect_ratio": True, "ensure_multiple_of": 14, "size": {"height": 56, "width": 56}}
MODELS = [
    ("depth-anything", depth_anything, lambda: DPTImageProcessor(**KEPT), 0.15),
    ("depth-anything-v2-metric", lambda: depth_anything(depth_estimation_type="metric", max_depth=20), lambda: DPTImageProcessor(**KEPT), 0.15),
    ("depth-prompt-depth-anything", prompt_depth_anything, lambda: DPTImageProcessor(**KEPT), 0.15),
    ("depth-dpt", dpt, lambda: DPTImageProcessor(size={"height": 64, "width": 64}), 0.15),
    ("depth-dpt-dinov2", dpt_dinov2, lambda: DPTImageProcessor(do_resize=False, do_pad=True, size_divisor=14), 0.15),
    ("depth-glpn", glpn, GLPNImageProcessor, 0.3),
    ("depth-pro", depth_pro, lambda: DepthProImageProcessor(size={"height": 128, "width": 128}), 0.15),
    ("depth-zoedepth", zoedepth, lambda: ZoeDepthImageProcessor(size={"height": 64, "width": 64}), 0.15),
]
GPU = {"depth-glpn": ["webgpu"]}


def make():
    rows = []
    for repository, build, processor_class, scale in MODELS:
        processor = processor_class()
        # The first weights of DepthPro whose map has no 0, and a view of about 50 degrees.
        model = spread(build(), 4 if repository == "depth-pro" else 0, scale=scale)
        if repository == "depth-pro":
            model.fov_model.head.layers[-1].bias.data.fill_(50)
        pipe = pipeline("depth-estimation", model=model, image_processor=processor)
        example = processor(photo(45, 34), return_tensors="pt")["pixel_values"]
        export_graph(repository, model, [processor], example, ["predicted_depth", *(["field_of_view"] if repository == "depth-pro" else [])], fixed=repository == "depth-pro")
        requests = []
        # The exporter fixes the grid of patches.
        for size in [(45, 34), (50, 36)]:
            depth = pipe(photo(*size))["predicted_depth"].detach().float()
            requests.append({"input": {"photo": size}, "answer": {"width": size[0], "height": size[1], "depth": [float(f"{value:.7g}") for value in depth.flatten()], "min": depth.min().item(), "max": depth.max().item()}})
        rows.append({"architecture": type(model).__name__, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests})
    answers("depth_estimator", rows)
