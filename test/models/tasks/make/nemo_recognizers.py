"""Recognizers of NeMo's architecture (FastConformer) with random weights, in the files of onnx-asr, which answers in Python: `pip install onnx-asr==0.12.0`."""
import itertools
import json
import math
import pathlib
import shutil
import tempfile

import numpy as np
import onnx
import onnx_asr
import torch
from onnx_asr.models.nemo import NemoConformerRnnt
from onnxruntime.quantization import QuantType, quantize_dynamic

from basics import HERE, RATE, sound
from common import spread, strip
from seeded import store

PIECES = ["<unk>", "▁the", "▁a", "s", "▁b", "e", "ing", "t", "▁c", "d", ".", "▁d", "er", "▁e", "o", "▁f", "ou", "▁g", "n", "▁h", ",", "▁I", "'", "re", "<blk>"]
DURATIONS = 5
MELS, WIDTH, SUBSAMPLING = 128, 16, 8
BLANK_BIAS = {"tdt": 3, "rnnt": 4}
# Samples of a frame.
FRAME = 160 * SUBSAMPLING
# Between the two likeliest classes; with less, float32 decides.
MIN_GAP = 2e-3


class Encoder(torch.nn.Module):
    """Three strided convolutions that know how long the sound is, and a block of a conformer."""

    def __init__(self):
        super().__init__()
        self.strided = torch.nn.ModuleList([torch.nn.Conv2d(size, 4, 3, stride=2, padding=1) for size in (1, 4, 4)])
        self.project = torch.nn.Linear(4 * MELS // 8, WIDTH)
        self.query, self.key, self.value = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.depthwise = torch.nn.Conv1d(WIDTH, WIDTH, 5, padding=2, groups=WIDTH)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(WIDTH) for _ in range(3)])
        self.wide, self.narrow = torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, audio_signal, length):
        hidden = audio_signal.transpose(1, 2)[:, None]
        for conv in self.strided:
            hidden = torch.relu(conv(hidden * self.mask(hidden.shape[2], length)[:, None, :, None]))
            length = (length - 1) // 2 + 1
        hidden = self.project(hidden.permute(0, 2, 1, 3).flatten(2))
        mask = self.mask(hidden.shape[1], length)
        normed = self.norms[0](hidden)
        scores = self.query(normed) @ self.key(normed).transpose(1, 2) / WIDTH**0.5
        scores = scores.masked_fill(mask[:, None] == 0, -1e4)
        hidden = hidden + scores.softmax(-1) @ self.value(normed)
        hidden = hidden + self.depthwise((self.norms[1](hidden) * mask[..., None]).transpose(1, 2)).transpose(1, 2)
        hidden = hidden + self.narrow(torch.nn.functional.silu(self.wide(self.norms[2](hidden))))
        return hidden.transpose(1, 2), length

    @staticmethod
    def mask(frames, length):
        return (torch.arange(frames)[None] < length[:, None]).float()


class Joint(torch.nn.Module):
    """The prediction network, an LSTM over the tokens so far, and the joint network, in one."""

    def __init__(self, classes):
        super().__init__()
        self.embedding = torch.nn.Embedding(len(PIECES), WIDTH)
        self.lstm = torch.nn.LSTM(WIDTH, WIDTH, 2)
        self.sound, self.text, self.out = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, classes)

    def forward(self, encoder_outputs, targets, target_length, input_states_1, input_states_2):
        hidden, (one, two) = self.lstm(self.embedding(targets.long()).transpose(0, 1), (input_states_1, input_states_2))
        # What comes next depends more on the token before than on the sound, so that one is not written ten times.
        joined = self.sound(encoder_outputs.transpose(1, 2))[:, :, None] + 4 * self.text(hidden.transpose(0, 1))[:, None]
        return self.out(torch.relu(joined)), target_length, one, two


class Ctc(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.out = Encoder(), torch.nn.Linear(WIDTH, len(PIECES))

    def forward(self, audio_signal, length):
        return self.out(self.encoder(audio_signal, length)[0].transpose(1, 2)).log_softmax(-1)


def write_graph(model, example, inputs, outputs, axes, path):
    with tempfile.TemporaryDirectory() as target:
        whole = pathlib.Path(target) / "model.onnx"
        torch.onnx.export(model, example, whole, input_names=inputs, output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)
        graph = onnx.load(whole)
    strip(graph)
    store(graph, path)


def write(kind, seed):
    """Writes a repository. @param kind tdt, rnnt or ctc"""
    folder = HERE / f"speech-nemo-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    torch.manual_seed(seed)
    heard = (torch.zeros(1, MELS, 41), torch.tensor([40]))
    axes = {"audio_signal": {0: "batch", 2: "frames"}, "length": {0: "batch"}}
    if kind == "ctc":
        write_graph(spread(Ctc(), seed), heard, ["audio_signal", "length"], ["logprobs"], {**axes, "logprobs": {0: "batch", 1: "steps"}}, folder / "model.onnx")
    else:
        named = {**axes, "outputs": {0: "batch", 2: "steps"}, "encoded_lengths": {0: "batch"}}
        write_graph(spread(Encoder(), seed), heard, ["audio_signal", "length"], ["outputs", "encoded_lengths"], named, folder / "encoder-model.onnx")
        joint = spread(Joint(len(PIECES) + (DURATIONS if kind == "tdt" else 0)), seed)
        # As of a trained model, most frames have no token.
        with torch.no_grad():
            joint.out.bias[len(PIECES) - 1] += BLANK_BIAS[kind]
        state = torch.zeros(2, 1, WIDTH)
        step = (torch.zeros(1, WIDTH, 1), torch.zeros(1, 1, dtype=torch.int32), torch.ones(1, dtype=torch.int32), state, state)
        names = ["encoder_outputs", "targets", "target_length", "input_states_1", "input_states_2"]
        write_graph(joint, step, names, ["outputs", "prednet_lengths", "output_states_1", "output_states_2"], {}, folder / "decoder_joint-model.onnx")
    if kind == "tdt":
        for name in ("encoder-model", "decoder_joint-model"):
            with tempfile.TemporaryDirectory() as target:
                quantize_dynamic(folder / f"{name}.onnx", pathlib.Path(target) / "model.onnx", weight_type=QuantType.QUInt8)
                store(onnx.load(pathlib.Path(target) / "model.onnx"), folder / f"{name}.int8.onnx")
    (folder / "vocab.txt").write_text("".join(f"{piece} {id}\n" for id, piece in enumerate(PIECES)))
    config = {"model_type": f"nemo-conformer-{kind}", "features_size": MELS, "subsampling_factor": SUBSAMPLING}
    if kind == "rnnt":
        config["max_tokens_per_step"] = 2
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return folder


class Listener:
    """onnx-asr, and what its decoder decides."""

    def __init__(self, folder, kind, **options):
        self.decided, self.gap = [], math.inf
        model = onnx_asr.load_model(f"nemo-conformer-{kind}", folder, providers=["CPUExecutionProvider"], **options)
        own = model.asr
        self.recognize = model.with_timestamps().recognize
        if kind == "ctc":
            encode = own._encode

            def noting(*given):
                logits, lengths = encode(*given)
                self.note(logits[0, :lengths[0]])
                self.decided = [len(list(group)) for id, group in itertools.groupby(logits[0, :lengths[0]].argmax(-1)) if id != own._blank_idx]
                return logits, lengths

            own._encode = noting
            return
        raw = NemoConformerRnnt._decode

        def decode(tokens, state, frame):
            scores, _, state = raw(own, tokens, state, frame)
            classes, durations = scores[:len(PIECES)], scores[len(PIECES):]
            self.note(classes[None])
            if len(durations):
                self.note(durations[None])
            duration = int(durations.argmax()) if len(durations) else -1
            if classes.argmax() != own._blank_idx:
                self.decided.append(max(1, duration))
            return classes, duration, state

        own._decode = decode

    def note(self, scores):
        best = np.sort(scores, -1)
        self.gap = min(self.gap, float((best[:, -1] - best[:, -2]).min()))

    def pieces(self, samples):
        """Returns the text, and pieces with their first and last frames."""
        self.decided = []
        found = self.recognize(samples, sample_rate=RATE)
        starts = [round(time * RATE / FRAME) for time in found.timestamps]
        ends = [start + lasts for start, lasts in zip(starts, self.decided, strict=True)]
        return found.text, list(zip(found.tokens, starts, ends))


def words(pieces):
    """Pieces as words: one that begins with a space begins a word."""
    found = []
    for text, start, end in pieces:
        if not found or text.startswith(" "):
            found.append([text.strip(), start, end])
        else:
            found[-1] = [found[-1][0] + text, found[-1][1], end]
    return found


def parts(found):
    return [{"text": text, "start": start * FRAME / RATE, "end": end * FRAME / RATE} for text, start, end in found]


def chunked(listener, samples, seconds):
    """Pieces of chunks that overlap by a third, cut in the longest pause of the middle half of what both have heard."""
    half_up = lambda value: math.floor(value + 0.5)
    size, edge = half_up(seconds * RATE / FRAME), half_up(seconds * RATE / 6 / FRAME)
    step = size - 2 * edge
    chunks = []
    for start in range(0, math.ceil(len(samples) / FRAME), step):
        _, pieces = listener.pieces(samples[start * FRAME:(start + size) * FRAME])
        chunks.append([(text, at + start, end + start) for text, at, end in pieces])
        if (start + size) * FRAME >= len(samples):
            break
    joined, before = [], 0
    for index, own in enumerate(chunks):
        until = math.inf
        if index + 1 < len(chunks):
            until = middle = (index + 1) * step + edge
            taken = {at for _, at, _ in own + chunks[index + 1]}
            runs, run = [], []
            for at in range(middle - edge // 2, middle + edge // 2 + 1):
                if at < middle + edge // 2 and at not in taken:
                    run.append(at)
                elif run:
                    runs.append(run)
                    run = []
            if runs:
                longest = max(runs, key=len)
                until = (longest[0] + longest[-1] + 1) // 2
        joined += [one for one in own if before <= one[1] < until]
        before = until
    return joined


def requests_of(listener):
    requests = []
    for length, params in [(24_000, {}), (40_000, {"timestamps": "word"}), (40_000, {"timestamps": "character"}), (80_000, {"chunkLength": 2, "timestamps": "word"})]:
        text, pieces = listener.pieces(sound(length))
        if "chunkLength" in params:
            pieces = chunked(listener, sound(length), params["chunkLength"])
            text = "".join(piece for piece, _, _ in pieces).strip()
        answer = {"text": text}
        if "timestamps" in params:
            answer["parts"] = parts(words(pieces) if params["timestamps"] == "word" else pieces)
        requests.append({"input": {"sound": length}, "params": params, "answer": answer})
    return requests


def rows():
    found = []
    for kind, name in [("tdt", "Parakeet TDT"), ("rnnt", "FastConformer RNN-T"), ("ctc", "FastConformer CTC")]:
        for seed in range(300):
            folder = write(kind, seed)
            listener = Listener(folder, kind)
            requests = requests_of(listener)
            texts = [one["answer"]["text"] for one in requests]
            kinds = {piece for text in texts for piece in text.split()}
            if listener.gap > MIN_GAP and all(5 < len(text) < 110 for text in texts) and len(kinds) > 5:
                break
        else:
            raise SystemExit(f"{kind}: no seed")
        print(folder.name, seed, listener.gap, texts)
        found.append({"architecture": name, "repository": folder.name, **({"gpu": ["webgpu"]} if kind == "tdt" else {}), "requests": requests})
    return found
