"""Makes repositories.json: the modules of repositories as sentence-transformers 5.7 saves them, and the vector that it
makes of the tokens of "the population of london" (ids.json's short, by tokenizer.json). And padded.json: the vectors of
"london" and that text, whose hidden states come from one batch with padding on the left. The padding is cut off before
the pooling, as sentence-transformers itself does with flattened inputs: otherwise weightedmean would count it.

The model stands for itself: the hidden state of token `id` at position `p` (from 0) is eight numbers
sin(id * 0.37 (d + 1) + (p + 1) * 0.11 (d + 1)).

Run: python make.py, with sentence-transformers 5.7 and torch.
"""

import base64
import json
import tempfile
from pathlib import Path

import torch
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling

HERE = Path(__file__).parent
short = json.loads((HERE / "ids.json").read_text())["short"]
# [CLS], "london", [SEP], behind three of [PAD].
london = [0, 0, 0, short[0], *short[-2:]]
step = torch.arange(1, 9, dtype=torch.float64)


def hidden(rows):
    ids = torch.tensor(rows, dtype=torch.float64)
    return torch.sin(ids[..., None] * step * 0.37 + torch.arange(1, ids.shape[-1] + 1)[:, None] * step * 0.11).float()


torch.manual_seed(1)
REPOSITORIES = {mode: [Pooling(8, mode), Normalize()] for mode in Pooling.POOLING_MODES}
REPOSITORIES |= {
    "cls and mean": [Pooling(8, ("cls", "mean"))],
    "dense": [Pooling(8, "mean"), Dense(8, 5), Normalize()],
    "two dense": [Pooling(8, "mean"), Dense(8, 6, activation_function=torch.nn.Identity()), Dense(6, 3, bias=False)],
}


def save(modules):
    """Returns the files of the modules: JSON as it is, others in base64."""
    names = [f"{at}_{type(module).__name__}" for at, module in enumerate(modules, 1)]
    paths = ["", *names]
    types = ["sentence_transformers.base.modules.transformer.Transformer"]
    types += [f"{type(module).__module__}.{type(module).__name__}" for module in modules]
    files = {"modules.json": [{"idx": at, "name": str(at), "path": p, "type": t} for at, (p, t) in enumerate(zip(paths, types))]}
    with tempfile.TemporaryDirectory() as folder:
        for name, module in zip(names, modules):
            (Path(folder) / name).mkdir()
            module.save(str(Path(folder) / name))
        for path in sorted(Path(folder).rglob("*.*")):
            data = path.read_bytes()
            value = json.loads(data) if path.suffix == ".json" else base64.b64encode(data).decode()
            files[str(path.relative_to(folder))] = value
    return files


def vector(row, modules):
    states = hidden(row)[row.count(0) :]
    features = {"token_embeddings": states[None], "attention_mask": torch.ones(1, len(states), dtype=torch.int64)}
    for module in modules:
        features = module(features)
    return features["sentence_embedding"][0].tolist()


def write(name, value):
    (HERE / name).write_text(json.dumps(value, indent=1) + "\n")


result = {}
for name, modules in REPOSITORIES.items():
    result[name] = {"files": save(modules), "vector": vector(short, modules)}
write("repositories.json", result)
write("padded.json", {name: [vector(row, modules) for row in (london, short)] for name, modules in REPOSITORIES.items()})
