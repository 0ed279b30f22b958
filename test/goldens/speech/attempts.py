"""Makes attempts.json: what transformers' pipeline makes of thresholds, temperatures and prompts, with the files of `write-whisper`. Run with optimum-onnx after the tests' models were unpacked:

    python test/goldens/speech/attempts.py

Sampled answers are equal because only one token is left (`topK: 1`), whose probability is then 1.
"""
import json
import pathlib
import shutil
import sys
import tempfile
import warnings

from optimum.onnxruntime import ORTModelForSpeechSeq2Seq
from transformers import WhisperFeatureExtractor, WhisperTokenizerFast, logging, pipeline
from transformers.generation.logits_process import WhisperNoSpeechDetection
from transformers.models.whisper import generation_whisper

warnings.filterwarnings("ignore")
logging.set_verbosity_error()
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "models" / "tasks" / "make"))
from basics import RATE, sound  # noqa: E402

SOURCE = HERE.parent.parent / "models" / "tasks" / "write-whisper"
NAMES = {"numBeams": "num_beams", "temperatures": "temperature", "topK": "top_k", "compressionRatioThreshold": "compression_ratio_threshold", "logprobThreshold": "logprob_threshold", "noSpeechThreshold": "no_speech_threshold"}
WINDOW = 4


def opened():
    with tempfile.TemporaryDirectory() as folder:
        for file in [*SOURCE.glob("*.json"), *SOURCE.glob("onnx/*.onnx")]:
            shutil.copy(file, pathlib.Path(folder) / file.name)
        tokenizer = WhisperTokenizerFast.from_pretrained(folder)
        return pipeline("automatic-speech-recognition", model=ORTModelForSpeechSeq2Seq.from_pretrained(folder), tokenizer=tokenizer, feature_extractor=WhisperFeatureExtractor.from_pretrained(folder))


attempts = []
need_fallback = generation_whisper.WhisperGenerationMixin._need_fallback


def judged(self, tokens, outputs, index, processors, config, size, temperature):
    found = need_fallback(self, tokens, outputs, index, processors, config, size, temperature)
    attempts.append({
        "temperature": temperature, "avgLogprob": float(self._retrieve_avg_logprobs(outputs[index]["scores"], tokens, temperature)), "compressionRatio": self._retrieve_compression_ratio(tokens, size),
        "noSpeechProb": float(generation_whisper._get_attr_from_logit_processors(processors, WhisperNoSpeechDetection, "no_speech_prob")[index]), "verdict": "silence" if found[1] else "again" if found[0] else "counts"})
    return found


generation_whisper.WhisperGenerationMixin._need_fallback = judged


def ask(pipe, seconds, params):
    attempts.clear()
    generate = {"num_beams": 1, **{NAMES.get(name, name): value for name, value in params.items() if name not in ("chunkLength", "timestamps", "prompt")}}
    if "prompt" in params:
        generate["prompt_ids"] = pipe.tokenizer.get_prompt_ids(params["prompt"], return_tensors="pt")
    times = {"return_timestamps": True} if "timestamps" in params else {}
    found = pipe({"raw": sound(seconds * RATE), "sampling_rate": RATE}, chunk_length_s=params.get("chunkLength", WINDOW), ignore_warning=True, generate_kwargs=generate, **times)
    parts = {"parts": [{"text": one["text"], "timestamp": list(one["timestamp"])} for one in found["chunks"]]} if times else {}
    print(seconds, params, found["text"], *[(one["verdict"], one["temperature"], round(one["avgLogprob"], 3)) for one in attempts], sep="\n   ")
    return {"seconds": seconds, "params": params, "text": found["text"], **parts, "attempts": list(attempts)}


ALL = {"temperatures": [0, 0.5, 1], "topK": 1}
TIMED = {"timestamps": "segment"}


def limits(ratio, logprob, silence):
    return {"compressionRatioThreshold": ratio, "logprobThreshold": logprob, "noSpeechThreshold": silence}


CASES = [
    (3, {**ALL, **limits(2.4, -1, 0.6)}),
    (3, {**ALL, **limits(1.2, -5, 0.6), "language": "de"}),
    (3, {**ALL, **limits(9, -2.25, 1e-5)}),
    (3, {"temperatures": [0], **limits(1.2, -2.2, 5e-5), "language": "de", "task": "translate"}),
    (4, {**ALL, **limits(2.4, -1.5, 0.6), **TIMED}),
    (4, {**ALL, **limits(9, -1.6, 0.6), **TIMED, "numBeams": 3, "language": "de"}),
    (3, {**ALL, **limits(1.4, -9, 0.6), "numBeams": 3}),
    (9, {**ALL, **limits(1.5, -1.7, 2e-5), **TIMED, "chunkLength": 3, "language": "ru"}),
    (9, {**ALL, **limits(1.5, -2.2, 2e-5)}),
    (3, {"temperatures": [0], **limits(9, -9, 0.6), "prompt": "  Mr. Óbó on time "}),
    (4, {"temperatures": [0], **limits(9, -9, 0.6), **TIMED, "prompt": "was it one world", "language": "de", "numBeams": 2}),
    (9, {**ALL, **limits(1.5, -1.7, 2e-5), **TIMED, "chunkLength": 3, "prompt": "tomorrow", "language": "es"}),
    (9, {"temperatures": [0], **limits(9, -1, 1e-9), **TIMED}),
]


if __name__ == "__main__":
    pipe = opened()
    found = [ask(pipe, seconds, params) for seconds, params in CASES]
    file = HERE / "attempts.json"
    file.write_text("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in found) + "\n]\n")
    print(file.name, file.stat().st_size)
