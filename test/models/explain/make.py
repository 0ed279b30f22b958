"""Makes `goldens.json`: explanations by NumPy, PyTorch and ONNX Runtime, for the specs in `test/unit/worker/tasks/explain` and `test/browser/explain.spec.ts`.

    pip install numpy torch onnxruntime pillow tokenizers
    python test/models/explain/make.py

Reads   public/models/digits, public/models/nanodet, public/models/languages, test/models/moderation, test/models/text/word-piece, test/models/tasks/tokens-bert, test/models/tasks/answer-bert

The masks of RISE are drawn by NumPy's `RandomState` and enlarged by PyTorch's `interpolate`; every variant is run alone. Nothing here is shared with the
TypeScript code. A heat map is stored as 64 of its numbers, at `x = (37 i + 11) mod width`, `y = (53 i + 7) mod height`, and its extremes.
"""

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from PIL import Image
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "training"))
from common import write_json  # noqa: E402


def softmax(logits):
    values = np.exp(logits.astype(np.float64) - logits.max())
    return values / values.sum()


# ── Models: an image becomes a tensor [channels, height, width], and a tensor becomes the scores of the classes ──────


def session(path):
    return onnxruntime.InferenceSession(str(ROOT / path))


def labels(folder):
    names = json.loads((ROOT / folder / "index_to_name.json").read_text())
    return names if isinstance(names, list) else [names[str(index)] for index in range(len(names))]


class Digits:
    url, folder = "/models/digits/", "public/models/digits"

    def __init__(self):
        self.model = session(f"{self.folder}/digits.onnx")

    def tensor(self, image):
        pixels = np.asarray(image.convert("L").resize((28, 28), Image.BILINEAR), np.float32) / np.float32(255)
        # scale x, scale y, offset x, offset y
        return self.normalized(pixels)[None], (28 / image.width, 28 / image.height, 0, 0)

    def normalized(self, values):
        return (values - np.float32(0.1307)) / np.float32(0.3081)

    def color(self, gray):
        return np.array([self.normalized(np.float32(gray / 255))], np.float32)

    def scores(self, tensor):
        return softmax(self.model.run(None, {self.model.get_inputs()[0].name: tensor[None]})[0][0])


class Moderation:
    url, folder = "/test/models/moderation/", "test/models/moderation"

    def __init__(self):
        self.model = session(f"{self.folder}/model.onnx")

    def tensor(self, image):
        pixels = np.asarray(image.convert("RGB").resize((224, 224), Image.BILINEAR), np.float32) / np.float32(255)
        return pixels.transpose(2, 0, 1), (224 / image.width, 224 / image.height, 0, 0)

    def color(self, gray):
        return np.full(3, gray / 255, np.float32)

    def scores(self, tensor):
        feeds = {self.model.get_inputs()[0].name: np.ascontiguousarray(tensor.transpose(1, 2, 0))[None]}
        return self.model.run(None, feeds)[0][0].astype(np.float64)


class Nanodet:
    url, folder = "/models/nanodet/", "public/models/nanodet"
    mean = np.array([103.53, 116.28, 123.675], np.float32)
    std = np.array([57.375, 57.12, 58.395], np.float32)

    def __init__(self):
        self.model = session(f"{self.folder}/model.onnx")
        self.classes = len(labels(self.folder))

    def tensor(self, image):
        scale = min(416 / image.height, 416 / image.width)
        width, height = round(image.width * scale), round(image.height * scale)
        canvas = Image.new("RGB", (416, 416))
        left, top = (416 - width) // 2, (416 - height) // 2
        canvas.paste(image.convert("RGB").resize((width, height), Image.BILINEAR), (left, top))
        pixels = np.asarray(canvas, np.float32)[:, :, ::-1]
        geometry = (width / image.width, height / image.height, left, top)
        return ((pixels - self.mean) / self.std).transpose(2, 0, 1), geometry

    def color(self, gray):
        return (np.float32(gray) - self.mean) / self.std

    def scores(self, tensor):
        outputs = self.model.run(None, {self.model.get_inputs()[0].name: np.ascontiguousarray(tensor)[None]})
        found = [output[0].max(axis=0) for output in outputs if output.shape[-1] == self.classes]
        # A box has one class: its best one. Of every class, the box with the highest score among those whose best class it is.
        scores = np.zeros(self.classes)
        for output in outputs:
            if output.shape[-1] != self.classes:
                continue
            best = output[0].argmax(axis=1)
            for index in set(best.tolist()):
                scores[index] = max(scores[index], output[0][best == index, index].max())
        assert len(found) == 3
        return scores


# ── Images ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def occlusion(run, tensor, target, window, stride, color):
    """The mean fall of the score over the windows that cover a pixel; windows at the edge are cut off."""
    _, height, width = tensor.shape
    full = run(tensor)[target]
    falls, covered = np.zeros((height, width)), np.zeros((height, width))
    count = 0
    for top in range(0, stride * math.ceil((height - window) / stride) + 1, stride):
        for left in range(0, stride * math.ceil((width - window) / stride) + 1, stride):
            variant = tensor.copy()
            variant[:, top : top + window, left : left + window] = color[:, None, None]
            falls[top : top + window, left : left + window] += full - run(variant)[target]
            covered[top : top + window, left : left + window] += 1
            count += 1
    return falls / covered, count


def rise_masks(height, width, masks, grid, probability, seed):
    random = np.random.RandomState(seed)
    cell_height, cell_width = math.ceil(height / grid), math.ceil(width / grid)
    for _ in range(masks):
        cells = (random.random_sample((grid, grid)) < probability).astype(np.float32)
        top, left = int(random.random_sample() * cell_height), int(random.random_sample() * cell_width)
        size = ((grid + 1) * cell_height, (grid + 1) * cell_width)
        large = torch.nn.functional.interpolate(torch.from_numpy(cells)[None, None], size=size, mode="bilinear", align_corners=False)
        yield large[0, 0].numpy()[top : top + height, left : left + width]


def rise(run, tensor, target, masks, grid, probability, seed, color):
    _, height, width = tensor.shape
    sums = np.zeros((height, width))
    for mask in rise_masks(height, width, masks, grid, probability, seed):
        variant = tensor * mask + color[:, None, None] * (1 - mask)
        sums += run(variant.astype(np.float32))[target] * mask.astype(np.float64)
    return sums / (probability * masks), masks


def to_image(heat, image, geometry):
    """Bilinear, between the centers of the tensor's pixels; NaN where the center of an image's pixel lies outside of the tensor."""
    scale_x, scale_y, offset_x, offset_y = geometry
    height, width = heat.shape
    # grid_sample without align_corners: −1 and 1 are the outer edges of the first and the last pixel.
    u = (np.arange(image.width) + 0.5) * scale_x + offset_x
    v = (np.arange(image.height) + 0.5) * scale_y + offset_y
    grid = np.stack(np.meshgrid(2 * u / width - 1, 2 * v / height - 1), axis=-1)
    found = torch.nn.functional.grid_sample(torch.from_numpy(heat)[None, None], torch.from_numpy(grid)[None], mode="bilinear", padding_mode="border", align_corners=False)[0, 0].numpy()
    inside = (v[:, None] >= 0) & (v[:, None] <= height) & (u[None] >= 0) & (u[None] <= width)
    return np.where(inside, found, np.nan)


def sample(heat):
    height, width = heat.shape
    return [round(float(heat[(53 * i + 7) % height, (37 * i + 11) % width]), 7) for i in range(64)]


def image_case(model, photo, options):
    image = Image.open(ROOT / photo)
    tensor, geometry = model.tensor(image)
    scores = model.scores(tensor)
    target = options.get("target", int(scores.argmax()))
    target = labels(model.folder).index(target) if isinstance(target, str) else target
    baseline = options.get("baseline")
    color = np.zeros(tensor.shape[0], np.float32) if baseline is None else model.color(baseline)
    if options.get("method") == "rise":
        heat, count = rise(model.scores, tensor, target, options["masks"], options.get("grid", 7), options.get("probability", 0.5), options.get("seed", 0), color)
    else:
        window = options.get("window", round(min(tensor.shape[1:]) / 7))
        heat, count = occlusion(model.scores, tensor, target, window, options.get("stride", window // 2), color)
    heat = to_image(heat, image, geometry)
    print(photo, options, labels(model.folder)[target], scores[target], count)
    return {
        "model": model.url,
        "photo": "/" + photo.removeprefix("public/"),
        "options": options,
        "index": target,
        "label": labels(model.folder)[target],
        "score": float(scores[target]),
        "variants": count,
        "size": [image.width, image.height],
        "low": float(np.nanmin(heat)),
        "high": float(np.nanmax(heat)),
        "heat": sample(heat),
    }


# ── Texts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Texts:
    def __init__(self, url, folder, model, names):
        self.url, self.names = url, names
        self.model = session(f"{folder}/{model}")
        self.tokenizer = Tokenizer.from_file(str(ROOT / folder / "tokenizer.json"))
        self.tokenizer.no_padding()

    def scores(self, text, pair):
        encoding = self.tokenizer.encode(text, pair)
        values = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
        feeds = {i.name: np.array([values[i.name]], np.int64) for i in self.model.get_inputs()}
        return softmax(self.model.run(None, feeds)[0][0])


def words(text):
    """For texts with spaces between words: runs of letters and digits, and single other signs. An apostrophe or a point within is part of the word."""
    return [(m.start(), m.end()) for m in re.finditer(r"\w+(?:['’.]\w+)*|[^\w\s]", text)]


def leave_out(text, start, end):
    before = text[:start].rstrip()
    return before + text[end:] if before else text[end:].lstrip()


def text_case(model, text, pair=None, target=None):
    scores = model.scores(text, pair)
    index = int(scores.argmax()) if target is None else model.names.index(target)
    found = []
    for start, end in words(text):
        found.append({"word": text[start:end], "start": start, "end": end, "of": "text", "weight": float(scores[index] - model.scores(leave_out(text, start, end), pair)[index])})
    for start, end in words(pair or ""):
        found.append({"word": pair[start:end], "start": start, "end": end, "of": "textPair", "weight": float(scores[index] - model.scores(text, leave_out(pair, start, end))[index])})
    print(repr(text), model.names[index], scores[index])
    return {
        "model": model.url,
        "input": text if pair is None else {"text": text, "textPair": pair},
        "options": {} if target is None else {"target": target},
        "index": index,
        "label": model.names[index],
        "score": float(scores[index]),
        "words": found,
    }


class Tokens:
    """A model of `test/models/tasks` that says something of each token."""

    def __init__(self, name):
        self.folder = f"test/models/tasks/{name}"
        self.url = f"/{self.folder}/"
        self.model = session(f"{self.folder}/onnx/model.onnx")
        self.tokenizer = Tokenizer.from_file(str(ROOT / self.folder / "tokenizer.json"))
        self.tokenizer.no_padding()

    def run(self, text, pair=None):
        encoding = self.tokenizer.encode(text, pair)
        values = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
        return encoding, self.model.run(None, {i.name: np.array([values[i.name]], np.int64) for i in self.model.get_inputs()})


def moved(start, end, without):
    """Where a part of a text is after another part was left out; None if that was this one."""
    if without is None or end <= without[0]:
        return start, end
    removed = without[1] - without[0]
    return None if start < without[1] else (start - removed, end - removed)


def removed_part(text, start, end):
    before = text[:start].rstrip()
    return (len(before), end) if before else (0, len(text) - len(text[end:].lstrip()))


def token_case(model, text, position=None, target=None):
    """The mean probability of each label over the tokens of a word, and its falls."""
    names = {int(index): name for index, name in json.loads((ROOT / model.folder / "config.json").read_text())["id2label"].items()}

    def scores(text, word):
        encoding, outputs = model.run(text)
        at = [i for i, (start, end) in enumerate(encoding.offsets) if encoding.sequence_ids[i] is not None and start < word[1] and end > word[0]]
        return np.mean([softmax(outputs[0][0][i]) for i in at], axis=0)

    found = [(scores(text, word), word) for word in words(text)]
    wanted = [index for index, name in names.items() if name != "O"]
    meant = [one for one in found if position is None or one[1][0] <= position < one[1][1]]
    best, word = max(meant, key=lambda one: one[0][wanted].max())
    index = wanted[int(best[wanted].argmax())] if target is None else [at for at, name in names.items() if name == target][0]
    weights = []
    for start, end in words(text):
        part = removed_part(text, start, end)
        there = moved(*word, part)
        score = scores(text[: part[0]] + text[part[1] :], there)[index] if there else 0
        weights.append({"word": text[start:end], "start": start, "end": end, "of": "text", "weight": float(best[index] - score)})
    print(repr(text), text[slice(*word)], names[index], best[index], [round(one["weight"], 3) for one in weights])
    options = {} if position is None else {"position": position}
    return {
        "model": model.url,
        "input": text,
        "options": options if target is None else {**options, "target": target},
        "index": index,
        "label": names[index],
        "score": float(best[index]),
        "word": text[slice(*word)],
        "start": word[0],
        "end": word[1],
        "words": weights,
    }


def answer_case(model, question, context, longest=15):
    """The probabilities that an answer starts in the first word of the best one, and ends in its last; and their falls."""

    def scores(question, context):
        encoding, outputs = model.run(question, context)
        logits = {output.name: values[0] for output, values in zip(model.model.get_outputs(), outputs)}
        # An answer is in the context, or the first token says that there is none.
        open_ = [i for i, of in enumerate(encoding.sequence_ids) if of == 1 or i == 0]
        found = []
        for name in ("start_logits", "end_logits"):
            values = np.full(len(encoding.ids), -np.inf)
            values[open_] = logits[name][open_]
            found.append(softmax(values))
        return encoding, *found

    def at(encoding, scores, place):
        """The sum over the tokens of the word at a place of the context."""
        if place is None:
            return 0.0
        inside = [i for i, of in enumerate(encoding.sequence_ids) if of == 1]
        word = next(encoding.word_ids[i] for i in inside if encoding.offsets[i][0] <= place < encoding.offsets[i][1])
        return float(sum(scores[i] for i in inside if encoding.word_ids[i] == word))

    encoding, starts, ends = scores(question, context)
    inside = [i for i, of in enumerate(encoding.sequence_ids) if of == 1]
    spans = [(starts[first] * ends[last], first, last) for first in inside for last in inside if first <= last < first + longest]
    sums = {}
    for score, first, last in sorted(spans, key=lambda span: -span[0])[:12]:
        same = [[i for i in inside if encoding.word_ids[i] == encoding.word_ids[token]] for token in (first, last)]
        span = encoding.offsets[same[0][0]][0], encoding.offsets[same[1][-1]][1]
        key = context[slice(*span)].lower()
        sums[key] = (sums[key][0] + score if key in sums else score, sums[key][1] if key in sums else span)
    start, end = max(sums.values(), key=lambda one: one[0])[1]
    whole = at(encoding, starts, start), at(encoding, ends, end - 1)
    found = []
    for of, text in (("question", question), ("context", context)):
        for word in words(text):
            part = removed_part(text, *word)
            shorter = text[: part[0]] + text[part[1] :]
            pair = (shorter, context) if of == "question" else (question, shorter)
            there = [moved(place, place + 1, part if of == "context" else None) for place in (start, end - 1)]
            encoding, starts, ends = scores(*pair)
            falls = [one - at(encoding, values, place and place[0]) for one, values, place in zip(whole, (starts, ends), there)]
            found.append({"word": text[slice(*word)], "start": word[0], "end": word[1], "of": of, "startWeight": falls[0], "endWeight": falls[1]})
    print(repr(question), context[start:end], whole, [round(one["startWeight"], 3) for one in found])
    return {
        "model": model.url,
        "input": {"question": question, "context": context},
        "answer": context[start:end],
        "start": start,
        "end": end,
        "startScore": whole[0],
        "endScore": whole[1],
        "words": found,
    }


if __name__ == "__main__":
    tokens, questions = Tokens("tokens-bert"), Tokens("answer-bert")
    digits, moderation, nanodet = Digits(), Moderation(), Nanodet()
    languages = Texts("/models/languages/", "public/models/languages", "languages.onnx", labels("public/models/languages"))
    pooled = Texts("/test/models/text/word-piece/", "test/models/text/word-piece", "model.onnx", ["first", "second", "third"])
    drawn, cat = "public/models/digits/samples/drawn-3.png", "public/models/nanodet/samples/cat.jpg"
    write_json(
        HERE / "goldens.json",
        {
            # NumPy's own numbers, and the first mask of RISE, for the unit tests.
            "random": {str(seed): np.random.RandomState(seed).random_sample(1000)[[0, 1, 311, 312, 999]].tolist() for seed in (0, 7, 2**32 - 1)},
            "masks": [[round(float(value), 6) for value in mask.ravel()] for mask in rise_masks(10, 13, 3, 3, 0.4, 5)],
            "images": [
                image_case(digits, drawn, {}),
                image_case(digits, drawn, {"target": 8, "window": 9, "stride": 4, "baseline": 0}),
                image_case(digits, drawn, {"method": "rise", "masks": 300, "seed": 7, "baseline": 0}),
                image_case(digits, "public/models/digits/samples/digit-9.png", {"method": "rise", "masks": 100, "grid": 4, "probability": 0.3, "target": "four"}),
                image_case(moderation, cat, {"window": 80, "stride": 48}),
                image_case(moderation, cat, {"method": "rise", "masks": 24, "seed": 3}),
                image_case(nanodet, cat, {"window": 160, "stride": 128, "target": "cat"}),
            ],
            "texts": [
                text_case(languages, "Nachts schlafen die Katzen auf dem warmen Dach."),
                text_case(languages, "taxi", target="Swedish"),
                text_case(languages, "  Le chat, le 3.5 chien's —  and the dog!", target="English"),
                text_case(pooled, "Hello, world!", "The quick brown fox"),
            ],
            "tokens": [
                token_case(tokens, "Marie Curie was born in Warsaw."),
                token_case(tokens, "  Marie Curie, of Paris,  was born in Warsaw.", position=18),
                token_case(tokens, "Marie Curie was born in Warsaw.", position=24, target="B-PER"),
            ],
            "answers": [
                answer_case(questions, "Where was Marie Curie born?", "Marie Curie was born in Warsaw and worked in Paris."),
                answer_case(questions, "Who sat?", " The cat sat on the mat.  The dog ran."),
            ],
        },
    )
