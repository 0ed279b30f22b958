"""Makes the JSON files of this folder: what transformers 4.57 makes of sound, logits and tokens for Whisper. Run with torch, torchaudio and transformers at hand:

    python test/goldens/speech/make.py
"""
import json
import math
import pathlib
import sys
import types
import warnings

import numpy as np
import torch
from transformers import GenerationConfig, WhisperFeatureExtractor
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function
from transformers.generation.logits_process import SuppressTokensAtBeginLogitsProcessor, SuppressTokensLogitsProcessor, WhisperTimeStampLogitsProcessor
from transformers.models.whisper.generation_whisper import WhisperGenerationMixin
from transformers.models.whisper.tokenization_whisper import _combine_tokens_into_words, _decode_asr
from transformers.utils import ModelOutput

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "models" / "tasks" / "make"))
from speech_recognizer import sound  # noqa: E402

# A small vocabulary: texts, the end, other special tokens, and times of 20 ms.
END, START, LANGUAGES, TASKS, NO_TIMES, TIMES = 30, 31, {"<|en|>": 32, "<|de|>": 33}, {"transcribe": 34, "translate": 35}, 36, 200
BEGIN = NO_TIMES + 1
VOCABULARY = BEGIN + TIMES + 1


def features(random):
    """Each tenth mel of some frames, by numpy's path; frames of the loudest, of silence, and at both edges."""
    cases = []
    for mels, seconds, window, settings in [(80, 3.21, 4, {}), (128, 4, 4, {}), (80, 0.01, 2, {}), (80, 2, 2, {"n_fft": 512, "hop_length": 200, "sampling_rate": 20_000})]:
        extractor = WhisperFeatureExtractor(feature_size=mels, chunk_length=window, **settings)
        samples = sound(int(seconds * 16_000))
        padded = np.pad(samples, (0, extractor.n_samples - len(samples)))
        found = extractor._np_extract_fbank_features(padded[None], "cpu")[0]
        frames = [*range(0, found.shape[1], 37), found.shape[1] - 1]
        cases.append({
            "options": {"sampleRate": extractor.sampling_rate, "mels": mels, "frameLength": extractor.n_fft, "hop": extractor.hop_length, "windowLength": extractor.n_samples, "padding": 0},
            "samples": len(samples), "dims": list(found.shape), "frames": frames, "mels": list(range(0, mels, 10)),
            "values": [[round(float(found[mel, frame]), 6) for frame in frames] for mel in range(0, mels, 10)], "sum": float(found.astype(np.float64).sum()),
        })
    return cases


def kaldi_banks():
    """Each twentieth frame of `torchaudio.compliance.kaldi`, which computes in float32. kaldi-native-fbank agrees."""
    import torchaudio.compliance.kaldi as kaldi

    cases = []
    for rate, window, scale, samples in [(16_000, "povey", 1, 24_000), (16_000, "hamming", 32_768, 24_000), (8_000, "hamming", 32_768, 9_600), (16_000, "hamming", 32_768, 400)]:
        given = torch.tensor(sound(samples))[None] * scale
        found = kaldi.fbank(given, num_mel_bins=80, frame_length=25, frame_shift=10, dither=0.0, sample_frequency=rate, window_type=window, use_energy=False)
        cases.append({"sampleRate": rate, "window": window, "scale": scale, "samples": samples, "mels": 80, "frames": len(found), "every": 20, "values": [[round(float(one), 5) for one in row] for row in found[::20]]})
    return cases


def filter_banks():
    """Each twentieth frame: Kaldi's features, as `ASTFeatureExtractor` computes them without torchaudio, which has frames of 25 ms at any rate."""
    cases = []
    for rate, mels, samples in [(16_000, 128, 24_000), (16_000, 32, 9_600), (8_000, 40, 9_600)]:
        frame, hop, size = rate // 40, rate // 100, 2 ** math.ceil(math.log2(rate // 40))
        filters = mel_filter_bank(size // 2 + 1, mels, 20, rate // 2, rate, norm=None, mel_scale="kaldi", triangularize_in_mel_space=True)
        found = spectrogram(
            sound(samples), window_function(frame, "hann", periodic=False), frame, hop, size, power=2.0, center=False, preemphasis=0.97, mel_filters=filters, log_mel="log", mel_floor=2**-23,
            remove_dc_offset=True).T
        cases.append({"sampleRate": rate, "mels": mels, "samples": samples, "frames": len(found), "every": 20, "values": [[round(float(one), 5) for one in row] for row in found[::20]]})
    return cases


def rules(random):
    cases = []
    for name, fields, written in [
        ("the first token", {"max_initial_timestamp_index": 50}, []),
        ("the first token, at any time", {}, []),
        ("behind a first time", {}, [BEGIN]),
        ("behind a text", {}, [BEGIN, 4, 5]),
        ("behind the end of a segment", {}, [BEGIN, 4, BEGIN + 60]),
        ("behind a pair of times", {}, [BEGIN, 4, BEGIN + 60, BEGIN + 60]),
        ("behind a text that is no first segment", {}, [BEGIN, 4, BEGIN + 60, BEGIN + 60, 9]),
        ("behind the end of the window", {}, [BEGIN, 4, BEGIN + TIMES]),
    ]:
        for times in (True, False):
            for boost in (0, 4):
                logits = random.normal(0, 2, VOCABULARY).astype(np.float32)
                logits[BEGIN:] += boost - 2
                config = GenerationConfig(eos_token_id=END, no_timestamps_token_id=NO_TIMES, **fields)
                prompt = [START, 32, 34]
                processors = [SuppressTokensAtBeginLogitsProcessor([3, END], len(prompt)), SuppressTokensLogitsProcessor([8, 31, 32])]
                if times:
                    processors.append(WhisperTimeStampLogitsProcessor(config, len(prompt)))
                scores = torch.tensor(logits)[None]
                for processor in processors:
                    scores = processor(torch.tensor([prompt + written]), scores)
                cases.append({"name": f"{name}{'' if times else ', without times'}", "prompt": prompt, "written": written, "times": times, "latest": fields.get("max_initial_timestamp_index"),
                              "logits": [round(float(one), 7) for one in logits], "kept": [token for token, one in enumerate(scores[0].tolist()) if not math.isinf(one)]})
    return {"end": END, "begin": BEGIN, "suppress": [8, 31, 32], "atBegin": [3, END], "cases": cases}


def starts():
    """What the decoder begins with; null stands for the language, which is detected."""
    cases = []
    detected = -1
    stub = types.SimpleNamespace(device="cpu", detect_language=lambda **_: torch.tensor([detected]))
    new = {"lang_to_id": LANGUAGES, "task_to_id": TASKS, "is_multilingual": True}
    for fields in [
        {**new, "forced_decoder_ids": [[1, None], [2, 34]]}, new, {**new, "language": "de"}, {**new, "language": "<|de|>", "task": "translate"}, {**new, "forced_decoder_ids": [[1, 33], [2, 35], [3, NO_TIMES]]},
        {"is_multilingual": False, "forced_decoder_ids": [[1, NO_TIMES]]}, {"forced_decoder_ids": [[1, None], [2, 34]]}, {}, {"lang_to_id": LANGUAGES},
    ]:
        for no_times in (NO_TIMES, None):
            for wishes in [{}, {"language": "de"}, {"task": "translate"}, {"language": "english", "task": "transcribe"}]:
                for times in (False, True):
                    values = {"decoder_start_token_id": START, **({"no_timestamps_token_id": no_times} if no_times else {}), **fields}
                    config = types.SimpleNamespace(return_timestamps=times, **values)
                    try:
                        WhisperGenerationMixin._set_return_timestamps(stub, times, True, config) if no_times else None
                        if times and not no_times:
                            raise ValueError
                        WhisperGenerationMixin._set_language_and_task(wishes.get("language"), wishes.get("task"), None, config)
                        [tokens] = WhisperGenerationMixin._retrieve_init_tokens(stub, None, 1, config, types.SimpleNamespace(forced_decoder_ids=None), 400, {}).tolist()
                        tokens = [None if token == detected else token for token in tokens]
                    except (ValueError, AttributeError):
                        tokens = "refused"
                    cases.append({"generation": values, **wishes, "times": times, "tokens": tokens})
    return cases


def windows(random):
    """How much of an answer counts, and where the next window starts."""
    cases = []
    for case in range(60):
        tokens = tokens_of(random, random.integers(0, 12))
        frames = 400
        time_offset = torch.zeros(1, dtype=torch.float64)
        segments, offset = WhisperGenerationMixin._retrieve_segment(
            seek_sequence=torch.tensor(tokens, dtype=torch.long), seek_outputs=[None], time_offset=time_offset, timestamp_begin=BEGIN, seek_num_frames=torch.tensor([frames]), time_precision=0.02,
            time_precision_features=0.01, input_stride=2, prev_idx=0, idx=0, return_token_timestamps=False, decoder_input_ids=torch.zeros(1, 3))
        kept = [token for one in segments for token in one["tokens"].tolist()]
        assert kept == tokens[:len(kept)]
        cases.append({"tokens": tokens, "count": len(kept), "frames": int(offset)})
    return [one for one in cases if one["frames"] > 0]


def tokens_of(random, count):
    tokens = []
    time = 0
    for _ in range(count):
        kind = random.integers(0, 3)
        if kind > 0:
            tokens += random.integers(0, END, kind).tolist()
        else:
            time = min(TIMES, time + int(random.integers(0, 60)))
            tokens += [BEGIN + time] * int(random.integers(1, 3))
    return tokens


class Letters:
    """A tokenizer whose texts are letters."""

    all_special_ids = list(range(END, BEGIN))

    def convert_tokens_to_ids(self, token):
        return {"<|notimestamps|>": NO_TIMES, "<|startofprev|>": -1, "<|startoftranscript|>": START}[token]

    def _strip_prompt(self, tokens, *_):
        return tokens

    def decode(self, tokens):
        return "".join(chr(97 + token) if token < 26 else chr(39 + token) for token in tokens if token < END)


def transcripts(random):
    """Chunks of one text that overlap, with some tokens heard wrongly."""
    cases = []
    for case in range(120):
        chunks, overlap = int(random.integers(1, 5)), float(random.choice([0.5, 2 / 3, 0]))
        text = random.integers(0, END, 60).tolist()
        outputs = []
        for at in range(chunks):
            own = [token if random.random() > 0.1 else int(random.integers(0, END)) for token in text[at * 8:at * 8 + 12]]
            tokens = own if case % 3 == 0 else timed(random, own)
            if random.random() < 0.1:
                tokens = []
            if random.random() < 0.1:
                tokens.insert(int(random.integers(0, len(tokens) + 1)), 35)
            length = 4 if at < chunks - 1 else float(random.choice([1.5, 4]))
            outputs.append({"tokens": tokens, "length": length, "left": overlap if at > 0 else 0, "right": overlap if at < chunks - 1 else 0})
        given = [{"tokens": np.array([one["tokens"]], dtype=np.int64).reshape(1, -1), "stride": (one["length"], one["left"], one["right"])} for one in outputs]
        whole, optional = _decode_asr(Letters(), given, return_timestamps=True, return_language=None, time_precision=0.02)
        cases.append({"outputs": outputs, "text": whole, "parts": [{"text": one["text"], "timestamp": one["timestamp"]} for one in optional["chunks"]]})
    return {"begin": BEGIN, "end": END, "step": 0.02, "cases": cases}


def timed(random, own):
    """Texts between times: pairs, single ones, some that begin anew."""
    tokens, time = [BEGIN], 0
    for token in own:
        tokens.append(token)
        if random.random() < 0.3:
            time = min(TIMES, time + int(random.integers(1, 40)))
            tokens += [BEGIN + time] * (2 if random.random() < 0.8 else 1)
        if random.random() < 0.05:
            time = 0
            tokens += [BEGIN, BEGIN + 3]
    return tokens


def alignments(random):
    """When tokens were said, by random weights: also of one token, of fewer steps than the median needs, and of a window after the end of the sound, which Python cuts twice."""
    cases = []
    for tokens, steps, counted in [(1, 12, 12), (2, 3, 3), (7, 40, 40), (9, 30, 25), (8, 24, -4)]:
        layers = [random.random((1, 2, tokens + 2, steps)).astype(np.float32).round(4) for _ in range(2)]
        heads = [[1, 1], [0, 0], [1, 0]]
        stub = types.SimpleNamespace(config=types.SimpleNamespace(decoder_layers=2, median_filter_width=7))
        # They are of the tokens that were fed; one more was written.
        given = ModelOutput(cross_attentions=[[torch.tensor(one) for one in layers]], sequences=torch.zeros(1, tokens + 3))
        found = WhisperGenerationMixin._extract_token_timestamps(stub, given, heads, num_frames=torch.tensor([counted * 2]), num_input_ids=2)
        cases.append({"heads": heads, "tokens": tokens, "steps": steps, "counted": counted if counted >= 0 else steps + 2 * counted, "first": 2, "layers": [[round(float(one), 4) for one in layer.flat] for layer in layers],
                      "starts": [round(one / 0.02) for one in found[0, 2:-1].tolist()]})
    return cases


class Bytes:
    """A tokenizer whose tokens are parts of UTF-8."""

    language = None
    eos_token_id = 1000
    parts = [text.encode() for text in (" Hello", ",", " wor", "ld", ".", " (", "maybe", ")", " 12", "%", " \"", "Ja", "\"", " ", "!", " “", "”", " -", "“")]
    parts += [bytes([one]) for one in "東京都 naïve".encode()] + ["、".encode(), "\ufffd".encode(), b"\xff"]

    def decode(self, tokens, **_):
        return b"".join(self.parts[token] for token in tokens).decode(errors="replace")


def words(random):
    own = Bytes()
    count = len(own.parts)
    given = [list(range(count)), [0, 1, 2, 3, 4], [5, 6, 7, 4], [10, 11, 12, 1, 0], [13, 13, 14], [15, 0, 16, 4, 17, 18, 0], list(range(19, count))]
    given += [random.integers(0, count, 12).tolist() for _ in range(40)]
    cases = []
    for tokens in given:
        for language in ("english", "chinese"):
            try:
                found, _, indices = _combine_tokens_into_words(own, list(tokens), language)
            except IndexError:
                continue  # It looks behind the end of the text for the rest of a character.
            cases.append({"tokens": tokens, "language": {"english": "en", "chinese": "zh"}[language], "words": [{"text": word, "start": own[0], "end": own[-1] + 1} for word, own in zip(found, indices)]})
    return {"parts": [list(part) for part in own.parts], "cases": cases}


if __name__ == "__main__":
    random = np.random.default_rng(20261128)
    for name, found in [("features", features(random)), ("filter-banks", filter_banks()), ("kaldi-banks", kaldi_banks()), ("rules", rules(random)), ("starts", starts()), ("windows", windows(random)), ("transcripts", transcripts(random)), ("alignments", alignments(random)), ("words", words(random))]:
        file = HERE / f"{name}.json"
        file.write_text(json.dumps(found, separators=(",", ":")) + "\n")
        print(file.name, file.stat().st_size)
