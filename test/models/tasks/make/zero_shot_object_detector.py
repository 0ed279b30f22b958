"""Detectors that read texts. Boxes as in object_detector.py."""
import pathlib

import torch
from transformers import (
    AutoModelForZeroShotObjectDetection, BertConfig, GroundingDinoConfig, GroundingDinoImageProcessor, MMGroundingDinoConfig, OwlViTConfig, OwlViTImageProcessor, Owlv2Config,
    Owlv2ImageProcessor,
    SwinConfig, pipeline,
)

from common import answers, export, photo, save, spread, tokenizer_of, trace
from object_detector import cut, threshold_of

TEXT = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
LABELS = [["a cat", "the green door"], ["dog", "the sea", "island"]]
# The graph of its trace is for one size of map, and for texts of as many tokens.
SAME_SHAPES = [(61, 47), (122, 94)]
SAME_LENGTHS = [["cat", "door"], ["dog", "island", "sea"]]


def owl(config_class, processor_class):
    tokenizer = tokenizer_of("clip")
    tokenizer.model_max_length = 16
    text = {**TEXT, "vocab_size": len(tokenizer), "max_position_embeddings": 16, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = config_class(text_config=text, vision_config={**TEXT, "image_size": 32, "patch_size": 8}, projection_dim=16)
    return config, tokenizer, processor_class(size={"height": 32, "width": 32})


def grounding_dino(config_class=GroundingDinoConfig, **padding):
    tokenizer = tokenizer_of("word_piece", has_types=True)
    text = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, pad_token_id=tokenizer.pad_token_id, **{**TEXT, "num_hidden_layers": 1})
    backbone = SwinConfig(image_size=32, embed_dim=8, depths=[1, 1], num_heads=[1, 2], window_size=4, out_indices=[1, 2])
    config = config_class(
        backbone_config=backbone, text_config=text, d_model=32, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=24, decoder_ffn_dim=24,
        encoder_attention_heads=4, decoder_attention_heads=2, num_queries=8, max_text_len=32, num_feature_levels=2, encoder_n_points=2, decoder_n_points=2)
    return config, tokenizer, GroundingDinoImageProcessor(size={"shortest_edge": 48, "longest_edge": 80}, **padding)


def traced(model, tokenizer, processor):
    texts = tokenizer(SAME_LENGTHS[0][0], return_tensors="pt")
    inputs = {**processor(photo(*SAME_SHAPES[0]), return_tensors="pt"), **texts}
    inputs = {name: inputs[name] for name in ("pixel_values", "input_ids", "token_type_ids", "attention_mask", "pixel_mask")}
    return lambda _, target: trace(model, inputs, ["logits", "pred_boxes"], {}, pathlib.Path(target) / "model.onnx")


CONFIGS = [
    ("find-owl-vit", lambda: owl(OwlViTConfig, OwlViTImageProcessor), 0.3, [(61, 47), (40, 80)], LABELS),
    ("find-owlv2", lambda: owl(Owlv2Config, Owlv2ImageProcessor), 0.3, [(61, 47), (40, 80)], LABELS),
    ("find-grounding-dino", grounding_dino, 0.15, SAME_SHAPES, SAME_LENGTHS),
    ("find-grounding-dino-padded", lambda: grounding_dino(pad_size={"height": 88, "width": 96}), 0.15, SAME_SHAPES, SAME_LENGTHS),
    ("find-mm-grounding-dino", lambda: grounding_dino(MMGroundingDinoConfig), 0.15, SAME_SHAPES, SAME_LENGTHS),
]


def make():
    rows = []
    for repository, parts, scale, sizes, labels in CONFIGS:
        config, tokenizer, processor = parts()
        torch.manual_seed(0)
        model = spread(AutoModelForZeroShotObjectDetection.from_config(config, attn_implementation="eager"), scale=scale)
        if "grounding-dino" not in repository:
            export(repository, model, "zero-shot-object-detection", [tokenizer, processor])
        else:
            save(repository, model, [tokenizer, processor], traced(model, tokenizer, processor))
        pipe = pipeline("zero-shot-object-detection", model=model, tokenizer=tokenizer, image_processor=processor)
        requests = []
        for size, names in zip(sizes, labels):
            pipe._get_bounding_box = lambda box, size=size: cut(box, *size)
            found = pipe(photo(*size), candidate_labels=names, threshold=0)
            found = [one for one in found if one["box"]["xmin"] < one["box"]["xmax"] and one["box"]["ymin"] < one["box"]["ymax"]]
            at, threshold = threshold_of([one["score"] for one in found])
            requests.append({"input": {"photo": size}, "params": {"labels": names, "scoreThreshold": threshold}, "answer": found[:at]})
        rows.append({"architecture": type(model).__name__, "repository": repository, "requests": requests})
    answers("zero_shot_object_detector", rows)
