import os

os.environ["KERAS_BACKEND"] = "torch"  # before the import; the tensorflow backend exports through tf2onnx

import keras
import numpy as np
import onnx
from safetensors.numpy import save_file

model = keras.applications.MobileNetV2()
image = np.random.uniform(-1, 1, (1, 224, 224, 3)).astype("float32")
answer = model(image, training=False)  # export needs a model that was called
model.export("mobilenetv2_keras.onnx", format="onnx")
graph = onnx.load("mobilenetv2_keras.onnx").graph
example = {"inputs/" + graph.input[0].name: image, "outputs/" + graph.output[0].name: keras.ops.convert_to_numpy(answer)}
save_file(example, "python.safetensors")
