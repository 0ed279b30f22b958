"""Classifiers of sound with random weights: what transformers' pipeline `audio-classification` answers."""
import torch
import transformers
from transformers import ASTConfig, ASTFeatureExtractor, ASTForAudioClassification, Wav2Vec2FeatureExtractor, Wav2Vec2BertConfig, Wav2Vec2BertForSequenceClassification, WhisperConfig, WhisperFeatureExtractor, WhisperForAudioClassification, pipeline

from basics import RATE, sound
from common import answers, export, export_graph, kebab, spread
from speech_recognizer import BERT, MODELS, SIZES, bert_features, export_bert

LABELS = ["yes", "no", "up", "down", "left", "right", "silence"]
# Those of `speech_recognizer`, with its fields, in another order: (class, own fields, fields of the extractor).
FAMILIES = {model_class.__name__.removesuffix("ForCTC"): fields for _, model_class, _, _, fields, _, _ in MODELS}
EXTRACTORS = {"Hubert": {"do_normalize": False}, "WavLM": {"return_attention_mask": True}}
SEVERAL = {"problem_type": "multi_label_classification"}
# 1.5 seconds, 0.6 seconds, and longer than the windows of the spectrograms below.
LENGTHS = [24_000, 9_600, 80_000]
# Between two scores; with less, float32 decides.
MIN_GAP = 1e-3


def named():
    return {"num_labels": len(LABELS), "id2label": dict(enumerate(LABELS)), "label2id": {label: id for id, label in enumerate(LABELS)}}


def models():
    """Yields the name of a repository, a function that makes a model, what makes its features, and the export."""
    for name, fields in FAMILIES.items():
        model_class, config_class = (getattr(transformers, name + ending) for ending in ("ForSequenceClassification", "Config"))
        config = config_class(**{**SIZES, "classifier_proj_size": 12, **fields, **named()})
        extractor = Wav2Vec2FeatureExtractor(sampling_rate=RATE, **EXTRACTORS.get(name, {"do_normalize": True}))
        yield f"sound-{kebab(name)}", lambda model_class=model_class, config=config: model_class(config), extractor, by_optimum
    for suffix, problem in (("", {}), ("-several-labels", SEVERAL)):
        config = ASTConfig(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, num_mel_bins=32, max_length=120, **named(), **problem)
        yield f"sound-ast{suffix}", lambda config=config: ASTForAudioClassification(config), ASTFeatureExtractor(num_mel_bins=32, max_length=120, mean=-4.2, std=4.5), by_optimum
    config = WhisperConfig(
        vocab_size=64, num_mel_bins=80, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24,
        max_source_positions=200, pad_token_id=1, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3, begin_suppress_tokens=None, classifier_proj_size=12, **named())
    yield "sound-whisper", lambda: WhisperForAudioClassification(config), WhisperFeatureExtractor(feature_size=80, chunk_length=4), by_torch


    config = Wav2Vec2BertConfig(**{**BERT, "classifier_proj_size": 12, **named()})
    yield "sound-wav2-vec2-bert", lambda: Wav2Vec2BertForSequenceClassification(config), bert_features(), lambda *given: export_bert(*given[:2], [given[2]], ["logits"])


def by_optimum(repository, model, extractor):
    export(repository, model, "audio-classification", [extractor])


def by_torch(repository, model, extractor):
    example = extractor(sound(LENGTHS[0]), sampling_rate=RATE, return_tensors="pt").input_features
    export_graph(repository, model, [extractor], example, ["logits"], inputs=("input_features",), fixed=True)


def make():
    rows = []
    for repository, make_model, extractor, to_onnx in models():
        for seed in range(200):
            model = spread(make_model(), seed)
            pipe = pipeline("audio-classification", model=model, feature_extractor=extractor)
            questions = [(length, {"topK": len(LABELS)}) for length in LENGTHS]
            found = [ask(pipe, length, params) for length, params in questions]
            if all(map(is_clear, found)) and len({one[0]["label"] for one in found}) > 1:
                break
        else:
            raise SystemExit(f"{repository}: no seed")
        questions.append((LENGTHS[0], {}))
        found.append(ask(pipe, LENGTHS[0], {}))
        print(repository, seed, [(one[0]["label"], round(one[0]["score"], 3)) for one in found])
        to_onnx(repository, model, extractor)
        rows.append({"architecture": type(model).__name__, "repository": repository, "requests": [
            {"input": {"sound": length}, "params": params, "answer": answer} for (length, params), answer in zip(questions, found)]})
    answers("audio_classifier", rows)


def ask(pipe, length, params):
    # As of transformers 5, several labels have a probability each.
    function = "sigmoid" if pipe.model.config.problem_type == SEVERAL["problem_type"] else "softmax"
    found = pipe({"raw": sound(length), "sampling_rate": RATE}, top_k=params.get("topK", 5), function_to_apply=function)
    return [{"label": one["label"], "score": one["score"]} for one in found]


def is_clear(found):
    scores = [one["score"] for one in found]
    return all(one - other > MIN_GAP for one, other in zip(scores, scores[1:]))
