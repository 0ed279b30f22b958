"""Serves digits by KServe, with the stages and the answer that TabServe's `image_classifier` has for the same archive.

    pip install -r requirements.txt
    python server.py --http_port 8081 --enable_grpc false [--archive public/models/digits]
"""

import argparse
import base64
import io
import json
import pathlib

import numpy as np
import onnxruntime
from kserve import Model, ModelServer, model_server
from PIL import Image


class Digits(Model):
    def __init__(self, archive):
        super().__init__("digits")
        self.session = onnxruntime.InferenceSession(archive / "digits.onnx")
        self.labels = json.loads((archive / "index_to_name.json").read_text())
        self.ready = True

    def preprocess(self, payload, headers=None):
        return np.stack([self.read(row["b64"]) for row in payload["instances"]])

    def read(self, text):
        """The pixels of a picture, as model-config.yaml prepares them."""
        picture = Image.open(io.BytesIO(base64.b64decode(text))).convert("L").resize((28, 28), Image.BILINEAR)
        return ((np.asarray(picture, np.float32) / 255 - 0.1307) / 0.3081)[np.newaxis]

    def predict(self, images, headers=None, response_headers=None):
        # The model takes one picture at a time.
        return np.concatenate([self.session.run(["logits"], {"image": image[np.newaxis]})[0] for image in images])

    def postprocess(self, logits, headers=None, response_headers=None):
        powers = np.exp(logits - logits.max(1, keepdims=True))
        return {"predictions": [self.best(row) for row in powers / powers.sum(1, keepdims=True)]}

    def best(self, row):
        return {self.labels[str(index)]: float(row[index]) for index in np.argsort(-row)[:5]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(parents=[model_server.parser])
    parser.add_argument("--archive", type=pathlib.Path, default=pathlib.Path("public/models/digits"))
    arguments, _ = parser.parse_known_args()
    ModelServer().start([Digits(arguments.archive)])
