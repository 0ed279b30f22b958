"""Image classifiers of more families: one maker for those that have no row of their own in `image_classifier.py`."""
import functools

import transformers
from transformers import (
    BeitImageProcessor, BitImageProcessor, CLIPImageProcessor, ConvNextImageProcessor, DeiTImageProcessor, DonutImageProcessor, LevitImageProcessor, MobileViTImageProcessor, PoolFormerImageProcessor, PvtImageProcessor,
    SegformerImageProcessor, SiglipImageProcessor, TextNetImageProcessor, ViTImageProcessor,
)
from transformers.models.mobilevitv2.modeling_mobilevitv2 import MobileViTV2Layer

# transformers 4 ignores the processor's own interpolation here, which 5 does not.
DonutImageProcessor.thumbnail = functools.partialmethod(DonutImageProcessor.thumbnail, resample=2)


def folding(self, patches, output_size):
    """MobileViTV2's, by operators that torch's exporter has."""
    batch, channels, _, _ = patches.shape
    down, across = output_size[0] // self.patch_height, output_size[1] // self.patch_width
    parts = patches.reshape(batch, channels, self.patch_height, self.patch_width, down, across)
    return parts.permute(0, 1, 4, 2, 5, 3).reshape(batch, channels, *output_size)


MobileViTV2Layer.folding = folding
SIDE = {"height": 32, "width": 32}
CROPPED = {"size": {"shortest_edge": 40}, "crop_size": SIDE}
TRANSFORMER = {"image_size": 32, "patch_size": 8, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
PYRAMID = {"image_size": 32, "depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16], "num_attention_heads": [1, 1, 2, 2], "mlp_ratios": [2, 2, 2, 2]}
WINDOWS = {"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "window_size": 4}
VISION = {"vision_config": TRANSFORMER, "text_config": {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 8, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}}
LEVIT = {"image_size": 32, "patch_size": 16, "hidden_sizes": [16, 24, 32], "num_attention_heads": [2, 3, 4], "depths": [1, 1, 1], "key_dim": [8, 8, 8]}
HG_NET = {
    "stem_channels": [3, 8, 8], "stage_in_channels": [8, 8, 8, 16], "stage_mid_channels": [8, 8, 8, 8], "stage_out_channels": [8, 8, 16, 16], "stage_num_blocks": [1, 1, 1, 1], "stage_numb_of_layers": [1, 1, 1, 1],
    "hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "embedding_size": 8}
# The class without its ending, its config, and the processor that published files name.
FAMILIES = [
    ("Bit", "Bit", {"embedding_size": 8, "num_groups": 4, "hidden_sizes": [16, 16, 32, 32], "depths": [1, 1, 1, 1]}, lambda: BitImageProcessor(**CROPPED)),
    ("CLIP", "CLIP", VISION, lambda: CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=SIDE)),
    ("Cvt", "Cvt", {"patch_sizes": [7, 3], "patch_stride": [4, 2], "patch_padding": [2, 1], "embed_dim": [8, 16], "num_heads": [1, 2], "depth": [1, 2], "mlp_ratio": [2.0, 2.0], "attention_drop_rate": [0.0, 0.0], "drop_rate": [0.0, 0.0], "drop_path_rate": [0.0, 0.0], "qkv_bias": [True, True], "cls_token": [False, True], "qkv_projection_method": ["dw_bn", "dw_bn"], "kernel_qkv": [3, 3], "padding_kv": [1, 1], "stride_kv": [2, 2], "padding_q": [1, 1], "stride_q": [1, 1]}, lambda: ConvNextImageProcessor(size={"shortest_edge": 32})),
    ("Data2VecVision", "Data2VecVision", {**TRANSFORMER, "patch_size": 16, "use_relative_position_bias": True}, lambda: BeitImageProcessor(size=SIDE, do_center_crop=False)),
    ("Dinov2WithRegisters", "Dinov2WithRegisters", {**TRANSFORMER, "num_register_tokens": 2}, lambda: BitImageProcessor(**CROPPED)),
    ("DonutSwin", "DonutSwin", WINDOWS, lambda: DonutImageProcessor(size={"height": 48, "width": 32})),
    ("FocalNet", "FocalNet", {"image_size": 32, "patch_size": 4, "embed_dim": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "focal_levels": [1, 1], "focal_windows": [3, 3], "mlp_ratio": 2.0}, lambda: BitImageProcessor(**CROPPED)),
    ("HGNetV2", "HGNetV2", HG_NET, lambda: ViTImageProcessor(size=SIDE)),
    ("IJepa", "IJepa", TRANSFORMER, lambda: ViTImageProcessor(size=SIDE)),
    ("Levit", "Levit", LEVIT, lambda: LevitImageProcessor(size={"shortest_edge": 40}, crop_size=SIDE)),
    ("MetaClip2", "MetaClip2", VISION, lambda: CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=SIDE)),
    ("MobileViTV2", "MobileViTV2", {"image_size": 64, "width_multiplier": 0.125, "n_attn_blocks": [1, 1, 1], "base_attn_unit_dims": [64, 64, 64]}, lambda: MobileViTImageProcessor(size={"shortest_edge": 72}, crop_size={"height": 64, "width": 64})),
    ("PoolFormer", "PoolFormer", {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16], "mlp_ratio": 2.0, "layer_scale_init_value": 1.0}, lambda: PoolFormerImageProcessor(size={"shortest_edge": 32}, crop_size=SIDE)),
    ("Pvt", "Pvt", {**PYRAMID, "sequence_reduction_ratios": [4, 2, 1, 1]}, lambda: PvtImageProcessor(size=SIDE)),
    ("PvtV2", "PvtV2", {**PYRAMID, "sr_ratios": [4, 2, 1, 1]}, lambda: PvtImageProcessor(size=SIDE)),
    ("Segformer", "Segformer", {**PYRAMID, "sr_ratios": [4, 2, 1, 1], "decoder_hidden_size": 16}, lambda: SegformerImageProcessor(size=SIDE)),
    ("Siglip", "Siglip", VISION, lambda: SiglipImageProcessor(size=SIDE)),
    ("SwiftFormer", "SwiftFormer", {"depths": [1, 1, 1, 1], "embed_dims": [8, 8, 16, 16], "mlp_ratio": 2, "layer_scale_init_value": 1.0}, lambda: ViTImageProcessor(size={"height": 64, "width": 64})),
    ("Swinv2", "Swinv2", {**WINDOWS, "pretrained_window_sizes": [0, 0]}, lambda: ViTImageProcessor(size=SIDE, resample=3)),
    ("TextNet", "TextNet", {"conv_layer_configs": None, "stem_num_channels": 3, "stem_out_channels": 8, "hidden_sizes": [8, 8, 8, 16, 16], "conv_layer_kernel_sizes": [[[3, 3]], [[3, 3]], [[3, 1]], [[1, 3]]], "conv_layer_strides": [[2], [2], [1], [1]], "image_size": [64, 64]}, lambda: TextNetImageProcessor(size={"shortest_edge": 50}, do_center_crop=True, crop_size={"height": 64, "width": 64})),
    ("ViTMSN", "ViTMSN", TRANSFORMER, lambda: ViTImageProcessor(size=SIDE)),
]
# With teachers, DeiT and LeViT have the mean of two heads; they are known by the ending of their class.
TAUGHT = [
    ("DeiT", "DeiT", TRANSFORMER, lambda: DeiTImageProcessor(size={"height": 40, "width": 40}, crop_size=SIDE)),
    ("Levit", "Levit", LEVIT, lambda: LevitImageProcessor(size={"shortest_edge": 40}, crop_size=SIDE)),
]


def image_families():
    """Yields each class, its config and its processor."""
    for families, ending in ((FAMILIES, "ForImageClassification"), (TAUGHT, "ForImageClassificationWithTeacher")):
        for name, config, fields, processor in families:
            yield getattr(transformers, name + ending), getattr(transformers, config + "Config"), fields, processor
