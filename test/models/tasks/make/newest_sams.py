"""Rows of promptable_segmenter for EdgeTAM and the tracker of SAM 3, whose parts have the inputs and outputs of SAM 2's: with
transformers 5.18 and timm, called by `newest.py`. All three are published as models of videos, too, of which exporters
write the part for one image."""
from transformers import (
    EdgeTamConfig, EdgeTamMaskDecoderConfig, EdgeTamModel, EdgeTamPromptEncoderConfig, EdgeTamVideoModel, EdgeTamVisionConfig,
    Sam2ImageProcessor, Sam2Processor, Sam2VideoModel, Sam3ImageProcessor, Sam3TrackerConfig, Sam3TrackerMaskDecoderConfig, Sam3TrackerModel,
    Sam3TrackerProcessor, Sam3TrackerPromptEncoderConfig, Sam3TrackerVideoModel, Sam3VisionConfig,
)

from basics import HERE
from promptable_segmenter import BOXES, PHOTOS, PROMPTS, SIDE, export_sam2, fitting, sam2, sam2_masks
from promptable_segmenter import MARGIN as SAM2_MARGIN

# Their logits are up to a thousand, where SAM 2's here are near 1.
MARGIN = 5e-3
# A memory as small as it can be: no row asks it.
MEMORY = {
    "memory_attention_hidden_size": 32, "memory_attention_num_layers": 1, "memory_encoder_hidden_size": 32, "memory_encoder_output_channels": 16, "mask_downsampler_embed_dim": 16,
    "memory_fuser_embed_dim": 32, "memory_fuser_intermediate_dim": 32, "memory_fuser_num_layers": 1}
# A side of SAM 3's patches of 14 pixels.
SAM3_SIDE = 56
# Their defaults, with which a config is compared when it is written, are read from the Hub.
EdgeTamVisionConfig.has_no_defaults_at_init = EdgeTamConfig.has_no_defaults_at_init = EdgeTamVideoModel.config_class.has_no_defaults_at_init = True


def edgetam():
    backbone = {
        "model_type": "timm_wrapper", "architecture": "repvit_m1", "num_classes": 2,
        "model_args": {"in_chans": 3, "features_only": True, "out_indices": [0, 1, 2, 3], "embed_dim": [8, 8, 16, 16], "depth": [1, 1, 1, 1]}}
    vision = EdgeTamVisionConfig(
        backbone_config=backbone, backbone_channel_list=[16, 16, 8, 8], backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]], fpn_hidden_size=32)
    prompts = EdgeTamPromptEncoderConfig(hidden_size=32, image_size=SIDE, patch_size=16, mask_input_channels=8)
    decoder = EdgeTamMaskDecoderConfig(hidden_size=32, mlp_dim=24, num_attention_heads=2, iou_head_hidden_dim=16)
    return EdgeTamModel(EdgeTamConfig(vision_config=vision, prompt_encoder_config=prompts, mask_decoder_config=decoder))


def sam3_tracker():
    backbone = {
        "model_type": "sam3_vit_model", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": SAM3_SIDE, "pretrain_image_size": SAM3_SIDE,
        "window_size": 2, "global_attn_indexes": [1]}
    vision = Sam3VisionConfig(backbone_config=backbone, fpn_hidden_size=32, backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]])
    prompts = Sam3TrackerPromptEncoderConfig(hidden_size=32, image_size=SAM3_SIDE, mask_input_channels=8)
    decoder = Sam3TrackerMaskDecoderConfig(hidden_size=32, mlp_dim=24, num_attention_heads=2, iou_head_hidden_dim=16)
    return Sam3TrackerModel(Sam3TrackerConfig(vision_config=vision, prompt_encoder_config=prompts, mask_decoder_config=decoder))


def processor_of(processor_class, image_class, side):
    square = lambda length: {"height": length, "width": length}
    return processor_class(image_class(size=square(side), mask_size=square(side // 4)))


def of_videos(build, model_class):
    """A function that makes a model of videos, whose part for images is as `build` has it."""
    def make():
        own = build().config
        parts = {name: getattr(own, name) for name in ("vision_config", "prompt_encoder_config", "mask_decoder_config")}
        return model_class(model_class.config_class(**parts, **MEMORY))

    return make


def of_images(build):
    """A function that returns the part for images of a model of videos, whose weights have the same names."""
    def read(model):
        part = build()
        missing, _ = part.load_state_dict(model.state_dict(), strict=False)
        if missing:
            raise SystemExit(f"{type(model).__name__} has none of {missing}.")
        return part.eval()

    return read


def newest_rows():
    rows = []
    sam2_processor = processor_of(Sam2Processor, Sam2ImageProcessor, SIDE)
    sam3_processor = processor_of(Sam3TrackerProcessor, Sam3ImageProcessor, SAM3_SIDE)
    for repository, build, processor, margin, video_class in [
        ("prompt-edgetam", edgetam, sam2_processor, MARGIN, None),
        ("prompt-sam3-tracker", sam3_tracker, sam3_processor, MARGIN, None),
        ("prompt-edgetam-video", edgetam, sam2_processor, MARGIN, EdgeTamVideoModel),
        ("prompt-sam2-video", sam2, sam2_processor, SAM2_MARGIN, Sam2VideoModel),
        ("prompt-sam3-tracker-video", sam3_tracker, sam3_processor, MARGIN, Sam3TrackerVideoModel),
    ]:
        whole = of_videos(build, video_class) if video_class else build
        half = {"half": of_images(build)} if video_class else {}
        model, asked = fitting(whole, lambda model, *given: sam2_masks(model, processor, *given), [PROMPTS[1], BOXES[2]], margin, **half)
        export_sam2(repository, model, processor)
        if video_class:
            config = whole().config
            config.architectures = [video_class.__name__]
            config.save_pretrained(HERE / repository)
        # Of the photo with the most masks: they have many runs.
        photos = [asked[at : at + len(asked) // len(PHOTOS)] for at in range(0, len(asked), len(asked) // len(PHOTOS))]
        asked = max(photos, key=lambda requests: sum(len(request["answer"]) > 0 for request in requests))
        # The rows of videos have the same graphs: one request shows that they open.
        rows.append({"architecture": (video_class or type(model)).__name__, "repository": repository, "requests": asked[:1] if video_class else asked})
    return rows
