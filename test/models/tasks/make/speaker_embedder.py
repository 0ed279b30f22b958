"""Vectors of speakers, with random weights: transformers' classes, and small models with the features of WeSpeaker and 3D-Speaker, which torchaudio computes."""
import json
import pathlib
import shutil
import tempfile

import onnx
import torch
import torchaudio.compliance.kaldi as kaldi
import transformers
from transformers import Wav2Vec2BertConfig, Wav2Vec2BertForXVector, Wav2Vec2FeatureExtractor

from basics import HERE, RATE, sound
from common import answers, export, kebab, spread, strip
from seeded import store
from speech_recognizer import BERT, MODELS, SIZES, bert_features, export_bert

FAMILIES = {model_class.__name__.removesuffix("ForCTC"): fields for _, model_class, _, _, fields, _, _ in MODELS}
NAMES = ["Wav2Vec2", "WavLM", "UniSpeechSat", "Wav2Vec2Conformer", "Data2VecAudio"]
HEAD = {"tdnn_dim": (12, 12, 12, 12, 20), "xvector_output_dim": 16, "classifier_proj_size": 12}
LENGTHS = [24_000, 9_600, 40_000]
# What 3D-Speaker hears is as loud as ours; WeSpeaker's samples are those of 16 bits.
FEATURES = {"wespeaker": ("hamming", 2**15), "3d-speaker": ("povey", 1)}


class Voice(torch.nn.Module):
    """Convolutions over time and mels, and the mean and deviation of their frames, as WeSpeaker's ResNets pool them."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(1, 4, 3, stride=(1, 2), padding=1)
        self.second = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1)
        self.vector = torch.nn.Linear(6 * 20 * 2, 16)

    def forward(self, features):
        hidden = torch.relu(self.first(features[:, None]))
        hidden = torch.tanh(self.second(hidden) / 8).permute(0, 1, 3, 2).flatten(1, 2)
        deviation = (hidden.var(-1, unbiased=True) + 1e-7).sqrt()
        return self.vector(torch.cat([hidden.mean(-1), deviation], 1))


def features_of(samples, toolkit):
    window, scale = FEATURES[toolkit]
    found = kaldi.fbank(torch.tensor(samples)[None] * scale, num_mel_bins=80, frame_length=25, frame_shift=10, dither=0.0, sample_frequency=RATE, window_type=window, use_energy=False)
    return (found - found.mean(0, keepdim=True))[None]


def write_voice(model, folder, file, names):
    """Writes the graph of a `Voice`. @param names of input and output"""
    shutil.rmtree(folder, ignore_errors=True)
    path = folder / file
    path.parent.mkdir(parents=True)
    given, made = names
    with tempfile.TemporaryDirectory() as target:
        whole = pathlib.Path(target) / "model.onnx"
        torch.onnx.export(model, features_of(sound(LENGTHS[0]), "wespeaker"), whole, input_names=[given], output_names=[made], opset_version=17, dynamo=False, dynamic_axes={given: {0: "B", 1: "T"}, made: {0: "B"}})
        graph = onnx.load(whole)
    strip(graph)
    store(graph, path)


def asked(vector):
    """Requests for vectors. @param vector returns that of samples"""
    with torch.no_grad():
        found = [vector(sound(length))[0] for length in LENGTHS]
    unit = [{"input": {"sound": length}, "answer": torch.nn.functional.normalize(one, dim=0)} for length, one in zip(LENGTHS, found)]
    return [*unit, {"input": {"sound": LENGTHS[1]}, "params": {"normalize": False}, "answer": found[1]}]


def wespeaker():
    model, repository = spread(Voice()), "speaker-wespeaker"
    write_voice(model, HERE / repository, "onnx/model.onnx", ("input_features", "last_hidden_state"))
    # As onnx-community has it.
    write(HERE / repository / "config.json", {"architectures": ["WeSpeakerResNetModel"], "model_type": "wespeaker-resnet"})
    write(HERE / repository / "preprocessor_config.json", {
        "fbank_centering_span": None, "feature_extractor_type": "WeSpeakerFeatureExtractor", "min_num_frames": 9, "num_mel_bins": 80, "sampling_rate": RATE})
    return {"architecture": "WeSpeakerResNetModel", "repository": repository, "requests": asked(lambda samples: model(features_of(samples, "wespeaker")))}


def three_d_speaker():
    """An archive of a bare file: the input's name says who made it."""
    model, repository = spread(Voice(), 1), "speaker-3d-speaker"
    folder = HERE / repository
    write_voice(model, folder, "campplus.onnx", ("feature", "embedding"))
    (folder / "MAR-INF").mkdir()
    write(folder / "MAR-INF/MANIFEST.json", {"model": {"modelName": "campplus", "serializedFile": "campplus.onnx", "handler": "speaker_embedder"}})
    return {"architecture": "CAM++", "repository": repository, "requests": asked(lambda samples: model(features_of(samples, "3d-speaker")))}


def of_transformers(name):
    model_class, config_class = (getattr(transformers, name + ending) for ending in ("ForXVector", "Config"))
    config = config_class(**{**SIZES, **HEAD, **FAMILIES[name]})
    # The model's own weights of the layers before the head: with larger ones, they say little of what is heard.
    model = spread(model_class(config), 1)
    extractor = Wav2Vec2FeatureExtractor(sampling_rate=RATE, do_normalize=True, return_attention_mask=name == "WavLM")
    repository = f"speaker-{kebab(name)}"
    export(repository, model, "audio-xvector", [extractor])
    vector = lambda samples: model(**extractor(samples, sampling_rate=RATE, return_tensors="pt")).embeddings
    return {"architecture": model_class.__name__, "repository": repository, "requests": asked(vector)}


def bert():
    model = spread(Wav2Vec2BertForXVector(Wav2Vec2BertConfig(**{**BERT, **HEAD})), 1)
    extractor, repository = bert_features(), "speaker-wav2-vec2-bert"
    export_bert(repository, model, [extractor], ["embeddings"])
    vector = lambda samples: model(**extractor(samples, sampling_rate=RATE, return_tensors="pt")).embeddings
    return {"architecture": "Wav2Vec2BertForXVector", "repository": repository, "requests": asked(vector)}


def write(path, fields):
    path.write_text(json.dumps(fields, indent=2) + "\n")


def make():
    rows = [wespeaker(), three_d_speaker(), *map(of_transformers, NAMES), bert()]
    for row in rows:
        vectors = [one["answer"] for one in row["requests"][:3]]
        print(row["repository"], [round(float(vectors[0] @ one), 4) for one in vectors[1:]])
    answers("speaker_embedder", rows)
