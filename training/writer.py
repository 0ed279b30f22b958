"""Trains the gallery's language model, which goes on with a tale, and writes its repository.

    python -m venv .venv
    .venv/bin/pip install torch numpy tokenizers onnx onnxruntime
    .venv/bin/python training/writer.py train TEXTS WORK     # 68 minutes on one thread; WORK keeps the tokenizer and checkpoints
    .venv/bin/python training/writer.py export TEXTS WORK    # the last checkpoint → the repository and the metrics

TEXTS is a folder with Project Gutenberg's plain texts of writer.texts.json, `pgNUMBER.txt`. They were read from two public
repositories on GitHub, which that file names with the commit and each text's sha256; they are not part of this repository.

Reads   TEXTS, training/writer.texts.json
Writes  public/models/writer/   config.json, generation_config.json, tokenizer.json, chat_template.jinja, onnx/model_quantized.onnx
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
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper
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


# ── Export ──────────────────────────────────────────────────────────────────────────────────────

BLOCK = 32  # Weights that share a scale.


class Graph:
    """An ONNX graph, node by node."""

    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind, *inputs, outputs=None, domain="", **attributes):
        self.count += 1
        names = outputs or [f"{kind}_{self.count}"]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}_{self.count}", domain=domain, **attributes))
        return names[0] if len(names) == 1 else names

    def quantized(self, name, weight):
        """A matrix in 8 bits, with a scale for each 32 weights of a row. Returns the names of both."""
        rows, columns = weight.shape
        blocks = weight.reshape(rows, columns // BLOCK, BLOCK)
        scales = np.abs(blocks).max(-1, keepdims=True) / 127
        bytes_ = (np.rint(blocks / np.maximum(scales, 1e-12)) + 128).astype(np.uint8)
        return self.constant(f"{name}.weight", bytes_), self.constant(f"{name}.scales", scales.reshape(rows, columns // BLOCK).astype(np.float32))

    def linear(self, x, names, rows, columns, **options):
        return self.op("MatMulNBits", x, *names, domain="com.microsoft", K=columns, N=rows, bits=8, block_size=BLOCK, **options)


def make_graph(model):
    """The model with a cache: `past_key_values.*` has the keys and values of earlier tokens, `present.*` those of all."""
    graph = Graph()
    op, constant = graph.op, graph.constant
    number = lambda name, value, kind: constant(name, np.array(value, kind))
    zero, one, two, three = (number(f"int.{value}", [value], np.int64) for value in (0, 1, 2, 3))
    numpy = lambda weight: weight.detach().float().numpy()

    # Of which earlier tokens and of which of its own does a token know?
    length = op("Shape", "input_ids", start=1, end=2)
    total = op("Shape", "attention_mask", start=1, end=2)
    scalar = number("shape.scalar", [], np.int64)
    keys = op("Range", number("int64.0", 0, np.int64), op("Reshape", total, scalar), number("int64.1", 1, np.int64))
    queries = op("Slice", keys, op("Sub", total, length), total, zero)
    is_before = op("LessOrEqual", op("Unsqueeze", keys, zero), op("Unsqueeze", queries, one))
    is_there = op("Unsqueeze", op("Cast", "attention_mask", to=TensorProto.BOOL), constant("axes.1.2", np.array([1, 2], np.int64)))
    bias = op("Where", op("And", is_before, is_there), number("float.0", 0, np.float32), number("float.low", -1e9, np.float32))

    # Rotary positions.
    steps = constant("frequencies", frequencies().numpy().astype(np.float32).reshape(1, 1, -1))
    angles = op("Mul", op("Unsqueeze", op("Cast", "position_ids", to=TensorProto.FLOAT), two), steps)
    cos, sin = (op("Unsqueeze", op(kind, angles), one) for kind in ("Cos", "Sin"))

    def norm(x, name, weight):
        mean = op("ReduceMean", op("Mul", x, x), number(f"{name}.axes", [-1], np.int64), keepdims=1)
        root = op("Sqrt", op("Add", mean, number(f"{name}.epsilon", EPSILON, np.float32)))
        return op("Mul", op("Div", x, root), constant(f"{name}.weight", numpy(weight)))

    def rotated(x, name):
        first, second = op("Split", x, outputs=[f"{name}.first", f"{name}.second"], axis=-1, num_outputs=2)
        turned = [op("Sub", op("Mul", first, cos), op("Mul", second, sin)), op("Add", op("Mul", second, cos), op("Mul", first, sin))]
        return op("Concat", *turned, axis=-1)

    embedding = graph.quantized("embedding", numpy(model.embedding.weight))
    bytes_ = op("Cast", op("Gather", embedding[0], "input_ids"), to=TensorProto.FLOAT)
    scales = op("Unsqueeze", op("Gather", embedding[1], "input_ids"), three)
    blocks = op("Mul", op("Sub", bytes_, number("float.128", 128, np.float32)), scales)
    x = op("Reshape", blocks, constant("shape.hidden", np.array([0, 0, WIDTH], np.int64)))
    heads = constant("shape.heads", np.array([0, 0, HEADS, HEAD], np.int64))
    caches = []
    for index, layer in enumerate(model.layers):
        name = f"layers.{index}"
        matrix = lambda x, part: graph.linear(x, graph.quantized(f"{name}.{part}", numpy(getattr(layer, part).weight)), *getattr(layer, part).weight.shape)
        qkv = matrix(norm(x, f"{name}.before_attention", layer.before_attention.weight), "qkv")
        parts = op("Split", qkv, outputs=[f"{name}.{part}" for part in ("query", "key", "value")], axis=-1, num_outputs=3)
        query, key, value = (op("Transpose", op("Reshape", part, heads), perm=[0, 2, 1, 3]) for part in parts)
        query, key = rotated(query, f"{name}.query"), rotated(key, f"{name}.key")
        for kind, new in (("key", key), ("value", value)):
            op("Concat", f"past_key_values.{index}.{kind}", new, outputs=[f"present.{index}.{kind}"], axis=2)
            caches.append((f"past_key_values.{index}.{kind}", f"present.{index}.{kind}"))
        scores = op("MatMul", query, op("Transpose", f"present.{index}.key", perm=[0, 1, 3, 2]))
        scores = op("Add", op("Mul", scores, number(f"{name}.scale", HEAD**-0.5, np.float32)), bias)
        mixed = op("MatMul", op("Softmax", scores, axis=-1), f"present.{index}.value")
        mixed = op("Reshape", op("Transpose", mixed, perm=[0, 2, 1, 3]), "shape.hidden")
        x = op("Add", x, matrix(mixed, "out"))
        gate, up = op("Split", matrix(norm(x, f"{name}.before_mlp", layer.before_mlp.weight), "gate_up"), outputs=[f"{name}.gate", f"{name}.up"], axis=-1, num_outputs=2)
        x = op("Add", x, matrix(op("Mul", op("Mul", gate, op("Sigmoid", gate)), up), "down"))
    graph.op("MatMulNBits", norm(x, "norm", model.norm.weight), *embedding, outputs=["logits"], domain="com.microsoft", K=WIDTH, N=VOCABULARY, bits=8, block_size=BLOCK)

    info = helper.make_tensor_value_info
    cache = lambda name, length: info(name, TensorProto.FLOAT, ["batch_size", HEADS, length, HEAD])
    inputs = [info("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"]), info("attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"]), info("position_ids", TensorProto.INT64, ["batch_size", "sequence_length"])]
    made = helper.make_graph(
        graph.nodes, "writer", [*inputs, *(cache(past, "past_sequence_length") for past, _ in caches)],
        [info("logits", TensorProto.FLOAT, ["batch_size", "sequence_length", VOCABULARY]), *(cache(present, "total_sequence_length") for _, present in caches)], graph.weights)
    exported = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], producer_name="tabserve training/writer.py")
    exported.ir_version = 9
    return exported


CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "intermediate_size": HIDDEN,
    "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "head_dim": HEAD, "hidden_act": "silu",
    "max_position_embeddings": CONTEXT, "rms_norm_eps": EPSILON, "rope_theta": THETA, "tie_word_embeddings": True,
    "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0, "transformers.js_config": {"dtype": "q8"},
}
GENERATION = {"eos_token_id": 0, "pad_token_id": 0, "do_sample": True, "temperature": 0.8, "top_k": 40, "max_new_tokens": 200}
PROMPTS = ["Once upon a time there was a king who had three daughters.", "The old witch looked at the boy and said:", "In the middle of the wood"]


def greedy(run, ids, length):
    """The most probable tokens, one by one with the cache."""
    cache = {f"past_key_values.{layer}.{kind}": np.zeros([1, HEADS, 0, HEAD], np.float32) for layer in range(LAYERS) for kind in ("key", "value")}
    new, answer = list(ids), []
    while len(answer) < length:
        past = next(iter(cache.values())).shape[2]
        feeds = {"input_ids": np.array([new], np.int64), "attention_mask": np.ones([1, past + len(new)], np.int64), "position_ids": np.arange(past, past + len(new), dtype=np.int64)[None]}
        logits, *presents = run(None, {**feeds, **cache})
        cache = dict(zip(cache, presents))
        new = [int(logits[0, -1].argmax())]
        answer += new
    return answer


def export(texts, work):
    torch.set_num_threads(1)
    checkpoint = torch.load(work / "writer.pt")
    model = Writer().eval()
    model.load_state_dict(checkpoint["model"])
    tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
    kept, held = read_stories(texts)
    held_tokens = tokens_of(tokenizer, held)
    (REPOSITORY / "onnx").mkdir(parents=True, exist_ok=True)
    file = REPOSITORY / "onnx/model_quantized.onnx"
    onnx.save(make_graph(model), file)
    (REPOSITORY / "tokenizer.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
    write_json(REPOSITORY / "config.json", CONFIG)
    write_json(REPOSITORY / "generation_config.json", GENERATION)
    # It knows no conversations: it goes on with what is said.
    (REPOSITORY / "chat_template.jinja").write_text("{% for message in messages %}{{ message['content'] }}{% endfor %}")

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    ids = tokenizer.encode(PROMPTS[0]).ids
    empty = {one.name: np.zeros([1, HEADS, 0, HEAD], np.float32) for one in session.get_inputs() if one.name.startswith("past")}
    feeds = lambda ids: {"input_ids": np.array([ids], np.int64), "attention_mask": np.ones([1, len(ids)], np.int64), "position_ids": np.arange(len(ids))[None], **empty}
    with torch.no_grad():
        right = model(torch.tensor([ids]))[0].numpy()
    logits = session.run(["logits"], feeds(ids))[0][0]
    pieces = [held_tokens[at : at + CONTEXT + 1].astype(np.int64) for at in range(0, len(held_tokens) - CONTEXT - 1, CONTEXT)]
    losses = []
    for piece in pieces:
        found = torch.from_numpy(session.run(["logits"], feeds(piece[:-1]))[0][0])
        losses.append(F.cross_entropy(found, torch.from_numpy(piece[1:])).item())
    characters = sum(map(len, held)) / len(held_tokens)
    loss = sum(losses) / len(losses)
    answers = {prompt: tokenizer.decode(greedy(session.run, tokenizer.encode(prompt).ids, 60)) for prompt in PROMPTS}
    write_json(ROOT / "training/writer.metrics.json", {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "stories": len(kept), "characters": sum(map(len, kept)), "tokens": len(tokens_of(tokenizer, kept)),
        "steps": checkpoint["steps"], "tokensSeen": checkpoint["steps"] * BATCH, "minutes": round(checkpoint["seconds"] / 60, 1),
        "heldBack": {"stories": len(held), "tokens": len(held_tokens), "charactersPerToken": round(characters, 3), "loss": round(held_back_loss(model, held_tokens), 4), "lossIn8Bits": round(loss, 4), "bitsPerCharacter": round(loss / math.log(2) / characters, 4)},
        "largestErrorOfLogits": round(float(np.abs(logits - right).max()), 4),
        "bytes": sum(path.stat().st_size for path in REPOSITORY.rglob("*") if path.is_file()),
        "greedy": answers,
    })


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["train", "export"])
    parser.add_argument("texts", type=Path)
    parser.add_argument("work", type=Path)
    given = parser.parse_args()
    if given.action == "train":
        train(given.texts, given.work)
    else:
        export(given.texts, given.work)
