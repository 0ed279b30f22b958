"""Models that compare images with texts. The default template of the pipeline is ours."""
import pathlib

import torch
from transformers import (
    AltCLIPConfig, AutoModelForZeroShotImageClassification, ChineseCLIPConfig, ChineseCLIPImageProcessor, CLIPConfig, CLIPImageProcessor, MetaClip2Config, SiglipConfig,
    SiglipImageProcessor, pipeline,
)

from common import answers, export, photo, save, spread, tokenizer_of, trace

SIDE = {"height": 32, "width": 32}
TEXT = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION = {**TEXT, "image_size": 32, "patch_size": 8}
CROPPED = {"size": {"shortest_edge": 32}, "crop_size": SIDE}
CONFIGS = [
    ("images-clip", CLIPConfig, "clip", 77, {"projection_dim": 16}, lambda: CLIPImageProcessor(**CROPPED)),
    ("images-siglip", SiglipConfig, "unigram", 64, {}, lambda: SiglipImageProcessor(size=SIDE)),
    ("images-siglip2", SiglipConfig, "byte_level", 64, {}, lambda: SiglipImageProcessor(size=SIDE, resample=2)),
    ("images-chinese-clip", ChineseCLIPConfig, "word_piece", 52, {"projection_dim": 16}, lambda: ChineseCLIPImageProcessor(size=SIDE, do_center_crop=False)),
    ("images-alt-clip", AltCLIPConfig, "unigram", 77, {"projection_dim": 16}, lambda: CLIPImageProcessor(**CROPPED)),
    ("images-metaclip2", MetaClip2Config, "unigram", 77, {"projection_dim": 16}, lambda: CLIPImageProcessor(**CROPPED)),
]
GPU = {"images-clip": ["webgpu"]}
QUESTIONS = [
    ((61, 47), {"labels": ["a cat", "the sea", "a story about London"]}),
    ((40, 80), {"labels": ["dog", "door", "island", "lighthouse"], "hypothesisTemplate": "{} on a photo"}),
    ((40, 80), {"labels": ["naïve café"]}),
]


def model_of(config_class, kind, length, fields):
    tokenizer = tokenizer_of(kind)
    tokenizer.model_max_length = length
    if config_class is SiglipConfig:
        # As published: padding is read like any token.
        tokenizer.model_input_names = ["input_ids"]
    ids = {f"{name}_token_id": value for name in ("pad", "bos", "eos") if (value := getattr(tokenizer, f"{name}_token_id")) is not None}
    text = {**TEXT, **ids, "vocab_size": len(tokenizer), "max_position_embeddings": length}
    vision = {**VISION, **({"projection_dim": 16} if config_class is not SiglipConfig else {})}
    if config_class is not SiglipConfig:
        text["projection_dim"] = 16
    if config_class is AltCLIPConfig:
        text = {**text, "project_dim": 16, "type_vocab_size": 1, "max_position_embeddings": length + 2}
    config = config_class(text_config=text, vision_config=vision, **fields)
    return spread(AutoModelForZeroShotImageClassification.from_config(config, attn_implementation="eager")), tokenizer


def traced(model, tokenizer):
    """Optimum does not know this model."""
    inputs = {"input_ids": ..., "pixel_values": torch.randn(2, 3, 32, 32), "attention_mask": ...}
    inputs = {**inputs, **tokenizer(["a cat", "the sea"], padding=True, return_tensors="pt")}
    texts, images = {0: "texts", 1: "tokens"}, {0: "images"}
    axes = {
        "input_ids": texts, "pixel_values": images, "attention_mask": texts, "logits_per_image": {**images, 1: "texts"}, "text_embeds": {0: "texts"}, "image_embeds": images}
    return lambda _, target: trace(model, inputs, ["logits_per_image", "text_embeds", "image_embeds"], axes, pathlib.Path(target) / "model.onnx")


def make():
    rows = []
    for repository, config_class, kind, length, fields, processor_class in CONFIGS:
        processor = processor_class()
        model, tokenizer = model_of(config_class, kind, length, fields)
        if config_class in (AltCLIPConfig, MetaClip2Config):
            save(repository, model, [tokenizer, processor], traced(model, tokenizer))
        else:
            export(repository, model, "zero-shot-image-classification", [tokenizer, processor])
        pipe = pipeline("zero-shot-image-classification", model=model, tokenizer=tokenizer, image_processor=processor)
        requests = []
        for size, params in QUESTIONS:
            template = {"hypothesis_template": params["hypothesisTemplate"]} if "hypothesisTemplate" in params else {}
            found = pipe(photo(*size), candidate_labels=params["labels"], **template)
            requests.append({"input": {"photo": size}, "params": params, "answer": found})
        rows.append({"architecture": type(model).__name__, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests})
    answers("zero_shot_image_classifier", rows)
