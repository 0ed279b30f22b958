"""Makes the models of this folder, each of which says of itself what a config may contradict, and `names.json`: the names that are in `names.onnx`.

    pip install onnx onnxruntime
    python test/models/contradictions/make.py

`metadata_props` are written as Ultralytics' exporter writes them: `str(value)` of each.
"""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import parser

HERE = Path(__file__).resolve().parent

WEIGHTS = "float[3,3] W = {5.3658853,1.3095295,0.2894924,-5.590478,-0.8321646,-1.0642769,-0.24822444,-1.8810021,-0.13145451}, float[3] b = {-0.47721803,-1.3138647,0.8846224}"
FLOWERS = {0: "rose", 1: "tulip", 2: "iris"}
# Quotes, escapes, characters that are not printable and so escaped, and those that are.
NAMES = {0: "don't", 1: 'the "sign"', 2: "both ' and \"", 3: "back\\slash", 4: "tab\tline\n", 5: "bell\x07", 6: "zero\u200bwidth", 7: "tag\U000e0041", 8: "naïve 火 🦊", 9: "a: 1, (b) [c] {0: True}", 10: ""}


def save(name, text, metadata=(), opset='"" : 13'):
    model = parser.parse_model(f'<ir_version: 8, opset_import: [{opset}]>\n{text}')
    for key, value in dict(metadata).items():
        model.metadata_props.add(key=key, value=str(value))
    onnx.checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx")


save(
    "probabilities",
    f"""g (float[batch,3,224,224] input) => (float[batch,3] output) <{WEIGHTS}> {{
      m = ReduceMean <axes: ints = [2, 3], keepdims: int = 0> (input)
      l = Gemm (m, W, b)
      p = Softmax <axis: int = 1> (l)
      output = Identity (p)
    }}""",
    {"task": "classify", "names": FLOWERS},
)
save(
    "custom-vision",
    f"""g (float[1,3,224,224] data) => (string[1] classLabel, seq(map(string, float[])) loss) <{WEIGHTS}> {{
      m = ReduceMean <axes: ints = [2, 3], keepdims: int = 0> (data)
      l = Gemm (m, W, b)
      probs = Softmax <axis: int = 1> (l)
      am = ArgMax <axis: int = 1, keepdims: int = 0> (probs)
      classLabel = ai.onnx.ml.LabelEncoder <keys_int64s: ints = [0, 1, 2], values_strings: strings = ["rose", "tulip", "iris"]> (am)
      loss = ai.onnx.ml.ZipMap <classlabels_strings: strings = ["rose", "tulip", "iris"]> (probs)
    }}""",
    opset='"" : 13, "ai.onnx.ml" : 2',
)


def boxes(side, rows, count, columns_first=False):
    """The graph of a detector that finds the same in every image: the first rows of its output; the others are zero."""
    table = np.zeros((count, len(rows[0])), np.float32)
    table[: len(rows)] = rows
    if columns_first:
        table = table.T
    used = table[:, : len(rows)] if columns_first else table[: len(rows)]
    pads = [0, 0, 0, 0, table.shape[0] - used.shape[0], table.shape[1] - used.shape[1]]
    numbers = ",".join(map(str, used.flatten().tolist()))
    return f"""g (float[1,3,{side},{side}] images) => (float[1,{table.shape[0]},{table.shape[1]}] output0)
      <float[1,{used.shape[0]},{used.shape[1]}] rows = {{{numbers}}}, int64[6] pads = {{{",".join(map(str, pads))}}}, float zero = {{0}}> {{
      m = ReduceMean <keepdims: int = 0> (images)
      z = Mul (m, zero)
      all = Pad (rows, pads)
      output0 = Add (all, z)
    }}"""


TWO = {0: "person", 1: "bicycle"}
args = {"batch": 1, "half": False, "dynamic": False, "simplify": True, "opset": None, "nms": False}
# Both find a person at [150, 120, 250, 200] and a bicycle at [210, 190, 270, 310], in pixels of 320 × 320.
save(
    "end-to-end",
    boxes(320, [[150, 120, 250, 200, 0.9, 0], [210, 190, 270, 310, 0.8, 1]], 300),
    {"task": "detect", "imgsz": [320, 320], "names": TWO, "args": args, "end2end": True},
)
save(
    "dense",
    boxes(320, [[200, 160, 100, 80, 0.9, 0], [240, 250, 60, 120, 0, 0.8]], 2100, columns_first=True),
    {"task": "detect", "imgsz": [320, 320], "names": TWO, "args": args, "end2end": False},
)
save("names", boxes(320, [[200, 160, 100, 80, *[0] * len(NAMES)]], 2100, columns_first=True), {"names": NAMES})

(HERE / "names.json").write_text(json.dumps(NAMES, indent=2) + "\n")
gray = np.full((1, 3, 224, 224), np.float32(77) / np.float32(255), np.float32)
print(onnxruntime.InferenceSession(HERE / "probabilities.onnx").run(None, {"input": gray}))
