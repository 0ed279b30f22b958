"""Whisper and Moonshine with random weights: what transformers' pipeline `automatic-speech-recognition` answers."""
import pathlib

import torch
from optimum.exporters.onnx import main_export
from optimum.exporters.onnx.base import ConfigBehavior
from optimum.exporters.onnx.model_configs import WhisperOnnxConfig
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AddedToken, AutoConfig, GenerationConfig, MoonshineConfig, MoonshineForConditionalGeneration, Wav2Vec2FeatureExtractor, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration, WhisperTokenizerFast, pipeline,
)

from common import HERE, TEXTS, answers, save, spread, tokenizer_of
from basics import RATE, sound

# Whisper's window is 30 seconds; of one so long, the tokens of its times alone would have 200 kB.
WINDOW = 4
PLACES = WINDOW * 50
POSITIONS = 40
LANGUAGES = ["en", "zh", "de", "es", "ru"]
SPECIALS = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{code}|>" for code in LANGUAGES), "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
SIZES = {
    "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
    "max_source_positions": PLACES, "max_target_positions": POSITIONS,
}
SHORT, WHOLE, LONG = 3 * RATE, WINDOW * RATE, 9 * RATE


def tokenizer():
    """Whisper's: pieces of bytes, its special tokens, and one token for each 20 ms of its window."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    own = WhisperTokenizerFast(tokenizer_object=inner, pad_token="<|endoftext|>", additional_special_tokens=SPECIALS[1:], clean_up_tokenization_spaces=True, model_max_length=1024)
    own.add_tokens([AddedToken(f"<|{place * 0.02:.2f}|>", normalized=False, special=False) for place in range(PLACES + 1)])
    return own


def kept_tokenizer():
    """The same each time: training has other results on other machines."""
    folder = HERE / "tokenizers" / "whisper"
    if not folder.exists():
        tokenizer().save_pretrained(folder)
    return WhisperTokenizerFast.from_pretrained(folder)


def generation(own, **fields):
    """`generation_config.json`, with the keys of the published ones."""
    id_of = own.convert_tokens_to_ids
    end, no_times = id_of("<|endoftext|>"), id_of("<|notimestamps|>")
    # As the published ones, it has tokens of signs and the special ones; here also single bytes, which are no text.
    signs = [token for token in range(end) if not own.decode([token]).strip().isalpha()]
    silent = signs + [id_of(token) for token in SPECIALS[1:2] + SPECIALS[-6:-1]]
    return GenerationConfig(
        bos_token_id=end, eos_token_id=end, pad_token_id=end, decoder_start_token_id=id_of("<|startoftranscript|>"), max_length=POSITIONS, no_timestamps_token_id=no_times,
        max_initial_timestamp_index=50, suppress_tokens=silent, begin_suppress_tokens=[220, end], return_timestamps=False, **fields)


def multilingual(own):
    id_of = own.convert_tokens_to_ids
    return generation(
        own, is_multilingual=True, lang_to_id={f"<|{code}|>": id_of(f"<|{code}|>") for code in LANGUAGES}, task_to_id={task: id_of(f"<|{task}|>") for task in ("transcribe", "translate")},
        forced_decoder_ids=[[1, None], [2, id_of("<|transcribe|>")]])


def english(own):
    return generation(own, is_multilingual=False, forced_decoder_ids=[[1, own.convert_tokens_to_ids("<|notimestamps|>")]])


def words(own):
    """With the heads that listen to what they write."""
    settings = multilingual(own)
    settings.alignment_heads = [[0, 1], [1, 0]]
    return settings


def export_merged(source, target, **options):
    main_export(source, target, task="automatic-speech-recognition-with-past", do_validation=False, device="cpu", nb_max_frames=2 * PLACES, **options)
    for file in pathlib.Path(target).glob("decoder*.onnx"):
        if file.stem != "decoder_model_merged":
            file.unlink()


class WithAttentions(WhisperOnnxConfig):
    """The decoder returns its cross attentions, too: as the published repositories whose names end with _timestamped."""

    @property
    def outputs(self):
        own = super().outputs
        if self._behavior is ConfigBehavior.DECODER:
            own.update({f"cross_attentions.{layer}": {0: "batch_size", 2: "decoder_sequence_length", 3: "encoder_sequence_length"} for layer in range(self._config.decoder_layers)})
        return own


def export_attentions(source, target):
    whole = WithAttentions(AutoConfig.from_pretrained(source), task="automatic-speech-recognition", use_past=True)
    export_merged(source, target, model_kwargs={"output_attentions": True}, custom_onnx_configs={
        "encoder_model": whole.with_behavior("encoder"), "decoder_model": whole.with_behavior("decoder", use_past=True, use_past_in_inputs=False),
        "decoder_with_past_model": whole.with_behavior("decoder", use_past=True, use_past_in_inputs=True)})


def ask(pipe, length, params):
    """What the pipeline answers. A part whose end it has not told ends with the recording."""
    generate = {"num_beams": params.get("numBeams", 1), **{key: params[key] for key in ("language", "task") if key in params}}
    # Moonshine hears a recording whole.
    chunks = {"chunk_length_s": params.get("chunkLength", WINDOW), "ignore_warning": True} if pipe.type == "seq2seq_whisper" else {}
    # It does not read the language from the tokens, and a word of Chinese is a character.
    pipe.tokenizer.language = "chinese" if params.get("language") == "zh" else None
    found = pipe({"raw": sound(length), "sampling_rate": RATE}, generate_kwargs=generate, **chunks, **({"return_timestamps": {"segment": True, "word": "word"}[params["timestamps"]]} if "timestamps" in params else {}))
    answer = {"text": found["text"]}
    if "timestamps" in params:
        answer["parts"] = []
        for part in found["chunks"]:
            start, end = part["timestamp"]
            start = start if start is not None else answer["parts"][-1]["end"] if answer["parts"] else 0
            answer["parts"].append({"text": part["text"], "start": start, "end": max(start, round(length / RATE, 2)) if end is None else end})
    return answer


def questions(model, own, features, asked):
    pipe = pipeline("automatic-speech-recognition", model=model, tokenizer=own, feature_extractor=features)
    return [ask(pipe, length, params) for length, params in asked]


def is_varied(found):
    texts = [one["text"] for one in found]
    parts = [one["parts"] for one in found if "parts" in one]
    return len(set(texts)) == len(texts) and all(len(set(text)) > 4 and "\ufffd" not in text for text in texts) and all(len(one) > 1 for one in parts)


def varied(make_model, own, features, asked):
    """The first weights whose answers differ, and do not depend on rounding: float64 gives the same."""
    for seed in range(400):
        model = spread(make_model(), seed, scale=0.5)
        found = questions(model, own, features, asked)
        if is_varied(found) and questions(model.double(), own, features, asked) == found:
            return model.float(), found
    raise SystemExit("No seed.")


def whisper(mels, config_of):
    own = kept_tokenizer()
    settings = config_of(own)
    config = WhisperConfig(
        **SIZES, vocab_size=len(own), num_mel_bins=mels, bos_token_id=settings.bos_token_id, eos_token_id=settings.eos_token_id, pad_token_id=settings.pad_token_id,
        decoder_start_token_id=settings.decoder_start_token_id, begin_suppress_tokens=None)

    def make_model():
        model = WhisperForConditionalGeneration(config)
        model.generation_config = config_of(own)
        return model

    return make_model, own, WhisperFeatureExtractor(feature_size=mels, chunk_length=WINDOW)


def moonshine():
    own = tokenizer_of("unigram")
    config = MoonshineConfig(
        vocab_size=len(own), hidden_size=16, intermediate_size=24, encoder_num_hidden_layers=2, decoder_num_hidden_layers=2, encoder_num_attention_heads=2, decoder_num_attention_heads=2,
        max_position_embeddings=64, bos_token_id=own.bos_token_id, eos_token_id=own.eos_token_id, pad_token_id=own.pad_token_id, decoder_start_token_id=own.bos_token_id)

    def make_model():
        model = MoonshineForConditionalGeneration(config)
        model.generation_config = GenerationConfig(bos_token_id=own.bos_token_id, eos_token_id=own.eos_token_id, pad_token_id=own.pad_token_id, decoder_start_token_id=own.bos_token_id, max_length=24)
        return model

    return make_model, own, Wav2Vec2FeatureExtractor(sampling_rate=RATE, do_normalize=False)


# The last row runs on a GPU, too: its questions are short.
ROWS = [
    ("write-whisper", "WhisperForConditionalGeneration (multilingual)", lambda: whisper(80, multilingual), [
        (SHORT, {}), (SHORT, {"language": "de", "task": "translate"}), (WHOLE, {"language": "russian", "timestamps": "segment"}), (SHORT, {"numBeams": 5, "language": "en"}),
        (LONG, {}), (LONG, {"timestamps": "segment", "chunkLength": 3}),
    ]),
    ("write-whisper-english", "WhisperForConditionalGeneration (English)", lambda: whisper(128, english), [
        (SHORT, {}), (SHORT, {"timestamps": "segment"}), (LONG, {"timestamps": "segment", "numBeams": 2}),
    ]),
    ("write-whisper-words", "WhisperForConditionalGeneration (words)", lambda: whisper(80, words), [
        (SHORT, {"language": "en", "timestamps": "word"}), (WHOLE, {"language": "ru", "timestamps": "word"}), (SHORT, {"timestamps": "word", "numBeams": 3, "language": "de"}),
        (LONG, {"timestamps": "word", "chunkLength": 3, "language": "es"}), (WHOLE, {"language": "zh", "timestamps": "word"}),
    ]),
    ("write-moonshine", "MoonshineForConditionalGeneration", moonshine, [(RATE, {}), (SHORT, {}), (LONG, {"numBeams": 3})]),
]


def make():
    rows = []
    for repository, architecture, parts, asked in ROWS:
        make_model, own, features = parts()
        model, found = varied(make_model, own, features, asked)
        for (length, params), answer in zip(asked, found):
            print(repository, length, params, answer)
        save(repository, model, [own, features], export_attentions if repository.endswith("words") else export_merged)
        rows.append({"architecture": architecture, "repository": repository, **({"gpu": ["webgpu"]} if len(rows) == len(ROWS) - 1 else {}), "requests": [
            {"input": {"sound": length}, "params": params, "answer": answer} for (length, params), answer in zip(asked, found)]})
    answers("speech_to_text", rows)
