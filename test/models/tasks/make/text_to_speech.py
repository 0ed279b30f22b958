"""Voices with random weights: VITS and SpeechT5 of transformers, and models with the inputs of Piper and of Kokoro. Noise is 0. Supertonic is in `supertonic.py`."""
import gzip
import json
import pathlib
import shutil
import tempfile
import unicodedata

import numpy as np
import onnx
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    PreTrainedTokenizerFast, SpeechT5Config, SpeechT5ForTextToSpeech, SpeechT5HifiGan, SpeechT5HifiGanConfig, VitsConfig, VitsModel, VitsTokenizer,
)
from transformers.models.speecht5.modeling_speecht5 import SpeechT5SpeechDecoderPrenet

import supertonic
from basics import HERE, answers
from common import export, save, spread, strip
from seeded import store

# Samples are few: each is a number of the file of answers.
RATE = 2_000
torch.set_num_threads(1)
LETTERS = ["k", "'", "z", "y", "u", "d", "h", "e", "s", "w", "–", "3", "c", "p", "-", "1", "j", "m", "i", " ", "f", "l", "o", "0", "b", "r", "a", "4", "2", "n", "_", "x", "v", "t", "q", "5", "6", "g"]
TWO = "The door is green. A small dog!"
# Of a duration from a whole number; with less, float32 decides.
MIN_GAP = 2e-3
SIZES = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 24, "flow_size": 8, "spectrogram_bins": 9, "upsample_initial_channel": 16, "upsample_rates": [3, 2],
    "upsample_kernel_sizes": [5, 4], "resblock_kernel_sizes": [3], "resblock_dilation_sizes": [[1, 2]], "prior_encoder_num_flows": 2, "prior_encoder_num_wavenet_layers": 2,
    "posterior_encoder_num_wavenet_layers": 1, "depth_separable_num_layers": 2, "duration_predictor_flow_bins": 6, "duration_predictor_filter_channels": 16, "duration_predictor_num_flows": 2,
    "window_size": 2, "sampling_rate": RATE, "noise_scale": 0.0, "noise_scale_duration": 0.0,
}


def spoken(parts, rate, **more):
    """The answer for parts: (text, samples)."""
    times, at = [], 0
    for text, samples in parts:
        times.append({"text": text, "start": at / rate, "end": (at + len(samples)) / rate})
        at += len(samples)
    samples = [round(float(one), 6) for _, all in parts for one in all]
    return {"audio": {"samples": samples, "sampleRate": rate}, "parts": times, **more}


def row(name, repository, requests):
    print(repository, [len(one["answer"]["audio"]["samples"]) for one in requests])
    return {"architecture": name, "repository": repository, "requests": requests}


class Ceil:
    """Keeps what is rounded up."""

    def __enter__(self):
        self.seen, self.own = [], torch.ceil
        torch.ceil = lambda value: (self.seen.append(value.detach().clone()), self.own(value))[1]
        return self

    def __exit__(self, *_):
        torch.ceil = self.own

    def is_clear(self):
        """Whether the durations are of several kinds, and none depends on rounding."""
        values = torch.cat([one.flatten() for one in self.seen])
        return values.max() < 6 and values.ceil().unique().numel() > 1 and (values - values.round()).abs().min() > MIN_GAP


def vits_tokenizer(letters, **settings):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "vocab.json"
        file.write_text(json.dumps({**{letter: id for id, letter in enumerate(letters)}, "<unk>": len(letters)}))
        return VitsTokenizer(file, **{"phonemize": False, "pad_token": letters[0], **settings})


def vits(repository, own, fields, texts):
    config = VitsConfig(**SIZES, vocab_size=len(own), pad_token_id=0, **fields)
    for seed in range(100):
        model = spread(VitsModel(config), seed)
        with torch.no_grad(), Ceil() as ceil:
            found = [[(part, model(**own(part, return_tensors="pt")).waveform[0].tolist()) for part in parts] for _, parts in texts]
        if ceil.is_clear():
            break
    else:
        raise SystemExit(f"{repository}: no seed")
    export(repository, model, "text-to-audio", [own])
    # It reads vocab.json, or the tokenizer.json that transformers.js' converter writes.
    return row("VitsModel", repository, [{"input": text, "answer": spoken(parts, RATE)} for (text, _), parts in zip(texts, found)])


class PiperGraph(torch.nn.Module):
    """VITS with Piper's inputs."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input, input_lengths, scales, sid):
        self.model.noise_scale, self.model.speaking_rate, self.model.noise_scale_duration = scales[0], 1 / scales[1], scales[2]
        mask = (torch.arange(input.shape[1])[None] < input_lengths[:, None]).long()
        return self.model(input, attention_mask=mask, speaker_id=sid).waveform[:, None, None]


def piper():
    repository, file = "speak-piper", "voice.onnx"
    phonemes = list(" !'(),-.:;?abcdefhijklmnopqrstuvwxyzæçðŋɐɑɔəɛɡɪɹʃʊʌˈˌː̃")
    ids = {mark: [at] for at, mark in enumerate(["_", "^", "$", *phonemes])}
    config = VitsConfig(**SIZES, vocab_size=len(ids), pad_token_id=0, num_speakers=3, speaker_embedding_size=4)
    said = "həlˈoʊ wˈɜːld. hˌaʊ ɑːɹ juː?"
    parts = ["həlˈoʊ wˈɜːld.", "hˌaʊ ɑːɹ juː?"]
    still = {"noiseScale": 0, "durationNoise": 0}
    asked = [({**still}, (1.0, 0)), ({**still, "voice": "ann", "speed": 1.25}, (1 / 1.25, 2))]

    def speak(graph, part, length, speaker):
        known = [one for one in unicodedata.normalize("NFD", part) if one in ids]
        tokens = [*ids["^"], *ids["_"], *(id for one in known for id in (*ids[one], *ids["_"])), *ids["$"]]
        return graph(torch.tensor([tokens]), torch.tensor([len(tokens)]), torch.tensor([0.0, length, 0.0]), torch.tensor([speaker]))[0, 0, 0].tolist()

    for seed in range(100):
        graph = PiperGraph(spread(VitsModel(config), seed)).eval()
        with torch.no_grad(), Ceil() as ceil:
            found = [[(part, speak(graph, part, *settings)) for part in parts] for _, settings in asked]
        if ceil.is_clear():
            break
    else:
        raise SystemExit(f"{repository}: no seed")
    folder = HERE / repository
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "MAR-INF").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as target:
        path = pathlib.Path(target) / file
        example = (torch.tensor([[1, 0, 20, 0, 2]]), torch.tensor([5]), torch.tensor([0.6, 1.0, 0.8]), torch.tensor([1]))
        torch.onnx.export(graph, example, path, input_names=["input", "input_lengths", "scales", "sid"], output_names=["output"], opset_version=17, dynamo=False, do_constant_folding=False, dynamic_axes={
            "input": {0: "batch_size", 1: "phonemes"}, "input_lengths": {0: "batch_size"}, "sid": {0: "batch_size"}, "output": {0: "batch_size", 3: "time"}})
        model = onnx.load(path)
    strip(model)
    store(model, folder / file)
    write(folder / f"{file}.json", {
        "audio": {"sample_rate": RATE}, "espeak": {"voice": "en-us"}, "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8}, "phoneme_type": "espeak", "phoneme_id_map": ids,
        "num_speakers": 3, "speaker_id_map": {"joe": 0, "may": 1, "ann": 2}})
    write(folder / "MAR-INF/MANIFEST.json", {"model": {"modelName": "voice", "serializedFile": file, "handler": "text_to_speech", "extensions": f"{file}.json"}})
    return row("Piper", repository, [{"input": {"phonemes": said}, "params": params, "answer": spoken(one, RATE)} for (params, _), one in zip(asked, found)])


class KokoroGraph(torch.nn.Module):
    """A small model with Kokoro's inputs, which tells its durations."""

    def __init__(self, size):
        super().__init__()
        self.embed = torch.nn.Embedding(size, 8)
        self.style = torch.nn.Linear(256, 8)
        self.samples = torch.nn.Linear(8, 5)

    def forward(self, input_ids, style, speed):
        durations = torch.round((input_ids[0] % 3 + 2) / speed).long()
        ends = torch.cumsum(durations, 0)
        token = (torch.arange(ends[-1])[:, None] >= ends[None]).long().sum(1)
        hidden = self.embed(input_ids[0])[token] + self.style(style)
        return torch.tanh(self.samples(torch.tanh(hidden))).reshape(1, -1), durations


def kokoro():
    repository = "speak-kokoro"
    letters = list("$;:,.!?—…\"() abcdefhijklmnopqrstuvwxyzæðŋɑɔəɛɜɡɪɹʃʊʌˈˌː")
    ids = {letter: at for at, letter in enumerate(letters)}
    graph = spread(KokoroGraph(len(letters)), 3)
    voices = {name: np.random.default_rng(seed).normal(0, 0.2, (40, 1, 256)).astype(np.float16).astype(np.float32) for name, seed in (("af_heart", 1),)}
    parts = ["həlˈoʊ wˈɜːld!", "jˈɛs ænd nˈoʊ."]

    def speak(part, voice, speed):
        tokens = [0, *(ids[one] for one in part if one in ids), 0]
        samples, durations = graph(torch.tensor([tokens]), torch.tensor(voices[voice][len(tokens) - 2]), torch.tensor([speed]))
        return samples[0].tolist(), durations.tolist()

    def words(part, durations, start):
        """By the durations of the characters; each frame has five samples. The first and the last token are marks."""
        found, at = [], start + durations[0] * 5 / 24_000
        for one, duration in zip(part, durations[1:]):
            end = at + duration * 5 / 24_000
            if one == " ":
                found.append(None)
            elif not found or found[-1] is None:
                found.append({"text": one, "start": at, "end": end})
            else:
                found[-1] = {"text": found[-1]["text"] + one, "start": found[-1]["start"], "end": end}
            at = end
        return [one for one in found if one]

    requests = []
    with torch.no_grad():
        for speed in (1.0, 1.6):
            found, known, at = [], [], 0
            for part in parts:
                samples, durations = speak(part, "af_heart", speed)
                known += words(part, durations, at / 24_000)
                found.append((part, samples))
                at += len(samples)
            requests.append({"input": {"phonemes": " ".join(parts)}, "params": {"voice": "af_heart", "speed": speed}, "answer": spoken(found, 24_000, words=known)})
    folder = HERE / repository
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("onnx", "voices"):
        (folder / name).mkdir(parents=True)
    with tempfile.TemporaryDirectory() as target:
        path = pathlib.Path(target) / "model.onnx"
        example = (torch.tensor([[0, 20, 21, 0]]), torch.zeros(1, 256), torch.tensor([1.0]))
        torch.onnx.export(graph, example, path, input_names=["input_ids", "style", "speed"], output_names=["waveform", "durations"], opset_version=17, dynamo=False, dynamic_axes={
            "input_ids": {1: "sequence_length"}, "waveform": {1: "num_samples"}, "durations": {0: "sequence_length"}})
        model = onnx.load(path)
    strip(model)
    store(model, folder / "onnx/model.onnx")
    for name, values in voices.items():
        (folder / f"voices/{name}.bin").write_bytes(values.tobytes())
    write(folder / "config.json", {"model_type": "style_text_to_speech_2"})
    tokenizer = json.dumps({"version": "1.0", "added_tokens": [], "model": {"vocab": ids}}, ensure_ascii=False).encode()
    (folder / "tokenizer.json").write_bytes(tokenizer)
    # Git ignores it beside its `.gz`.
    (folder / "tokenizer.json.gz").write_bytes(gzip.compress(tokenizer, 9, mtime=0))
    return row("StyleTextToSpeech2Model", repository, requests)


def speech_tokenizer():
    """SpeechT5's, as transformers.js' converter writes it: pieces of one character."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *"etaonihsrdlumwcfgypbvk'xjqz.,!?THAI"]
    inner = Tokenizer(models.Unigram([(piece, -float(at)) for at, piece in enumerate(pieces)], unk_id=3))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    inner.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>", model_max_length=40)


def speech_t5():
    from optimum.exporters.onnx import main_export
    from optimum.onnx import merge_decoders

    # With a probability of 0, transformers leaves out all numbers; Optimum's export leaves out none.
    SpeechT5SpeechDecoderPrenet._consistent_dropout = lambda self, numbers, p: numbers
    repository, own, speaker = "speak-speecht5", speech_tokenizer(), [round(0.3 * (-1) ** at * (at % 5), 2) for at in range(8)]
    config = SpeechT5Config(
        vocab_size=len(own), hidden_size=16, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=24, decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=24, num_mel_bins=6,
        speech_decoder_prenet_layers=2, speech_decoder_prenet_units=12, speech_decoder_prenet_dropout=0.0, speaker_embedding_dim=8, speech_decoder_postnet_layers=2, speech_decoder_postnet_units=8,
        speech_decoder_postnet_kernel=3, reduction_factor=2, max_speech_positions=400, max_text_positions=60, encoder_max_relative_position=8, conv_dim=(8,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
        pad_token_id=1, bos_token_id=0, eos_token_id=2)
    vocoder = SpeechT5HifiGan(SpeechT5HifiGanConfig(model_in_dim=6, sampling_rate=16_000, upsample_initial_channel=8, upsample_rates=[3, 2], upsample_kernel_sizes=[5, 4], resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 2]]))
    vocoder = spread(vocoder, 1)
    asked = [("The door is green.", ["The door is green."]), (TWO, ["The door is green.", "A small dog!"])]
    for seed in range(300):
        model = spread(SpeechT5ForTextToSpeech(config), seed, scale=0.5)
        with torch.no_grad():
            # Random weights hardly change their minds.
            model.speech_decoder_postnet.prob_out.weight.mul_(8)
            chances = [chances_of_end(model, own, part, speaker) for part in asked[1][1]]
        threshold = clear_threshold(chances)
        if threshold:
            break
    else:
        raise SystemExit(f"{repository}: no seed")
    print(seed, threshold)
    with torch.no_grad():
        found = [[(part, speak(model, vocoder, own, part, speaker, threshold).tolist()) for part in parts] for _, parts in asked]
    with tempfile.TemporaryDirectory() as folder:
        vocoder.save_pretrained(folder)

        def to_onnx(source, target):
            main_export(source, target, task="text-to-audio", do_validation=False, device="cpu", model_kwargs={"vocoder": folder})
            parts = [pathlib.Path(target) / f"{name}.onnx" for name in ("decoder_model", "decoder_with_past_model")]
            # As transformers.js' converter does it.
            merge_decoders(*parts, save_path=pathlib.Path(target) / "decoder_model_merged.onnx", strict=False)
            for part in parts:
                part.unlink()

        save(repository, model, [own], to_onnx)
    # The vector is in the repository; the second request has its own.
    (HERE / repository / "speaker_embeddings.bin").write_bytes(np.float32(speaker).tobytes())
    params = [{"threshold": threshold}, {"threshold": threshold, "speakerEmbedding": speaker}]
    return row("SpeechT5ForTextToSpeech", repository, [{"input": text, "params": one, "answer": spoken(parts, 16_000)} for (text, _), parts, one in zip(asked, found, params)])


def chances_of_end(model, own, part, speaker):
    """The sum of the probabilities of the end at each step."""
    seen = []
    hook = model.speech_decoder_postnet.prob_out.register_forward_hook(lambda *given: seen.append(float(torch.sigmoid(given[-1]).sum())))
    # A sum is at most 2.
    model.generate_speech(own(part, return_tensors="pt").input_ids, torch.tensor([speaker]), threshold=3, maxlenratio=4)
    hook.remove()
    return seen


def clear_threshold(chances):
    """A threshold that ends the parts at steps that differ, and that is far from each sum before."""
    for threshold in np.arange(0.1, 1.95, 0.01):
        ends = [next((at for at, one in enumerate(each) if one >= threshold), 0) for each in chances]
        gaps = [abs(one - threshold) for each, end in zip(chances, ends) for one in each[: end + 1]]
        if min(ends) > 2 and ends[0] != ends[1] and min(gaps) > 2e-3:
            return round(float(threshold), 2)
    return None


def speak(model, vocoder, own, part, speaker, threshold):
    ids = own(part, return_tensors="pt").input_ids
    return model.generate_speech(ids, torch.tensor([speaker]), threshold=threshold, vocoder=vocoder)


def write(path, fields):
    path.write_text(json.dumps(fields, indent=1, ensure_ascii=False) + "\n")


def make():
    rows = [
        vits("speak-vits", vits_tokenizer(LETTERS), {}, [("the door is green", ["the door is green"]), (TWO, ["The door is green.", "A small dog!"])]),
        vits("speak-vits-plain", vits_tokenizer(["_", *" abcdefghijklmnoprstuvwyz", "ţ", "ă"], add_blank=False, normalize=True, language="ron"), {"use_stochastic_duration_prediction": False}, [
            ("Bună dimineața, ţară", ["Bună dimineața, ţară"])]),
        piper(), kokoro(), speech_t5(), *supertonic.make(spoken, row)]
    answers("text_to_speech", rows)
