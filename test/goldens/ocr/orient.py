"""Writes orient.json: how PP-OCRv5's model of line orientation (PP-LCNet_x1_0_textline_ori) gets a line, by OpenCV.

Written after PaddleX 3.0.0, inference/models/image_classification/predictor.py and common/vision/processors.py, with `PreProcess` of the
model's inference.yml: ResizeImage to a size, NormalizeImage of RGB. The size here is smaller than the model's, 80 x 160.

    pip install numpy opencv-python-headless; python test/goldens/ocr/orient.py
"""

import json
from pathlib import Path

import cv2
import numpy as np

HERE = Path(__file__).parent
HEIGHT, WIDTH = 10, 20
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])

if __name__ == "__main__":
    # The image of the other steps, as RGB.
    image = np.uint8(json.loads((HERE / "geometry.json").read_text())["image"]).reshape(40, 60, 3)
    resized = cv2.resize(image, (WIDTH, HEIGHT)).astype(np.float32)
    tensor = ((resized / 255 - MEAN) / STD).transpose(2, 0, 1)
    (HERE / "orient.json").write_text(json.dumps({"size": [HEIGHT, WIDTH], "tensor": np.round(tensor, 5).flatten().tolist()}, separators=(",", ":")) + "\n")
