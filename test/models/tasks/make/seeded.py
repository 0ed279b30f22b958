"""Weights that are stored as seeds: `../fill.ts` makes the same numbers of them, bit for bit.

A model is stored as `model.onnx.gz`, in which the weights that `fill` drew are zeros, and `model.seeds.json`, which says where
they are. Before the tests, `fill.ts` writes `model.onnx`, which git ignores.
"""
import gzip
import json
import zlib

import numpy as np

# Smaller weights stay in the file.
MIN_BYTES = 1024
# What was drawn, by its bytes.
DRAWN = {}


def generate(seed, count, scale):
    """Uniform numbers in −scale..scale: `generate` of `src/worker/models/golden.ts`, times a scale."""
    powers = np.cumprod(np.full(count, 1664525, np.uint32), dtype=np.uint32)
    sums = np.cumsum(np.concatenate([np.ones(1, np.uint32), powers[:-1]]), dtype=np.uint32)
    states = powers * np.uint32(seed) + sums * np.uint32(1013904223)
    units = (states.astype(np.float64) / 2**31 - 1).astype(np.float32)
    return (units.astype(np.float64) * scale).astype(np.float32)


def draw(name, dims, seed, scale):
    """Returns weights, and remembers their seed. @param name of the weights: each has numbers of its own @param scale the largest"""
    own = zlib.crc32(f"{seed}/{name}".encode())
    values = generate(own, int(np.prod(dims)), scale).reshape(dims)
    fields = {"seed": own, "dims": list(dims), "scale": scale}
    # Exporters transpose matrices.
    for key, transposed in ((values.tobytes(), {}), (values.reshape(dims[0], -1).T.tobytes(), {"transposed": True})):
        if len(key) >= MIN_BYTES:
            DRAWN.setdefault(key, {**fields, **transposed})
    return values


def store(graph, path):
    """Writes a model, whole and as it is stored. @param path of the whole"""
    path.write_bytes(graph.SerializeToString())
    found = bytearray(path.read_bytes())
    seeds = []
    for raw in sorted({tensor.raw_data for tensor in graph.graph.initializer if tensor.raw_data in DRAWN}):
        at = found.find(raw)
        while at >= 0:
            seeds.append({"at": at, **DRAWN[raw]})
            found[at : at + len(raw)] = bytes(len(raw))
            at = found.find(raw)
    path.with_suffix(".onnx.gz").write_bytes(gzip.compress(bytes(found), 9, mtime=0))
    if seeds:
        lines = ",\n".join(json.dumps(one) for one in sorted(seeds, key=lambda one: one["at"]))
        path.with_suffix(".seeds.json").write_text(f"[\n{lines}\n]\n")
    left = sum(len(tensor.raw_data) for tensor in graph.graph.initializer if tensor.data_type == 1 and len(tensor.raw_data) >= MIN_BYTES and tensor.raw_data not in DRAWN)
    print(path.parent.parent.name, len(found), "bytes,", sum(4 * int(np.prod(one["dims"])) for one in seeds), "seeded,", left, "left")


def stored_bytes(folder):
    """Returns the size of a repository without what `fill.ts` makes again."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.with_name(f"{file.name}.gz").exists())
