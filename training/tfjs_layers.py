"""Runs a TensorFlow.js layers model (a Keras model of one input and one output) with PyTorch: no code of TensorFlow.js or Keras.

    layers = Layers("test/models/moderation/model.json")
    answer = layers(images)  # NHWC

float64 by default, so that what it computes can serve as the exact answer. Knows the layers of MobileNetV2 and of an RDN that enlarges images; one that it does not know is an error.
"""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from tfjs_graph import nchw, nhwc, read_weights

ACTIVATIONS = {"linear": lambda x: x, "relu": torch.relu, "softmax": lambda x: x.softmax(-1)}


class Layers:
    def __init__(self, path, dtype=torch.float64):
        model = json.loads(Path(path).read_text())
        self.layers = model["modelTopology"]["model_config"]["config"]["layers"]
        self.weights = {name: torch.from_numpy(np.array(array)).to(dtype) for name, array in read_weights(Path(path).parent, model["weightsManifest"])}
        self.dtype = dtype

    def __call__(self, images):
        values = {}
        with torch.no_grad():
            for layer in self.layers:
                name, kind, config = layer["name"], layer["class_name"], layer["config"]
                if kind not in LAYERS:
                    raise NotImplementedError(f"layer {kind} of {name}")
                inputs = [values[source] for source in sources(layer)] or [torch.as_tensor(np.asarray(images)).to(self.dtype)]
                values[name] = LAYERS[kind](config, lambda key, name=name: self.weights[f"{name}/{key}"], *inputs)
        return values[self.layers[-1]["name"]].numpy()


def sources(layer):
    """The names of the layers that a layer reads."""
    return [node[0] for node in layer["inbound_nodes"][0]] if layer["inbound_nodes"] else []


def padding(config, height, width):
    """[top, left, bottom, right] of a convolution: for "same", the odd pixel goes to the end, as in TensorFlow."""
    sides = zip((height, width), config["kernel_size"], config["strides"])
    total = [max((-(-side // s) - 1) * s + k - side, 0) if config["padding"] == "same" else 0 for side, k, s in sides]
    return [t // 2 for t in total] + [t - t // 2 for t in total]


def convolution(config, kernel, x, groups):
    assert config["dilation_rate"] == [1, 1] and config["activation"] == "linear"
    top, left, bottom, right = padding(config, *x.shape[1:3])
    return nhwc(F.conv2d(F.pad(nchw(x), [left, right, top, bottom]), kernel, stride=config["strides"], groups=groups))


def zero_padding(config, _, x):
    (top, bottom), (left, right) = config["padding"]
    return F.pad(x, [0, 0, left, right, top, bottom])


def depthwise(config, weight, x):
    assert config["depth_multiplier"] == 1 and not config["use_bias"]
    return convolution(config, weight("depthwise_kernel").permute(2, 3, 0, 1), x, x.shape[-1])


def batch_normalization(config, weight, x):
    return (x - weight("moving_mean")) / torch.sqrt(weight("moving_variance") + config["epsilon"]) * weight("gamma") + weight("beta")


def relu(config, _, x):
    assert config["negative_slope"] == config["threshold"] == 0
    return x.clamp(0, config["max_value"])


def average_pool(config, _, x):
    assert config["padding"] == "valid"
    return nhwc(F.avg_pool2d(nchw(x), config["pool_size"], config["strides"]))


def upsampling(config, _, x):
    assert config["interpolation"] == "nearest"
    return x.repeat_interleave(config["size"][0], 1).repeat_interleave(config["size"][1], 2)


LAYERS = {
    "InputLayer": lambda _, __, x: x,
    "ZeroPadding2D": zero_padding,
    "Conv2D": lambda config, weight, x: convolution(config, weight("kernel").permute(3, 2, 0, 1), x, 1) + (weight("bias") if config["use_bias"] else 0),
    "DepthwiseConv2D": depthwise,
    "BatchNormalization": batch_normalization,
    "ReLU": relu,
    "Activation": lambda config, _, x: ACTIVATIONS[config["activation"]](x),
    "Concatenate": lambda config, _, *xs: torch.cat(xs, config["axis"]),
    "UpSampling2D": upsampling,
    "Add": lambda _, __, *xs: sum(xs[1:], xs[0]),
    "AveragePooling2D": average_pool,
    "Flatten": lambda _, __, x: x.flatten(1),
    "Dropout": lambda _, __, x: x,
    "Dense": lambda config, weight, x: ACTIVATIONS[config["activation"]](x @ weight("kernel") + weight("bias")),
}
