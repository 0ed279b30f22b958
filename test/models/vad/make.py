"""Makes goldens.json beside it, and public/models/vad/golden.safetensors, with Python's ONNX Runtime: `python test/models/vad/make.py`.
Needs numpy and onnxruntime, and the npm package @ricky0123/vad-web in node_modules."""

import json
from pathlib import Path

import numpy as np

from reference import CONTEXT, WINDOW, Silero, SpeechIterator, read_wav, resample, speech_timestamps

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
MODEL = ROOT / "node_modules/@ricky0123/vad-web/dist/silero_vad_v5.onnx"
SAMPLES = [ROOT / f"public/models/vad/samples/{name}.wav" for name in ["platform", "fan"]]
STRIDE = 97

RULES = [
    {},
    {"threshold": 0.8},
    {"threshold": 0.3, "neg_threshold": 0.1},
    {"min_silence_duration_ms": 700, "speech_pad_ms": 200},
    {"min_speech_duration_ms": 1000},
    {"max_speech_duration_s": 1},
    {"speech_pad_ms": 500},
]


def rounded(values, digits=6):
    return [round(float(value), digits) for value in values]


def chirp(rate, length):
    """Also written in resampler.spec.ts: a tone that rises from 50 Hz to 0.45 of the rate."""
    n = np.arange(length)
    return (0.7 * np.sin(2 * np.pi * (50 / rate * n + (0.45 - 50 / rate) * n * n / (2 * length)))).astype(np.float32)


def resampling():
    pairs = [(8_000, 16_000), (44_100, 16_000), (48_000, 16_000), (16_000, 48_000), (11_025, 16_000), (22_050, 44_100), (16_000, 16_000), (96_001, 16_000)]
    return [
        {"from": a, "to": b, "length": length, "result": rounded(resample(chirp(a, length), a, b), 7)}
        for a, b in pairs
        for length in ([1500] if a < 90_000 else [3000])
    ] + [{"from": 44_100, "to": 16_000, "length": length, "result": rounded(resample(chirp(44_100, length), 44_100, 16_000), 7)} for length in [0, 1, 7]]


def recordings(model):
    for path in [*SAMPLES, *sorted(HERE.glob("*.wav"))]:
        samples, rate = read_wav(path)
        heard = resample(samples, rate, 16_000)
        probabilities = model.probabilities(heard)
        live = SpeechIterator()
        events = [event for p in probabilities[: len(heard) // WINDOW] if (event := live(p))]
        yield {
            "file": str(path.relative_to(ROOT)),
            "rate": rate,
            "length": len(heard),
            "samples": rounded(heard[::STRIDE], 7),
            "probabilities": rounded(probabilities),
            "segments": [{**rules, "segments": speech_timestamps(probabilities, len(heard), **rules)} for rules in RULES],
            "events": events,
        }


def write_safetensors(path, tensors):
    header, data = {}, b""
    names = {np.dtype(np.float32): "F32", np.dtype(np.int64): "I64"}
    for name, tensor in tensors.items():
        raw = np.ascontiguousarray(tensor).tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def golden(model):
    """A window in the middle of a word, with the state that the model has there."""
    samples, _ = read_wav(SAMPLES[0])
    model.reset()
    for at in range(0, 50 * WINDOW, WINDOW):
        model(samples[at : at + WINDOW])
    feeds = model.feeds(samples[50 * WINDOW : 51 * WINDOW])
    output, state = model.session.run(None, feeds)
    write_safetensors(
        ROOT / "public/models/vad/golden.safetensors",
        {**{f"inputs/{name}": tensor for name, tensor in feeds.items()}, "outputs/output": output, "outputs/stateN": state},
    )
    return float(output[0, 0])


def main():
    model = Silero(MODEL)
    result = {"stride": STRIDE, "window": WINDOW, "context": CONTEXT, "resampling": resampling(), "recordings": list(recordings(model))}
    print("golden example:", golden(model))
    for one in result["recordings"]:
        print(one["file"], one["length"] / 16_000, [[a / 16_000, b / 16_000] for a, b in one["segments"][0]["segments"]], one["events"])
    (HERE / "goldens.json").write_text(json.dumps(result, separators=(",", ":")).replace('{"file"', '\n{"file"').replace('{"from"', '\n{"from"') + "\n")


if __name__ == "__main__":
    main()
