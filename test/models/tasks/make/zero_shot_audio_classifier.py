"""CLAP with random weights: what transformers' pipeline `zero-shot-audio-classification` answers. The default template of the pipeline is ours."""
import pathlib

import torch
from transformers import ClapConfig, ClapFeatureExtractor, ClapModel, pipeline

from basics import sound
from common import answers, save, spread, tokenizer_of, trace

# Two seconds of fewer samples than CLAP hears; the sound of `basics.py` has these, at the extractor's rate.
RATE = 16_000
EXTRACTOR = {"feature_size": 32, "sampling_rate": RATE, "hop_length": 256, "max_length_s": 2, "fft_window_size": 512, "frequency_min": 50, "frequency_max": 7_500, "truncation": "rand_trunc"}
AUDIO = {
    "spec_size": 64, "window_size": 2, "num_mel_bins": 32, "hidden_size": 16, "patch_size": 4, "patch_stride": [4, 4], "patch_embeds_hidden_size": 8, "depths": [1, 1], "num_attention_heads": [2, 2],
    "num_hidden_layers": 2, "enable_fusion": False, "projection_dim": 16}
QUESTIONS = [
    (24_000, {"labels": ["a cat", "the sea", "a story about London"]}),
    (9_600, {"labels": ["dog", "door", "island", "lighthouse"], "hypothesisTemplate": "{} in a recording"}),
    (32_000, {"labels": ["naïve café", "a dog"]}),
]


def model_of(seed=0):
    tokenizer = tokenizer_of("byte_level")
    text = {
        "vocab_size": len(tokenizer), "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 160, "projection_dim": 16,
        "pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = ClapConfig(text_config=text, audio_config=AUDIO, projection_dim=16)
    config._attn_implementation = "eager"
    return spread(ClapModel(config), seed), tokenizer, ClapFeatureExtractor(**EXTRACTOR)


def traced(model, tokenizer, extractor):
    texts = tokenizer(["a cat", "the sea and a dog"], padding=True, return_tensors="pt")
    features = extractor(sound(24_000), sampling_rate=RATE, return_tensors="pt").input_features
    inputs = {"input_ids": texts.input_ids, "input_features": features.float(), "attention_mask": texts.attention_mask}
    axes = {
        "input_ids": {0: "texts", 1: "tokens"}, "attention_mask": {0: "texts", 1: "tokens"}, "input_features": {0: "sounds"}, "logits_per_audio": {0: "sounds", 1: "texts"},
        "text_embeds": {0: "texts"}, "audio_embeds": {0: "sounds"}}
    return lambda _, target: trace(model, inputs, ["logits_per_audio", "text_embeds", "audio_embeds"], axes, pathlib.Path(target) / "model.onnx")


def make():
    model, tokenizer, extractor = model_of()
    repository = "sounds-clap"
    save(repository, model, [tokenizer, extractor], traced(model, tokenizer, extractor))
    pipe = pipeline("zero-shot-audio-classification", model=model, tokenizer=tokenizer, feature_extractor=extractor)
    requests = []
    for length, params in QUESTIONS:
        template = {"hypothesis_template": params["hypothesisTemplate"]} if "hypothesisTemplate" in params else {}
        found = pipe(sound(length), candidate_labels=params["labels"], **template)
        print(found)
        requests.append({"input": {"sound": length}, "params": params, "answer": found})
    answers("zero_shot_audio_classifier", [{"architecture": "ClapModel", "repository": repository, "requests": requests}])
