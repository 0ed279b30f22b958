"""Small models with the inputs and outputs of Supertonic, in the files of Supertone's own repositories and of transformers.js.
The answers follow `py/helper.py` of supertone-inc/supertonic, with the noise of `src/worker/generation/gaussian.ts`.
"""
import gzip
import json
import math
import pathlib
import re
import shutil
import tempfile
import unicodedata

import numpy as np
import onnx
import onnxruntime
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from basics import HERE
from common import spread, strip
from seeded import store

RATE, CHUNK, FACTOR, LATENT = 2_000, 16, 2, 3
SIZE, CHANNELS, WIDTH = CHUNK * FACTOR, LATENT * FACTOR, 8
TEXT_STYLE, DURATION_STYLE = (4, 6), (2, 6)
PAUSE, STEPS = 0.3, 5
LETTERS = " !\"'(),-./:;<>?abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\u0301"


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(len(LETTERS), WIDTH)
        self.near = torch.nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.style = torch.nn.Linear(math.prod(TEXT_STYLE), WIDTH)

    def forward(self, text_ids, style_ttl, text_mask):
        hidden = self.embed(text_ids).transpose(1, 2) + self.style(style_ttl.flatten(1))[..., None]
        return torch.tanh(self.near(hidden * text_mask)) * text_mask


class Duration(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(len(LETTERS), 4)
        self.seconds = torch.nn.Linear(4 + math.prod(DURATION_STYLE), 1)

    def forward(self, text_ids, style_dp, text_mask):
        style = style_dp.flatten(1)[:, None].expand(-1, text_ids.shape[1], -1)
        each = torch.sigmoid(self.seconds(torch.cat([self.embed(text_ids), style], -1)))[..., 0]
        return (each * text_mask[:, 0]).sum(-1) * 0.02


class Estimator(torch.nn.Module):
    """A step of Euler's along a field of directions."""

    def __init__(self):
        super().__init__()
        self.latent = torch.nn.Conv1d(CHANNELS, WIDTH, 3, padding=1)
        self.style = torch.nn.Linear(math.prod(TEXT_STYLE), WIDTH)
        self.time = torch.nn.Linear(1, WIDTH)
        self.direction = torch.nn.Conv1d(WIDTH, CHANNELS, 1)

    def forward(self, noisy_latent, text_emb, style_ttl, text_mask, latent_mask, current_step, total_step):
        hidden = self.latent(noisy_latent * latent_mask)
        scores = torch.softmax(hidden.transpose(1, 2) @ text_emb + torch.log(text_mask), -1)
        time = self.time((current_step / total_step)[:, None]) + self.style(style_ttl.flatten(1))
        hidden = torch.tanh(hidden + (scores @ text_emb.transpose(1, 2)).transpose(1, 2) + time[..., None])
        return (noisy_latent + self.direction(hidden) / total_step[:, None, None]) * latent_mask


class Vocoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.samples = torch.nn.Conv1d(CHANNELS, SIZE, 1)

    def forward(self, latent):
        return torch.tanh(self.samples(latent)).transpose(1, 2).flatten(1)


class EncoderOfTransformersJs(torch.nn.Module):
    """The encoder, which also tells the duration."""

    def __init__(self, encoder, duration):
        super().__init__()
        self.encoder, self.duration = encoder, duration

    def forward(self, input_ids, attention_mask, style):
        mask = attention_mask[:, None].float()
        return self.encoder(input_ids, style[:, :4], mask).transpose(1, 2), self.duration(input_ids, style[:, 4:], mask)


class Denoiser(torch.nn.Module):
    def __init__(self, estimator):
        super().__init__()
        self.estimator = estimator

    def forward(self, style, noisy_latents, latent_mask, encoder_outputs, attention_mask, timestep, num_inference_steps):
        text, mask = encoder_outputs.transpose(1, 2), attention_mask[:, None].float()
        return self.estimator(noisy_latents, text, style[:, :4], mask, latent_mask[:, None].float(), timestep, num_inference_steps)


def mixed(value):
    """The finalizer of MurmurHash3."""
    value &= 0xFFFFFFFF
    value = ((value ^ (value >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    value = ((value ^ (value >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return value ^ (value >> 16)


def uniform(seed, position):
    low = mixed(mixed(seed & 0xFFFFFFFF) + mixed((seed >> 32) + 0x9E3779B9) + position)
    high = mixed(low + 0x85EBCA6B)
    return ((high >> 5) * 2**26 + (low >> 6)) / 2**53


def noise(seed, count):
    found = []
    for at in range(0, count, 2):
        radius, angle = math.sqrt(-2 * math.log(1 - uniform(seed, at))), 2 * math.pi * uniform(seed, at + 1)
        found += [radius * math.cos(angle), radius * math.sin(angle)]
    return np.array(found[:count], np.float32)


def prepared(text, language):
    text = unicodedata.normalize("NFKD", text)
    text = re.sub("[\U0001f600-\U0001f64f\U0001f300-\U0001f5ff\U0001f680-\U0001faff\u2600-\u27bf\U0001f1e6-\U0001f1ff]+", "", text)
    for marks, replaced in {"–‑—": "-", "_[]|/#→←": " ", "“”": '"', "‘’´`": "'", "♥☆♡©\\": ""}.items():
        for mark in marks:
            text = text.replace(mark, replaced)
    for expression, replaced in {"@": " at ", "e.g.,": "for example, ", "i.e.,": "that is, "}.items():
        text = text.replace(expression, replaced)
    for mark in ",.!?;:'":
        text = text.replace(f" {mark}", mark)
    for quote in "\"'":
        while quote * 2 in text:
            text = text.replace(quote * 2, quote)
    text = re.sub(r"\s+", " ", text).strip()
    if not re.search(r"[.!?;:,'\"')\]}…。」』】〉》›»]$", text):
        text += "."
    return f"<{language}>{text}</{language}>" if language else text


def speak(parts, run, language=None, speed=1.0, steps=STEPS, seed=0):
    """The samples of each part; all but the first begin with silence. @param run the four models"""
    found = []
    for part in parts:
        ids = np.array([[LETTERS.index(one) for one in prepared(part, language)]], np.int64)
        duration = run.duration(ids) / speed
        text, count = run.encoder(ids), int((duration * RATE).astype(np.int64)[0])
        assert 1e-2 < float(duration[0] * RATE) % 1 < 1 - 1e-2, "another text: float32 decides"
        columns = int(((duration.max() * RATE + SIZE - 1) / SIZE).astype(np.int32))
        latent = noise(seed, CHANNELS * columns).reshape(1, CHANNELS, columns)
        for step in range(steps):
            latent = run.estimator(latent, text, ids, np.float32([step]), np.float32([steps]))
        samples = run.vocoder(latent)[0, :count]
        silence = np.zeros(int(PAUSE * RATE) if found else 0, np.float32)
        found.append((part, np.concatenate([silence, samples]).tolist()))
    return found


class Run:
    """Runs the models of Supertone's files."""

    def __init__(self, folder, styles):
        open_model = lambda name: onnxruntime.InferenceSession(folder / f"onnx/{name}.onnx")
        self.sessions = {name: open_model(name) for name in ("duration_predictor", "text_encoder", "vector_estimator", "vocoder")}
        self.styles = styles

    def ask(self, name, **given):
        return self.sessions[name].run(None, given)[0]

    def duration(self, ids):
        return self.ask("duration_predictor", text_ids=ids, style_dp=self.styles["style_dp"], text_mask=np.ones((1, 1, ids.shape[1]), np.float32))

    def encoder(self, ids):
        return self.ask("text_encoder", text_ids=ids, style_ttl=self.styles["style_ttl"], text_mask=np.ones((1, 1, ids.shape[1]), np.float32))

    def estimator(self, latent, text, ids, step, steps):
        mask = lambda count: np.ones((1, 1, count), np.float32)
        return self.ask(
            "vector_estimator", noisy_latent=latent, text_emb=text, style_ttl=self.styles["style_ttl"], text_mask=mask(ids.shape[1]), latent_mask=mask(latent.shape[2]), current_step=step, total_step=steps)

    def vocoder(self, latent):
        return self.ask("vocoder", latent=latent)


def export(module, examples, folder, name, made, axes):
    path = folder / f"onnx/{name}.onnx"
    with tempfile.TemporaryDirectory() as target:
        whole = pathlib.Path(target) / "model.onnx"
        names = list(examples)
        torch.onnx.export(module.eval(), tuple(examples.values()), whole, input_names=names, output_names=made, opset_version=17, dynamo=False, dynamic_axes=axes)
        graph = onnx.load(whole)
    strip(graph)
    store(graph, path)


def begin(repository, *folders):
    shutil.rmtree(HERE / repository, ignore_errors=True)
    for name in folders:
        (HERE / repository / name).mkdir(parents=True)
    return HERE / repository


def write(path, fields):
    path.write_text(json.dumps(fields, ensure_ascii=False) + "\n")


def make(spoken, row):
    encoder, duration, estimator, vocoder = (spread(module, 11) for module in (Encoder(), Duration(), Estimator(), Vocoder()))
    styles = {"style_ttl": np.random.default_rng(1).normal(0, 0.5, (1, *TEXT_STYLE)), "style_dp": np.random.default_rng(2).normal(0, 0.5, (1, *DURATION_STYLE))}
    styles = {name: values.round(3).astype(np.float32) for name, values in styles.items()}
    ids, mask, columns, latent_mask = torch.tensor([[5, 6, 7]]), torch.ones(1, 1, 3), torch.zeros(1, CHANNELS, 4), torch.ones(1, 1, 4)
    ttl, dp, text, one = torch.tensor(styles["style_ttl"]), torch.tensor(styles["style_dp"]), torch.zeros(1, WIDTH, 3), torch.ones(1)

    folder = begin("speak-supertonic", "onnx", "voice_styles")
    of_text = {"text_ids": {0: "batch_size", 1: "text_length"}, "text_mask": {0: "batch_size", 2: "text_length"}}
    of_latent = {"noisy_latent": {0: "batch_size", 2: "latent_length"}, "latent_mask": {0: "batch_size", 2: "latent_length"}}
    export(duration, {"text_ids": ids, "style_dp": dp, "text_mask": mask}, folder, "duration_predictor", ["duration"], of_text)
    export(encoder, {"text_ids": ids, "style_ttl": ttl, "text_mask": mask}, folder, "text_encoder", ["text_emb"], {**of_text, "text_emb": {0: "batch_size", 2: "text_length"}})
    export(
        estimator, {"noisy_latent": columns, "text_emb": text, "style_ttl": ttl, "text_mask": mask, "latent_mask": latent_mask, "current_step": one, "total_step": one}, folder, "vector_estimator",
        ["denoised_latent"], {**of_text, **of_latent, "text_emb": {0: "batch_size", 2: "text_length"}, "denoised_latent": {0: "batch_size", 2: "latent_length"}})
    export(vocoder, {"latent": columns}, folder, "vocoder", ["wav_tts"], {"latent": {0: "batch_size", 2: "latent_length"}, "wav_tts": {0: "batch_size", 1: "wav_length"}})
    write(folder / "config.json", {"model_name": "Supertonic", "model_type": "onnx", "description": "A small model of the same form"})
    write(folder / "onnx/tts.json", {"ae": {"sample_rate": RATE, "base_chunk_size": CHUNK}, "ttl": {"chunk_compress_factor": FACTOR, "latent_dim": LATENT}})
    write(folder / "onnx/unicode_indexer.json", [LETTERS.find(chr(code)) for code in range(0x302)])
    write(folder / "voice_styles/M1.json", {name: {"dims": list(values.shape), "type": "float32", "data": values.astype(np.float64).round(3).tolist()} for name, values in styles.items()})
    run = Run(folder, styles)
    asked = [
        ("Hello there. It's 5 o'clock!", ["Hello there.", "It's 5 o'clock!"], {"language": "en", "seed": 7}),
        ("A “small” — dog, e.g., is\t@ home ♥ [x] , é 🙂", ["A “small” — dog, e.g., is\t@ home ♥ [x] , é 🙂"], {"speed": 1.25, "numInferenceSteps": 2, "seed": 3}),
        ("No", ["No"], {"voice": "M1", "seed": 2**40 + 5}),
    ]
    answer = lambda parts, params: spoken(
        speak(parts, run, params.get("language"), params.get("speed", 1.0), params.get("numInferenceSteps", STEPS), params["seed"]), RATE)
    requests = [{"input": given, "params": params, "answer": answer(parts, params)} for given, parts, params in asked]
    first = {**row("Supertonic", "speak-supertonic", requests), "handler": "text_to_speech"}

    folder = begin("speak-supertonic-js", "onnx", "voices")
    style = torch.cat([ttl, dp], 1)
    of_text = {"input_ids": {0: "batch_size", 1: "text_length"}, "attention_mask": {0: "batch_size", 1: "text_length"}}
    export(
        EncoderOfTransformersJs(encoder, duration), {"input_ids": ids, "attention_mask": torch.ones(1, 3).long(), "style": style}, folder, "text_encoder", ["last_hidden_state", "durations"],
        {**of_text, "last_hidden_state": {0: "batch_size", 1: "text_length"}})
    export(
        Denoiser(estimator), {
            "style": style, "noisy_latents": columns, "latent_mask": torch.ones(1, 4).long(), "encoder_outputs": text.transpose(1, 2), "attention_mask": torch.ones(1, 3).long(), "timestep": one,
            "num_inference_steps": one},
        folder, "latent_denoiser", ["denoised_latents"], {
            "attention_mask": of_text["attention_mask"], "noisy_latents": {0: "batch_size", 2: "latent_length"}, "latent_mask": {0: "batch_size", 1: "latent_length"},
            "encoder_outputs": {0: "batch_size", 1: "text_length"}, "denoised_latents": {0: "batch_size", 2: "latent_length"}})
    export(vocoder, {"latents": columns}, folder, "voice_decoder", ["waveform"], {"latents": {0: "batch_size", 2: "latent_length"}, "waveform": {0: "batch_size", 1: "num_samples"}})
    write(folder / "config.json", {
        "architectures": ["SupertonicForConditionalGeneration"], "model_type": "supertonic", "sampling_rate": RATE, "base_chunk_size": CHUNK, "chunk_compress_factor": FACTOR, "latent_dim": LATENT, "style_dim": 6})
    tokenizer = Tokenizer(models.WordLevel({letter: at for at, letter in enumerate(LETTERS)}, unk_token=" "))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    text = tokenizer.to_str().encode()
    (folder / "tokenizer.json").write_bytes(text)
    (folder / "tokenizer.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    write(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1000})
    (folder / "voices/M1.bin").write_bytes(style.numpy().tobytes())
    return [first, row("SupertonicForConditionalGeneration", "speak-supertonic-js", requests)]
