import json
import pathlib
import tempfile

import numpy as np
import torch
from transformers import (
    Data2VecAudioConfig, Data2VecAudioForCTC, HubertConfig, HubertForCTC, SEWConfig, SEWForCTC, Wav2Vec2Config, Wav2Vec2CTCTokenizer,
    SEWDConfig, SEWDForCTC, UniSpeechConfig, UniSpeechForCTC, UniSpeechSatConfig, UniSpeechSatForCTC, Wav2Vec2ConformerConfig, Wav2Vec2ConformerForCTC, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC, WavLMConfig, WavLMForCTC, pipeline,
)

from basics import RATE, sound
from common import answers, export, spread

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
        requests = []
        for length, params in lengths:
            options = {}
            if "timestamps" in params:
                options["return_timestamps"] = {"word": "word", "character": "char"}[params["timestamps"]]
            if "chunkLength" in params:
                options["chunk_length_s"] = params["chunkLength"]
            found = pipe({"raw": sound(length), "sampling_rate": RATE}, **options)
            answer = {"text": found["text"]}
            if "chunks" in found:
                answer["parts"] = [{"text": one["text"], "start": one["timestamp"][0], "end": one["timestamp"][1]} for one in found["chunks"]]
            requests.append({"input": {"sound": length}, "params": params, "answer": answer})
        print(repository, seed, [(one["answer"]["text"], len(one["answer"].get("parts", []))) for one in requests])
        export(repository, model, "automatic-speech-recognition", [own, features])
        rows.append({"architecture": model_class.__name__, "repository": repository, "requests": requests})
    answers("speech_recognizer", rows)


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
