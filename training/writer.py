"""Trains the gallery's language model, which goes on with a tale, and writes its repository.

    python -m venv .venv
    .venv/bin/pip install torch numpy tokenizers onnx onnxruntime
    .venv/bin/python training/writer.py train TEXTS WORK     # 68 minutes on one thread; WORK keeps the tokenizer and checkpoints
    .venv/bin/python training/writer.py export TEXTS WORK    # the last checkpoint → the repository and the metrics

TEXTS is a folder with Project Gutenberg's plain texts of writer.texts.json, `pgNUMBER.txt`. They were read from two public
repositories on GitHub, which that file names with the commit and each text's sha256; they are not part of this repository.

Reads   TEXTS, training/writer.texts.json
Writes  public/models/writer/   config.json, generation_config.json, tokenizer.json, onnx/model_quantized.onnx
        training/writer.metrics.json

The model card (public/models/writer/README.md) is written by hand from writer.metrics.json. The schedule follows the clock,
so two runs differ in their last digits.
"""

import argparse
import hashlib
import json
import math
import re
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn

from common import ROOT, write_json

SEED = 20261127
REPOSITORY = ROOT / "public/models/writer"
TEXTS = json.loads((ROOT / "training/writer.texts.json").read_text())
END = "<|endoftext|>"

VOCABULARY, CONTEXT = 4096, 512
WIDTH, LAYERS, HEADS, HIDDEN = 256, 5, 4, 640
HEAD = WIDTH // HEADS
THETA, EPSILON = 10000.0, 1e-5

BATCH = 4096  # tokens
LENGTHS = [256, CONTEXT]  # Shorter pieces take less time; the last third of the training has pieces of the whole context.
MINUTES = 68
RATE, MATRIX_RATE, WEIGHT_DECAY = 3e-3, 0.02, 0.1
HELD_BACK = 50  # Every 50th story is never trained on.


# ── Text ────────────────────────────────────────────────────────────────────────────────────────


def stories_of(text):
    """A book's stories or chapters, as paragraphs of one line each."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    start = re.search(r"\*\*\* ?START OF TH.*?\*\*\*", text, re.S)
    end = re.search(r"\*\*\* ?END OF TH", text)
    text = text[start.end() : end.start()]
    for pattern, plain in (("[“”]", '"'), ("[‘’]", "'"), ("—", "--"), (r"\[(Illustration|Footnote)[^\]]*\]", ""), (r"\[\d+\]|\(\d+\)", ""), ("_", ""), ("  +", " ")):
        text = re.sub(pattern, plain, text)
    stories, story = [], []
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        one = " ".join(lines)
        if is_heading(one):
            stories.append(story)
            story = []
        elif is_prose(lines):
            story.append(one)
    stories.append(story)
    return ["\n\n".join(one) for one in stories if sum(map(len, one)) > 600]


def is_heading(line):
    return len(line) < 90 and (line.upper() == line or re.match(r"(chapter|story|part) [\divxlc]+\b", line, re.I) is not None) and re.search("[A-Z]", line) is not None


def is_prose(lines):
    """Not a table of contents, a note of the producers, or a rule of asterisks."""
    one = " ".join(lines)
    words = re.findall(r"[A-Za-z']+", one)
    return bool(words) and not re.search(r"gutenberg|transcriber|e-?text|produced by|copyright|illustrat", one, re.I) and sum(map(str.islower, words)) * 2 >= len(words)


def read_stories(folder):
    kept, held = [], []
    for entry in TEXTS["texts"]:
        data = (folder / f"pg{entry['number']}.txt").read_bytes()
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise SystemExit(f"pg{entry['number']}.txt ({entry['title']}) is another version than the one of writer.texts.json")
        for index, story in enumerate(stories_of(data.decode("utf-8"))):
            (held if (index + entry["number"]) % HELD_BACK == 0 else kept).append(story)
    return kept, held


def make_tokenizer(stories):
    """Byte-level BPE, as GPT-2 has it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(stories, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return tokenizer


def tokens_of(tokenizer, stories):
    """Every story begins after the end of another one."""
    ids = []
    for story in stories:
        ids += [0, *tokenizer.encode(story).ids]
    return np.array([*ids, 0], np.int16)


# ── Model ───────────────────────────────────────────────────────────────────────────────────────


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weight


def frequencies():
    return THETA ** (-torch.arange(0, HEAD, 2) / HEAD)


def rotate(x, cos, sin):
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class Layer(nn.Module):
    """Llama's: attention with rotary positions, then SwiGLU, each after an RMS norm and added to its input."""

    def __init__(self):
        super().__init__()
        self.before_attention, self.before_mlp = Norm(), Norm()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate_up = nn.Linear(WIDTH, 2 * HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x, cos, sin):
        rows, length, _ = x.shape
        query, key, value = (one.view(rows, length, HEADS, HEAD).transpose(1, 2) for one in self.qkv(self.before_attention(x)).chunk(3, -1))
        query, key = rotate(query, cos, sin).to(value.dtype), rotate(key, cos, sin).to(value.dtype)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, length, WIDTH))
        gate, up = self.gate_up(self.before_mlp(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = Norm()
        nn.init.normal_(self.embedding.weight, std=0.02)
        for name, weight in self.named_parameters():
            if weight.ndim == 2 and "embedding" not in name:
                nn.init.normal_(weight, std=0.02 / (math.sqrt(2 * LAYERS) if "out" in name or "down" in name else 1))

    def forward(self, ids):
        angles = torch.outer(torch.arange(ids.shape[1]).float(), frequencies())
        cos, sin = angles.cos(), angles.sin()
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return F.linear(self.norm(x), self.embedding.weight)

    def loss(self, batch):
        with torch.autocast("cpu", torch.bfloat16):
            logits = self(batch[:, :-1])
        return F.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten())


class Muon(torch.optim.Optimizer):
    """Momentum whose step is made orthogonal by five Newton–Schulz iterations (Jordan, 2024): for the matrices of the layers."""

    def __init__(self, weights, rate):
        super().__init__(weights, {"lr": rate})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                momentum = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                momentum.lerp_(weight.grad, 0.05)
                x = weight.grad.lerp(momentum, 0.95).bfloat16()
                is_tall = x.shape[0] > x.shape[1]
                x = x.T if is_tall else x
                x = x / (x.norm() + 1e-7)
                for _ in range(5):
                    gram = x @ x.T
                    x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
                x = x.T if is_tall else x
                weight.mul_(1 - group["lr"] * WEIGHT_DECAY)
                weight.add_(x.float(), alpha=-group["lr"] * max(1, weight.shape[0] / weight.shape[1]) ** 0.5)


# ── Training ────────────────────────────────────────────────────────────────────────────────────


def batches(tokens, generator, length_now):
    """All tokens in pieces, in a new order and from another offset in each round."""
    while True:
        length = length_now()
        offset = int(torch.randint(CONTEXT, (1,), generator=generator))
        pieces = (len(tokens) - offset - 1) // length
        rows_each = BATCH // length
        for rows in torch.randperm(pieces, generator=generator)[: pieces // rows_each * rows_each].view(-1, rows_each):
            yield torch.stack([piece_of(tokens[offset:], row, length) for row in rows.tolist()])
            if length_now() != length:
                break


def piece_of(tokens, index, length):
    return torch.from_numpy(tokens[index * length : (index + 1) * length + 1].astype(np.int64))


@torch.no_grad()
def held_back_loss(model, tokens):
    model.eval()
    pieces = (len(tokens) - 1) // CONTEXT
    losses = [model.loss(piece_of(tokens, piece, CONTEXT)[None]).item() for piece in range(pieces)]
    model.train()
    return sum(losses) / len(losses)


def train(texts, work):
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    work.mkdir(parents=True, exist_ok=True)
    kept, held = read_stories(texts)
    tokenizer = make_tokenizer(kept)
    tokenizer.save(str(work / "tokenizer.json"))
    tokens, held_tokens = tokens_of(tokenizer, kept), tokens_of(tokenizer, held)
    print(f"{len(kept)} stories, {sum(map(len, kept))} characters, {len(tokens)} tokens; held back {len(held)}, {len(held_tokens)} tokens", flush=True)
    model = Writer()
    matrices = [weight for name, weight in model.layers.named_parameters() if weight.ndim == 2]
    others = [model.embedding.weight, *(weight for weight in model.parameters() if weight.ndim < 2)]
    optimizers = [Muon(matrices, MATRIX_RATE), torch.optim.AdamW(others, RATE, betas=(0.9, 0.95), weight_decay=0)]
    rates = [MATRIX_RATE, RATE]
    print(f"{sum(weight.numel() for weight in model.parameters())} parameters", flush=True)
    start, steps, total, saved = time.time(), 0, 0.0, 0.0
    progress = lambda: (time.time() - start) / (MINUTES * 60)
    compiled = torch.compile(model.loss)
    for batch in batches(tokens, torch.Generator().manual_seed(SEED), lambda: LENGTHS[progress() > 2 / 3]):
        done = progress()
        if done >= 1:
            break
        for optimizer, rate in zip(optimizers, rates):
            optimizer.param_groups[0]["lr"] = rate * min(1, (steps + 1) / 100) * min(1, (1 - done) / 0.5)
        loss = compiled(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(others, 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        steps += 1
        total += loss.item()
        if steps % 50 == 0:
            print(f"step {steps}  {done:.1%}  {steps * BATCH / (time.time() - start):.0f} tokens/s  loss {total / 50:.3f}", flush=True)
            total = 0.0
        if time.time() - saved > 240:
            saved = time.time()
            save(model, work, steps, saved - start)
    save(model, work, steps, time.time() - start)
    print(f"held back: {held_back_loss(model, held_tokens):.4f}", flush=True)


def save(model, work, steps, seconds):
    torch.save({"model": model.state_dict(), "steps": steps, "seconds": seconds}, work / "new.pt")
    (work / "new.pt").replace(work / "writer.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["train", "export"])
    parser.add_argument("texts", type=Path)
    parser.add_argument("work", type=Path)
    given = parser.parse_args()
    if given.action == "train":
        train(given.texts, given.work)
