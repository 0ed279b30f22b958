"""Who said what: words as transformers' pipeline answered them (`../speech_to_text.json`, `../speech_recognizer.json`), joined
here with turns as `speaker_diarizer.py` finds them. Run it after those of the two recognizers and of the diarizer, and after
the tests, which write the whole models (`../fill.ts`).
"""
import json
import shutil

import numpy as np
import onnxruntime
import torch

import speaker_diarizer
from basics import HERE, answers, sound
from speaker_embedder import write

DIARIZER = "diarize-alone"
# Of each recognizer: its file of answers, and whether its words have their spaces.
RECOGNIZERS = {"write-whisper-words": ("speech_to_text", True), "speech-wav2vec2-layer": ("speech_recognizer", False)}


def segmentation():
    session = onnxruntime.InferenceSession(HERE / DIARIZER / "onnx/model.onnx")
    return lambda samples: torch.tensor(session.run(None, {"input_values": samples.numpy()})[0])


def overlap(word, turn):
    """Seconds that both have; negative is the time between them."""
    return min(word["end"], turn["end"]) - max(word["start"], turn["start"])


def join(words, turns, has_spaces):
    found = []
    for word in words:
        # Of several that share as much, the first.
        speaker = turns[int(np.argmax([overlap(word, turn) for turn in turns]))]["speaker"]
        if not found or found[-1]["speaker"] != speaker:
            found.append({"speaker": speaker, "start": word["start"], "end": 0, "words": []})
        found[-1]["end"] = word["end"]
        found[-1]["words"].append(word["text"])
    between = "" if has_spaces else " "
    return [{"speaker": one["speaker"], "start": one["start"], "end": one["end"], "text": between.join(one["words"]).strip()} for one in found]


def asked(recognizer):
    """The requests for words, without those whose params are the recognizer's alone."""
    file, _ = RECOGNIZERS[recognizer]
    rows = json.loads((HERE / f"{file}.json").read_text())["rows"]
    requests = next(row["requests"] for row in rows if row["repository"] == recognizer)
    return [one for one in requests if one["params"].get("timestamps") == "word" and set(one["params"]) <= {"language", "timestamps"}]


def make():
    model, rows = segmentation(), []
    for recognizer, (_, has_spaces) in RECOGNIZERS.items():
        repository = f"converse-{recognizer.split('-')[1]}"
        shutil.rmtree(HERE / repository, ignore_errors=True)
        (HERE / repository / "MAR-INF").mkdir(parents=True)
        write(HERE / repository / "MAR-INF/MANIFEST.json", {"model": {"modelName": repository, "handler": "conversation_transcriber", "configFile": "model-config.yaml"}})
        (HERE / repository / "model-config.yaml").write_text(f"nodes:\n  recognizer: ../{recognizer}/\n  diarizer: ../{DIARIZER}/\n")
        requests = []
        for one in asked(recognizer):
            length, words = one["input"]["sound"], one["answer"]["parts"]
            turns, gap = speaker_diarizer.answer(model, None, length, {})
            assert gap > 0, "another sound: float32 decides"
            params = {key: value for key, value in one["params"].items() if key == "language"}
            joined = join(words, turns, has_spaces)
            assert len({turn["speaker"] for turn in joined}) > 1, joined
            requests.append({"input": one["input"], "params": params, "answer": {**one["answer"], "turns": joined}})
        rows.append({"architecture": f"speaker_diarizer with {recognizer}", "repository": repository, "requests": requests})
    answers("conversation_transcriber", rows)
