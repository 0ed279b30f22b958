import itertools
import json
import pathlib
import tempfile
import types

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    Data2VecAudioConfig, Data2VecAudioForCTC, HubertConfig, HubertForCTC, ParakeetCTCConfig, ParakeetForCTC, ParakeetTokenizerFast, SEWConfig, SEWForCTC, Wav2Vec2Config, Wav2Vec2CTCTokenizer,
    SeamlessM4TFeatureExtractor, SEWDConfig, SEWDForCTC, UniSpeechConfig, UniSpeechForCTC, UniSpeechSatConfig, UniSpeechSatForCTC, Wav2Vec2BertConfig, Wav2Vec2BertForCTC, Wav2Vec2ConformerConfig, Wav2Vec2ConformerForCTC, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC, WavLMConfig, WavLMForCTC, pipeline,
)
from transformers.audio_utils import mel_filter_bank
from transformers.models.parakeet.feature_extraction_parakeet import ParakeetFeatureExtractor

from basics import RATE, sound
from common import answers, export, save, spread, trace

import nemo_recognizers

SPECIALS = ["<pad>", "<s>", "</s>", "<unk>", "|"]
LETTERS = SPECIALS + list("ETAONIHSRDLU'.,")
# Of published models: the blank is not always the first, and not always called <pad>.
OTHERS = ["|", *list("abcdefghij"), "[UNK]", "[PAD]"]
SIZES = {
    "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "conv_dim": (8,) * 7,
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2,
}
MODELS = [
    ("speech-wav2vec2", Wav2Vec2ForCTC, Wav2Vec2Config, LETTERS, {}, {"return_attention_mask": False}, {}),
    ("speech-wav2vec2-layer", Wav2Vec2ForCTC, Wav2Vec2Config, OTHERS, {"feat_extract_norm": "layer", "do_stable_layer_norm": True}, {"return_attention_mask": True},
     {"pad_token": "[PAD]", "unk_token": "[UNK]", "bos_token": None, "eos_token": None}),
    ("speech-hubert", HubertForCTC, HubertConfig, LETTERS, {}, {"do_normalize": False}, {"do_lower_case": True}),
    ("speech-wavlm", WavLMForCTC, WavLMConfig, LETTERS, {"num_buckets": 16, "max_bucket_distance": 32}, {}, {"clean_up_tokenization_spaces": True}),
    ("speech-data2vec", Data2VecAudioForCTC, Data2VecAudioConfig, LETTERS, {"conv_pos_kernel_size": 5, "num_conv_pos_embeddings": 2}, {}, {}),
    ("speech-sew", SEWForCTC, SEWConfig, LETTERS, {"conv_dim": (8,) * 7, "conv_kernel": (10, 3, 3, 3, 3, 2, 2), "conv_stride": (5, 2, 2, 2, 2, 2, 2), "squeeze_factor": 2}, {}, {}),
    ("speech-sew-d", SEWDForCTC, SEWDConfig, LETTERS, {"conv_dim": (8,) * 7, "conv_kernel": (10, 3, 3, 3, 3, 2, 2), "conv_stride": (5, 2, 2, 2, 2, 2, 2), "squeeze_factor": 2, "max_position_embeddings": 64, "position_buckets": 16}, {}, {}),
    ("speech-unispeech", UniSpeechForCTC, UniSpeechConfig, LETTERS, {"num_ctc_classes": len(LETTERS)}, {}, {}),
    ("speech-unispeech-sat", UniSpeechSatForCTC, UniSpeechSatConfig, LETTERS, {}, {}, {}),
    ("speech-wav2vec2-conformer", Wav2Vec2ConformerForCTC, Wav2Vec2ConformerConfig, LETTERS, {"position_embeddings_type": "rotary", "conv_depthwise_kernel_size": 5}, {}, {}),
]
# Of frames of a filter bank. As published ones, it has an adapter, which halves the frames.
BERT = {
    **{key: value for key, value in SIZES.items() if not key.startswith(("conv", "num_conv"))}, "feature_projection_input_dim": 32, "conv_depthwise_kernel_size": 5,
    "left_max_position_embeddings": 8, "right_max_position_embeddings": 4, "max_source_positions": 200, "output_hidden_size": 16,
}
# Between the two likeliest letters of a frame; with less, float32 decides.
MIN_GAP = 2e-3


def make():
    rows = []
    for repository, model_class, config_class, vocabulary, fields, extractor, tokenizer in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "vocab.json"
            file.write_text(json.dumps({token: id for id, token in enumerate(vocabulary)}))
            own = Wav2Vec2CTCTokenizer(file, **{"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", **tokenizer})
        features = Wav2Vec2FeatureExtractor(**{"sampling_rate": RATE, "do_normalize": True, **extractor})
        config = config_class(**{**SIZES, "vocab_size": len(vocabulary), "pad_token_id": vocabulary.index(own.pad_token), **fields})
        for seed in range(200):
            model = spread(model_class(config), seed)
            pipe = pipeline("automatic-speech-recognition", model=model, tokenizer=own, feature_extractor=features)
            lengths = [(24_000, {}), (40_000, {"timestamps": "word"}), (40_000, {"timestamps": "character"}), (80_000, {"chunkLength": 2, "timestamps": "word"})]
            if all(is_clear(model, features, length, params.get("chunkLength")) for length, params in lengths):
                break
        else:
            raise SystemExit(f"{repository}: no seed")
        requests = [ask(pipe, length, params) for length, params in lengths]
        print(repository, seed, [(one["answer"]["text"], len(one["answer"].get("parts", []))) for one in requests])
        export(repository, model, "automatic-speech-recognition", [own, features])
        rows.append({"architecture": model_class.__name__, "repository": repository, "requests": requests})
    answers("speech_recognizer", [*rows, *wav2vec2_bert(), parakeet(), *nemo_recognizers.rows()])


def wav2vec2_bert():
    for repository, fields in [("speech-wav2vec2-bert", {"add_adapter": True}), ("speech-wav2vec2-bert-plain", {"position_embeddings_type": "rotary"})]:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "vocab.json"
            file.write_text(json.dumps({token: id for id, token in enumerate(LETTERS)}))
            own = Wav2Vec2CTCTokenizer(file, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>")
        features = bert_features()
        # The pipeline takes the ratio of a model of 80 mels: 2 · 160.
        config = Wav2Vec2BertConfig(**{**BERT, "vocab_size": len(LETTERS), "pad_token_id": 0, **fields})
        ratio = 320 * (2 if fields.get("add_adapter") else 1)
        type(config).inputs_to_logits_ratio = property(lambda _, ratio=ratio: ratio)
        for seed in range(200):
            model = spread(Wav2Vec2BertForCTC(config), seed)
            pipe = pipeline("automatic-speech-recognition", model=model, tokenizer=own, feature_extractor=features)
            lengths = [(24_000, {}), (39_900, {"timestamps": "word"}), (40_100, {"timestamps": "character"}), (80_000, {"chunkLength": 2, "timestamps": "word"})]
            if all(is_clear_bert(model, features, length, params.get("chunkLength"), ratio) for length, params in lengths):
                break
        else:
            raise SystemExit(f"{repository}: no seed")
        requests = [ask(pipe, length, params) for length, params in lengths]
        print(repository, seed, [(one["answer"]["text"], len(one["answer"].get("parts", []))) for one in requests])
        export_bert(repository, model, [own, features], ["logits"])
        yield {"architecture": "Wav2Vec2BertForCTC", "repository": repository, "requests": requests}


def parakeet():
    """The pipeline answers with the text alone: the times are the frames of a piece, by their 80 milliseconds."""
    pieces = [piece for piece in nemo_recognizers.PIECES if piece != "<blk>"]
    tokenizer = Tokenizer(models.BPE(vocab={piece: id for id, piece in enumerate([*pieces, "<pad>"])}, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    own = ParakeetTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>")
    features = features_of_parakeet()
    sizes = {key: value for key, value in SIZES.items() if not key.startswith(("conv", "num_conv"))}
    encoder = {**sizes, "num_key_value_heads": 2, "num_mel_bins": 80, "subsampling_conv_channels": 4, "conv_kernel_size": 5, "max_position_embeddings": 200, "scale_input": False}
    config = ParakeetCTCConfig(vocab_size=len(own), pad_token_id=own.pad_token_id, encoder_config=encoder)
    lengths = [24_000, 39_900, 40_100]
    for seed in range(200):
        model = spread(ParakeetForCTC(config), seed)
        if all(is_clear_bert(model, features, length, None, None) for length in lengths):
            break
    else:
        raise SystemExit("parakeet: no seed")
    pipe = pipeline("automatic-speech-recognition", model=model, tokenizer=own, feature_extractor=features)
    requests = [ask(pipe, lengths[0], {})]
    for length, kind in zip(lengths[1:], ["word", "character"]):
        inputs = features(sound(length), sampling_rate=RATE, return_tensors="pt")
        with torch.no_grad():
            ids = model(**inputs).logits[0].argmax(-1).tolist()
        parts, at = [], 0
        for id, group in itertools.groupby(ids):
            end = at + len(list(group))
            if id != own.pad_token_id:
                parts.append((own.convert_ids_to_tokens(id).replace("▁", " "), at, end))
            at = end
        shown = nemo_recognizers.parts(nemo_recognizers.words(parts) if kind == "word" else parts)
        requests.append({"input": {"sound": length}, "params": {"timestamps": kind}, "answer": {**ask(pipe, length, {})["answer"], "parts": shown}})
    print("speech-parakeet", seed, [one["answer"]["text"] for one in requests])
    save("speech-parakeet", model, [own, features], lambda _, target: trace(
        Masked(model), dict(inputs, attention_mask=inputs["attention_mask"].long()), ["logits"],
        {"input_features": {0: "batch", 1: "frames"}, "attention_mask": {0: "batch", 1: "frames"}, "logits": {0: "batch", 1: "steps"}}, pathlib.Path(target) / "model.onnx"))
    return {"architecture": "ParakeetForCTC", "repository": "speech-parakeet", "requests": requests}


class Masked(torch.nn.Module):
    """Parakeet with a mask of numbers, as onnx-community exports it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_features, attention_mask, return_dict):
        return self.model(input_features=input_features, attention_mask=attention_mask.bool(), return_dict=return_dict)


def features_of_parakeet():
    """transformers takes its filters from librosa; its own are the same."""
    filters = mel_filter_bank(257, 80, 0.0, RATE / 2, RATE, norm="slaney", mel_scale="slaney").T.astype(np.float32)
    ParakeetFeatureExtractor.__init__.__globals__["librosa"] = types.SimpleNamespace(filters=types.SimpleNamespace(mel=lambda **_: filters))
    return ParakeetFeatureExtractor(feature_size=80, sampling_rate=RATE)


def bert_features():
    return SeamlessM4TFeatureExtractor(feature_size=16, num_mel_bins=16, sampling_rate=RATE, padding_value=1)


def export_bert(repository, model, processors, outputs):
    example = processors[-1](sound(24_000), sampling_rate=RATE, return_tensors="pt")
    axes = {"input_features": {0: "batch", 1: "frames"}, "attention_mask": {0: "batch", 1: "frames"}, **{name: {0: "batch"} for name in outputs}}
    if outputs == ["logits"] and model.config.architectures == ["Wav2Vec2BertForCTC"]:
        axes["logits"][1] = "steps"
    save(repository, model, processors, lambda _, target: trace(model, dict(example), outputs, axes, pathlib.Path(target) / "model.onnx"))


def is_clear_bert(model, features, length, seconds, ratio):
    """Whether the likeliest letters are far from the next, and of several kinds."""
    whole, kinds = sound(length), set()
    size = length if seconds is None else round(seconds * RATE / ratio) * ratio
    step = size if seconds is None else size - 2 * round(seconds * RATE / 6 / ratio) * ratio
    for start in range(0, length, step):
        with torch.no_grad():
            logits = model(**features(whole[start:start + size], sampling_rate=RATE, return_tensors="pt")).logits[0]
        best = logits.topk(2).values
        if (best[:, 0] - best[:, 1]).min() < MIN_GAP:
            return False
        kinds |= set(logits.argmax(-1).tolist())
        if start + size >= length:
            break
    return len(kinds) >= 5


def ask(pipe, length, params):
    options = {}
    if "timestamps" in params:
        options["return_timestamps"] = {"word": "word", "character": "char"}[params["timestamps"]]
    if "chunkLength" in params:
        options["chunk_length_s"] = params["chunkLength"]
    found = pipe({"raw": sound(length), "sampling_rate": RATE}, **options)
    answer = {"text": found["text"]}
    if "chunks" in found:
        answer["parts"] = [{"text": one["text"], "start": one["timestamp"][0], "end": one["timestamp"][1]} for one in found["chunks"]]
    return {"input": {"sound": length}, "params": params, "answer": answer}


def is_clear(model, features, length, seconds):
    """Whether the likeliest letters are far from the next, and of several kinds."""
    whole = sound(length)
    parts = [whole] if seconds is None else [whole[start:start + seconds * RATE] for start in range(0, length, seconds * RATE * 2 // 3 // 320 * 320)]
    kinds = set()
    for part in parts:
        inputs = features(part, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True)
        if len(part) < 800:
            continue
        with torch.no_grad():
            logits = model(**inputs).logits[0]
        best = logits.topk(2).values
        if (best[:, 0] - best[:, 1]).min() < MIN_GAP:
            return False
        kinds |= set(logits.argmax(-1).tolist())
    return len(kinds) >= 6
