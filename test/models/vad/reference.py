"""Silero VAD in Python's ONNX Runtime, a resampler and the rules for speech, as references for the TypeScript in src/. Needs numpy and onnxruntime.

Each is written to be easy to check against its source, not to be fast:
- `resample`: the formula of torchaudio's sinc_interp_hann, evaluated in float64 for one output sample at a time.
- `probabilities`: silero-vad's OnnxWrapper: windows of 512 samples, each after the last 64 of the window before.
- `speech_timestamps`, `SpeechIterator`: silero-vad's get_speech_timestamps and VADIterator, in samples. Compared with silero-vad's own code at commit 806dcba by check.py.
"""

import math
import wave

import numpy as np
import onnxruntime

RATE = 16_000
WINDOW = 512
CONTEXT = 64


def resample(samples, rate, new_rate, width=6, rolloff=0.99):
    """y[n] = c/a sum_k x[k] sinc(t) cos^2(pi t / 2 width), t = c (k/a - n/b), |t| < width; a and b are the reduced rates, c = rolloff min(a, b)."""
    if rate == new_rate:
        return samples.astype(np.float32)
    divisor = math.gcd(rate, new_rate)
    a, b = rate // divisor, new_rate // divisor
    cutoff = rolloff * min(a, b)
    reach = math.ceil(width * a / cutoff)
    result = np.empty(math.ceil(len(samples) * b / a), dtype=np.float64)
    for n in range(len(result)):
        center = n * a // b
        k = np.arange(max(0, center - reach), min(len(samples), center + reach + 2))
        t = cutoff * (k / a - n / b)
        t, x = t[np.abs(t) < width], samples[k][np.abs(t) < width]
        result[n] = cutoff / a * np.sum(x * np.sinc(t) * np.cos(np.pi * t / (2 * width)) ** 2)
    return result.astype(np.float32)


def read_wav(path):
    """Returns the mean of the channels in -1..1, and the sample rate. PCM of 8, 16, 24 and 32 bits."""
    with wave.open(str(path)) as file:
        channels, size, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
        data = file.readframes(file.getnframes())
    raw = np.frombuffer(data, dtype=np.uint8).reshape(-1, size)
    if size == 1:
        values = raw[:, 0].astype(np.float64) / 128 - 1
    else:
        signed = np.zeros(len(raw), dtype=np.int64)
        for byte in range(size):
            signed |= raw[:, byte].astype(np.int64) << (8 * byte)
        signed = np.where(signed >= 1 << (8 * size - 1), signed - (1 << (8 * size)), signed)
        values = signed / float(1 << (8 * size - 1))
    return values.reshape(-1, channels).mean(axis=1).astype(np.float32), rate


class Silero:
    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.reset()

    def reset(self):
        self.state = np.zeros((2, 1, 128), dtype=np.float32)
        self.context = np.zeros(CONTEXT, dtype=np.float32)

    def feeds(self, window):
        heard = np.concatenate([self.context, window]).astype(np.float32)
        return {"input": heard[None], "state": self.state, "sr": np.array(RATE, dtype=np.int64)}

    def __call__(self, window):
        output, self.state = self.session.run(None, self.feeds(window))
        self.context = window[-CONTEXT:]
        return float(output[0, 0])

    def probabilities(self, samples):
        self.reset()
        windows = [samples[at : at + WINDOW] for at in range(0, len(samples), WINDOW)]
        return [self(np.pad(window, (0, WINDOW - len(window)))) for window in windows]


def speech_timestamps(
    probabilities,
    length,
    threshold=0.5,
    neg_threshold=None,
    min_speech_duration_ms=250,
    max_speech_duration_s=math.inf,
    min_silence_duration_ms=100,
    speech_pad_ms=30,
    min_silence_at_max_speech=98,
):
    if neg_threshold is None:
        neg_threshold = max(threshold - 0.15, 0.01)
    ms = RATE / 1000
    pad = speech_pad_ms * ms
    longest = RATE * max_speech_duration_s - WINDOW - 2 * pad
    found, begin, silent, pauses = [], None, None, []
    for i, p in enumerate(probabilities):
        now = i * WINDOW
        if p >= threshold and silent is not None:
            if now - silent > min_silence_at_max_speech * ms:
                pauses.append((silent, now - silent))
            silent = None
        if p >= threshold and begin is None:
            begin = now
            continue
        if begin is not None and now - begin > longest:
            if pauses:
                at, duration = max(pauses, key=lambda pause: pause[1])
                found.append([begin, at])
                begin, silent, pauses = at + duration, None, []
            else:
                found.append([begin, now])
                begin, silent, pauses = None, None, []
                continue
        if p < neg_threshold and begin is not None:
            if silent is None:
                silent = now
            if now - silent < min_silence_duration_ms * ms:
                continue
            if silent - begin > min_speech_duration_ms * ms:
                found.append([begin, silent])
            begin, silent, pauses = None, None, []
    if begin is not None and length - begin > min_speech_duration_ms * ms:
        found.append([begin, length])
    for i, segment in enumerate(found):
        if i == 0:
            segment[0] = int(max(0, segment[0] - pad))
        if i + 1 < len(found):
            gap = found[i + 1][0] - segment[1]
            if gap < 2 * pad:
                segment[1] += int(gap // 2)
                found[i + 1][0] = int(max(0, found[i + 1][0] - gap // 2))
            else:
                segment[1] = int(min(length, segment[1] + pad))
                found[i + 1][0] = int(max(0, found[i + 1][0] - pad))
        else:
            segment[1] = int(min(length, segment[1] + pad))
    return found


class SpeechIterator:
    def __init__(self, threshold=0.5, min_silence_duration_ms=100, speech_pad_ms=30):
        self.threshold = threshold
        self.silence = min_silence_duration_ms * RATE / 1000
        self.pad = speech_pad_ms * RATE / 1000
        self.speaking, self.silent, self.now = False, 0, 0

    def __call__(self, p):
        self.now += WINDOW
        if p >= self.threshold:
            self.silent = 0
            if not self.speaking:
                self.speaking = True
                return ["start", int(max(0, self.now - self.pad - WINDOW))]
        elif p < self.threshold - 0.15 and self.speaking:
            self.silent = self.silent or self.now
            if self.now - self.silent >= self.silence:
                end = int(self.silent + self.pad - WINDOW)
                self.speaking, self.silent = False, 0
                return ["end", end]
        return None
