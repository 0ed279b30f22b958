"""Makes detectors that take the size of a photo beside its pixels, and `expected.json`: their boxes in pixels of photos, computed by ONNX Runtime on what the authors' own scripts feed.

    pip install onnx onnxruntime
    python test/models/second-inputs/make.py

- `rtdetr.onnx`: `orig_target_sizes` is [width, height] of the photo, by which the boxes, fractions of the input, are multiplied. RT-DETR, D-FINE and DEIM: `RTDETRPostProcessor` and `tools/deployment/export_onnx.py` of lyuwenyu/RT-DETR.
- `paddle.onnx`: `im_shape` is [height, width] of the resized photo, `scale_factor` is [y, x], by which it was resized. PaddleDetection: `deploy/python/preprocess.py` and `BBoxPostProcess.get_pred` in `ppdet/modeling/post_process.py`.
- `ppyoloe.onnx`: the same with `scale_factor` alone.
"""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import parser

HERE = Path(__file__).resolve().parent
SIDE = 64
HEAD = '<ir_version: 8, opset_import: ["" : 13]>'
# Center, size, as fractions; and in pixels of the input.
FRACTIONS = "float[1,2,4] boxes01 = {0.1,0.2,0.4,0.6,0.5,0.5,0.9,0.8}"

TEXTS = {
    "rtdetr": f"""g (float[N,3,{SIDE},{SIDE}] images, int64[N,2] orig_target_sizes) => (int64[N,2] labels, float[N,2,4] boxes, float[N,2] scores)
      <{FRACTIONS}, int64[1] ax = {{1}}, float zero = {{0}}, float[1,2] s = {{0.9,0.8}}, int64[1,2] l = {{0,1}}> {{
      m = ReduceMean <axes: ints = [1,2,3], keepdims: int = 0> (images)
      z0 = Mul (m, zero)
      z1 = Unsqueeze (z0, ax)
      z2 = Unsqueeze (z1, ax)
      sizes = Cast <to: int = 1> (orig_target_sizes)
      twice = Concat <axis: int = 1> (sizes, sizes)
      by = Unsqueeze (twice, ax)
      scaled = Mul (boxes01, by)
      boxes = Add (scaled, z2)
      scores = Add (s, z1)
      zi = Cast <to: int = 7> (z1)
      labels = Add (l, zi)
    }}""",
}


def paddle(with_shape):
    shape = f"float[N,2] im_shape, " if with_shape else ""
    clip = (
        """origin = Div (im_shape, scale_factor)
      half = Add (origin, point5)
      size = Floor (half)
      h = Gather <axis: int = 1> (size, i0)
      w = Gather <axis: int = 1> (size, i1)
      limit = Concat <axis: int = 1> (w, h, w, h)
      within = Min (boxes, limit)"""
        if with_shape
        else "within = Identity (boxes)"
    )
    # Two detections, [class, score, x1, y1, x2, y2]; the second one reaches beyond the photo.
    return f"""g ({shape}float[N,3,{SIDE},{SIDE}] image, float[N,2] scale_factor) => (float[M,6] out, int32[N] bbox_num)
      <float[2,2] kind = {{0,0.9,1,0.8}}, float[2,4] found = {{6,12,26,38,32,32,80,58}}, float point5 = {{0.5}}, float zero = {{0}},
       int64[1] i0 = {{0}}, int64[1] i1 = {{1}}, int32[1] two = {{2}}> {{
      m = ReduceMean <keepdims: int = 0> (image)
      z = Mul (m, zero)
      y = Gather <axis: int = 1> (scale_factor, i0)
      x = Gather <axis: int = 1> (scale_factor, i1)
      scale = Concat <axis: int = 1> (x, y, x, y)
      boxes = Div (found, scale)
      {clip}
      rows = Concat <axis: int = 1> (kind, within)
      out = Add (rows, z)
      zi = Cast <to: int = 6> (z)
      bbox_num = Add (two, zi)
    }}"""


TEXTS["paddle"] = paddle(True)
TEXTS["ppyoloe"] = paddle(False)


def feeds(name, width, height):
    pixels = np.zeros((1, 3, SIDE, SIDE), np.float32)
    if name == "rtdetr":
        return {"images": pixels, "orig_target_sizes": np.array([[width, height]], np.int64)}
    scale = np.array([[SIDE / height, SIDE / width]], np.float32)
    shape = {"im_shape": np.array([[SIDE, SIDE]], np.float32)} if name == "paddle" else {}
    return {**shape, "image": pixels, "scale_factor": scale}


expected = {}
for name, text in TEXTS.items():
    model = parser.parse_model(f"{HEAD}\n{text}")
    onnx.checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx")
    session = onnxruntime.InferenceSession(HERE / f"{name}.onnx")
    expected[name] = {}
    for width, height in [(64, 64), (160, 48), (31, 200)]:
        outputs = dict(zip([one.name for one in session.get_outputs()], session.run(None, feeds(name, width, height))))
        boxes = outputs["boxes"][0] if name == "rtdetr" else outputs["out"][:, 2:]
        # No box reaches beyond the photo.
        expected[name][f"{width}x{height}"] = np.minimum(boxes, [width, height] * 2).tolist()
(HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
