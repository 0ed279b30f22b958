"""The two parts of CLAP, as Xenova's exports have them."""
import pathlib

import torch
from transformers import ClapAudioModelWithProjection, ClapTextModelWithProjection

from basics import sound
from common import answers, save, trace
from zero_shot_audio_classifier import RATE, model_of

TEXTS = ["a cat on the mat", "the sea"]
LENGTHS = [24_000, 9_600, 32_000]


def parts(model, tokenizer, extractor):
    """Writes text_model.onnx and audio_model.onnx, with the weights of the whole model."""

    def write(_, target):
        folder = pathlib.Path(target)
        text, audio = ClapTextModelWithProjection(model.config.text_config), ClapAudioModelWithProjection(model.config.audio_config)
        for part in (text, audio):
            missing, _ = part.load_state_dict(model.state_dict(), strict=False)
            assert not missing, missing
            part.eval()
        encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
        rows = {0: "batch_size", 1: "sequence_length"}
        names = ["input_ids", "attention_mask"]
        trace(text, {name: encoded[name] for name in names}, ["text_embeds"], {**{name: rows for name in names}, "text_embeds": {0: "batch_size"}}, folder / "text_model.onnx")
        features = extractor(sound(LENGTHS[0]), sampling_rate=RATE, return_tensors="pt").input_features.float()
        trace(audio, {"input_features": features}, ["audio_embeds"], {"input_features": {0: "batch_size"}, "audio_embeds": {0: "batch_size"}}, folder / "audio_model.onnx")

    return write


def make():
    repository = "embed-clap"
    model, tokenizer, extractor = model_of(1)
    save(repository, model, [tokenizer, extractor], parts(model, tokenizer, extractor))
    requests = []
    with torch.no_grad():
        for text in TEXTS:
            vector = model.get_text_features(**tokenizer([text], return_tensors="pt"))
            requests.append({"input": text, "answer": torch.nn.functional.normalize(vector)[0]})
        for length in LENGTHS:
            vector = model.get_audio_features(extractor(sound(length), sampling_rate=RATE, return_tensors="pt").input_features.float())
            requests.append({"input": {"sound": length}, "answer": torch.nn.functional.normalize(vector)[0]})
    answers("audio_text_embedder", [{"architecture": "ClapModel", "repository": repository, "handler": "audio_text_embedder", "requests": requests}])
