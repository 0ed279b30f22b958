"""The two parts of models that compare images with texts, as onnx-community's exports have them; MobileCLIP's text part takes no mask."""
import pathlib

import torch
from transformers import (
    CLIPConfig, CLIPImageProcessor, CLIPTextModelWithProjection, CLIPVisionModelWithProjection, SiglipConfig, SiglipImageProcessor,
    SiglipTextModel, SiglipVisionModel,
)

from common import answers, photo, save, trace
from zero_shot_image_classifier import CROPPED, SIDE, model_of

CLIP_PARTS = ((CLIPTextModelWithProjection, "text_embeds"), (CLIPVisionModelWithProjection, "image_embeds"))
SIGLIP_PARTS = ((SiglipTextModel, "pooler_output"), (SiglipVisionModel, "pooler_output"))
CONFIGS = [
    ("embed-clip", CLIPConfig, "clip", 77, {"projection_dim": 16}, lambda: CLIPImageProcessor(**CROPPED), CLIP_PARTS, ["input_ids", "attention_mask"]),
    ("embed-mobileclip", CLIPConfig, "clip", 77, {"projection_dim": 16}, lambda: CLIPImageProcessor(**CROPPED, resample=2, do_normalize=False), CLIP_PARTS, ["input_ids"]),
    ("embed-siglip", SiglipConfig, "unigram", 64, {}, lambda: SiglipImageProcessor(size=SIDE), SIGLIP_PARTS, ["input_ids"]),
]
TEXTS = ["a cat on the mat", "the sea"]
PHOTOS = [(61, 47), (40, 80)]


def parts(model, encoded, pixels, classes, names):
    """Writes text_model.onnx and vision_model.onnx, with the weights of the whole model."""
    (text_class, text_output), (vision_class, vision_output) = classes

    def write(_, target):
        folder = pathlib.Path(target)
        text, vision = text_class(model.config.text_config), vision_class(model.config.vision_config)
        for part in (text, vision):
            missing, _ = part.load_state_dict(model.state_dict(), strict=False)
            assert not missing, missing
            part.set_attn_implementation("eager")
            part.eval()
        inputs = {name: encoded[name] for name in names}
        # MobileCLIP's exports are for one number of tokens, and for photos of one size.
        is_fixed = "attention_mask" not in names and text_output == "text_embeds"
        rows = {0: "batch_size"} if is_fixed else {0: "batch_size", 1: "sequence_length"}
        trace(text, inputs, [text_output], {**{name: rows for name in names}, text_output: {0: "batch_size"}}, folder / "text_model.onnx")
        sides = {0: "batch_size"} if is_fixed else {0: "batch_size", 2: "height", 3: "width"}
        trace(vision, {"pixel_values": pixels}, [vision_output], {"pixel_values": sides, vision_output: {0: "batch_size"}}, folder / "vision_model.onnx")

    return write


def make():
    rows = []
    for repository, config_class, kind, length, fields, processor_class, classes, names in CONFIGS:
        processor = processor_class()
        model, tokenizer = model_of(config_class, kind, length, fields)
        # SigLIP reads padding, which the whole model was trained with.
        padding = {"padding": "max_length", "max_length": length} if "attention_mask" not in names else {"padding": True}
        encoded = tokenizer(TEXTS, return_tensors="pt", **padding)
        if config_class is CLIPConfig:
            # What was asked for here is not saved with it.
            tokenizer.backend_tokenizer.no_padding()
        pixels = processor(photo(*PHOTOS[0]), return_tensors="pt").pixel_values
        save(repository, model, [tokenizer, processor], parts(model, encoded, pixels, classes, names))
        requests = []
        with torch.no_grad():
            for text in TEXTS:
                vector = model.get_text_features(**tokenizer([text], return_tensors="pt", **padding))
                requests.append({"input": text, "answer": torch.nn.functional.normalize(vector)[0]})
            for size in PHOTOS:
                vector = model.get_image_features(**processor(photo(*size), return_tensors="pt"))
                requests.append({"input": {"photo": size}, "answer": torch.nn.functional.normalize(vector)[0]})
        rows.append({"architecture": type(model).__name__, "repository": repository, "handler": "image_text_embedder", "requests": requests})
    answers("image_text_embedder", rows)
