"""Makes the recordings: speech of espeak-ng 1.51 (`apt-get install espeak-ng`), with pauses and noise. Its voices are formants that it computes: nobody has spoken this.
`python test/models/vad/samples.py` writes public/models/vad/samples/ and test/models/vad/*.wav. Needs numpy."""

import subprocess
import wave
from pathlib import Path

import numpy as np

from reference import read_wav, resample

HERE = Path(__file__).parent
GALLERY = HERE.parents[2] / "public/models/vad/samples"
RANDOM = np.random.default_rng(20261122)


def speak(text, voice, rate, speed=150):
    """Returns speech at a level of -20 dB, as espeak-ng makes it at 22,050 Hz, resampled."""
    path = HERE / "speech.tmp.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-w", str(path), text], check=True)
    samples, own = read_wav(path)
    path.unlink()
    loud = np.abs(samples) > 0.01
    samples = samples / np.sqrt(np.mean(samples[loud] ** 2)) * 0.1
    return resample(samples, own, rate)


def noise(seconds, rate, level):
    """Brown noise, as of a room with a fan: white noise that leaks."""
    white = RANDOM.standard_normal(int(seconds * rate))
    brown = np.empty_like(white)
    value = 0.0
    for i, one in enumerate(white):
        value = 0.98 * value + one
        brown[i] = value
    return brown / np.std(brown) * level


def recording(parts, rate, level):
    """Joins speech (arrays) and pauses (seconds), over noise."""
    joined = np.concatenate([part if isinstance(part, np.ndarray) else np.zeros(int(part * rate)) for part in parts])
    return joined + noise(len(joined) / rate + 1, rate, level)[: len(joined)]


def write(path, channels, rate, size):
    channels = np.clip(np.stack(channels, axis=1), -1, 1)
    scale = (1 << (8 * size - 1)) - 1
    values = np.round(channels * scale).astype(np.int64).reshape(-1)
    if size == 1:
        data = (values + 128).astype(np.uint8).tobytes()
    else:
        data = (values[:, None] >> (8 * np.arange(size)) & 255).astype(np.uint8).tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels.shape[1])
        file.setsampwidth(size)
        file.setframerate(rate)
        file.writeframes(data)


def main():
    GALLERY.mkdir(parents=True, exist_ok=True)
    rate = 16_000
    parts = [
        1.0,
        speak("The train to Bern leaves at ten past nine, from platform four.", "en-us", rate),
        1.2,
        speak("Please mind the gap.", "en-us", rate),
        0.8,
        speak("Passengers for Geneva change at Lausanne.", "en-gb", rate),
        1.5,
    ]
    write(GALLERY / "platform.wav", [recording(parts, rate, 0.004)], rate, 2)
    parts = [
        0.5,
        speak("Did you hear that?", "en-gb+f3", rate),
        0.6,
        speak("No. What was it?", "en-us+m3", rate),
        1.4,
        speak("The fan, I think. It rattles.", "en-gb+f3", rate),
        0.7,
        speak("Oh.", "en-us+m3", rate),
        1.0,
    ]
    write(GALLERY / "fan.wav", [recording(parts, rate, 0.02)], rate, 2)
    # Other sample rates, sizes and channels, for the tests alone.
    rate = 8_000
    write(HERE / "telephone-8k.wav", [recording([0.3, speak("Hello, who is there?", "en-us", rate), 0.5], rate, 0.003)], rate, 2)
    rate = 44_100
    write(HERE / "disc-44k-24bit.wav", [recording([0.2, speak("Track one.", "en-gb", rate), 0.4], rate, 0.002)], rate, 3)
    rate = 48_000
    voice = recording([0.2, speak("Left, right.", "en-us", rate), 0.4], rate, 0.002)
    write(HERE / "stereo-48k.wav", [0.9 * voice, 0.3 * voice + noise(len(voice) / rate, rate, 0.002)[: len(voice)]], rate, 2)
    write(HERE / "silence-16k-8bit.wav", [np.zeros(16_000)], 16_000, 1)
    write(HERE / "empty-16k.wav", [np.zeros(0)], 16_000, 2)
    write(HERE / "short-16k.wav", [RANDOM.standard_normal(100) * 0.05], 16_000, 2)


if __name__ == "__main__":
    main()
