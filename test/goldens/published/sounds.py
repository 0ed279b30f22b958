"""Speaks the recordings of `sounds`, by espeak-ng: `python test/goldens/published/sounds.py`. Needs numpy and scipy.

`make.py` and `npm run published` read the files, so that another version of espeak-ng changes no answer.
"""
import io
import json
import pathlib
import subprocess
import wave

import numpy as np
from scipy.signal import resample_poly

FOLDER = pathlib.Path(__file__).parent / "sounds"
RATE = 16_000
ANN, BEN, EVE = ("en-us+f2", 150, 60), ("en-gb+m3", 160, 35), ("en-gb-scotland+f5", 150, 75)
SAID = [
    (ANN, "Good morning. Shall we begin with the budget for the new library?"),
    (BEN, "The roof will cost forty two thousand pounds, and the windows eighteen."),
    (EVE, "That is more than we had planned. Can we wait until the spring?"),
    (BEN, "If we wait, the rain will damage the books on the upper floor."),
    (ANN, "Then let us repair the roof first, and paint the walls next year."),
    (EVE, "I agree. I will write to the council on Thursday afternoon."),
    (ANN, "Please send me a copy of the letter, and the two estimates."),
    (BEN, "My telephone number is five five five, zero one seven three."),
    (EVE, "The children from Maple Street would like to plant a small garden."),
    (BEN, "Wonderful. Tell them to bring seeds, gloves, and a little patience."),
]
# Of openWakeWord: the keyword, and what only sounds like it.
CALLS = [(ANN, "Hey Jarvis, what time is it?"), (BEN, "Hey Jarvis!"), (EVE, "Hey, charming service.")]


def speak(voice, text):
    name, speed, pitch = voice
    sound = subprocess.run(["espeak-ng", "-v", name, "-s", str(speed), "-p", str(pitch), "--stdout", text], check=True, capture_output=True).stdout
    with wave.open(io.BytesIO(sound)) as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(10**9), np.int16)
    return np.clip(np.rint(resample_poly(samples.astype(np.float64), RATE, rate)), -2**15, 2**15 - 1).astype("<i2")


def write(name, samples):
    with wave.open(str(FOLDER / name), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())


FOLDER.mkdir(exist_ok=True)
for kind, sentences in (("meeting", SAID), ("call", CALLS)):
    for number, (voice, text) in enumerate(sentences):
        write(f"{kind}-{number}.wav", speak(voice, text))
(FOLDER / "said.json").write_text(json.dumps([text for _, text in SAID], indent=2) + "\n")
