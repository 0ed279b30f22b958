"""The archive public/models/likeness: the benchmark's MobileNetV2 up to its features, without the layer that classifies.

    pip install onnx onnxruntime torch numpy
    python training/likeness.py          # after training/bench_model.py

Reads   bench/model/onnx/model.onnx
Writes  public/models/likeness/model.onnx                          the same graph, which ends with the mean of each of its 1,792 maps
        public/models/likeness/{golden.safetensors,tabserve.json}

The features, times the last layer's weights, must be the logits of the whole model.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from common import ROOT
from goldens import numbers, onnx_answers, write_extras, write_golden

WHOLE = ROOT / "bench/model/onnx/model.onnx"
ARCHIVE = ROOT / "public/models/likeness"
IMAGE, FEATURES, COUNT = "pixel_values", "features", 1792


def cut(whole):
    """The nodes that lead to the input of the last layer, which is renamed; and that layer."""
    last = next(node for node in reversed(whole.graph.node) if node.op_type == "Gemm")
    needed, nodes = {last.input[0]}, []
    for node in reversed(whole.graph.node):
        if needed.intersection(node.output):
            nodes.insert(0, node)
            needed.update(node.input)
    part = onnx.ModelProto()
    part.CopyFrom(whole)
    graph = part.graph
    for field in (graph.node, graph.initializer, graph.output, graph.value_info):
        del field[:]
    graph.node.extend(nodes)
    graph.initializer.extend(one for one in whole.graph.initializer if one.name in needed)
    graph.output.append(helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, ["batch", COUNT]))
    for node in graph.node:
        node.output[:] = [FEATURES if name == last.input[0] else name for name in node.output]
    graph.name, part.producer_name = "mobilenet_v2_mid_features", "tabserve training/likeness.py"
    onnx.checker.check_model(part)
    return part, last


def answers(model, feeds, names):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(names, feeds)


def main():
    whole = onnx.load(WHOLE)
    part, last = cut(whole)
    # The last layer's weights are computed in the graph, from 8-bit integers.
    shown = onnx.load(WHOLE)
    shown.graph.output.append(helper.make_tensor_value_info(last.input[1], onnx.TensorProto.FLOAT, None))
    feeds = {IMAGE: (numbers(3, [2, 3, 224, 224]) + 1) / 2}
    logits, weights = answers(shown, feeds, ["logits", last.input[1]])
    biases = next(numpy_helper.to_array(one) for one in whole.graph.initializer if one.name == last.input[2])
    (features,) = answers(part, feeds, [FEATURES])
    transposed = any(one.name == "transB" and one.i for one in last.attribute)
    product = features.astype(np.float64) @ (weights.T if transposed else weights).astype(np.float64) + biases
    print("largest difference of a logit", np.abs(product - logits).max())
    assert features.shape == (2, COUNT) and np.abs(product - logits).max() < 1e-5
    ARCHIVE.mkdir(parents=True, exist_ok=True)
    (ARCHIVE / "model.onnx").write_bytes(part.SerializeToString())
    write_golden(ARCHIVE / "golden.safetensors", onnx_answers(ARCHIVE / "model.onnx"), {IMAGE: (1, [1, 3, 224, 224])}, {FEATURES: 7})
    write_extras(ARCHIVE, {"onnx": "model.onnx"}, {"model.onnx": ARCHIVE / "model.onnx"})


if __name__ == "__main__":
    main()
