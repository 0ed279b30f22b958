"""Rotated crops by OpenCV's warpAffine, and by scipy's affine_transform (cut), for `test/unit/worker/transforms/crop-region.spec.ts`.

    python test/goldens/people/crops.py

Needs opencv-python-headless 5, whose bilinear sampling is plain arithmetic in float32; earlier versions round positions to 1/32 of a pixel.
"""
import base64
import gzip
import json
import math
import pathlib

import cv2
import numpy as np
from scipy.ndimage import affine_transform

HERE = pathlib.Path(__file__).resolve().parent
# center x and y, width, height, angle; width and height of the crop
CROPS = [
    (65, 48, 60, 60, 0, 32, 32),
    (65.3, 48.7, 80, 50, 0.4, 48, 30),
    (20, 90, 70, 70, -2.1, 40, 40),
    (130, 0, 40, 90, 1.6, 24, 24),
    (64, 48, 400, 400, 0.7, 64, 64),
    (-50, -50, 30, 30, 0, 8, 8),
    (64.5, 47.5, 9, 7, 3.0, 33, 27),
]


def picture(width, height):
    y, x, channel = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    return ((x * 7 + y * 13 + channel * 29 + (x * y) % 31 * 5) % 256).astype(np.uint8)


if __name__ == "__main__":
    image = picture(131, 97)
    rows = []
    for crop in CROPS:
        x, y, width, height, angle, columns, lines = crop
        c, s = math.cos(angle), math.sin(angle)
        matrix = np.array([
            [c * width / columns, -s * height / lines, x - c * width / 2 + s * height / 2],
            [s * width / columns, c * height / lines, y - s * width / 2 - c * height / 2]])
        pixels = {
            name: base64.b64encode(cv2.warpAffine(image, matrix, (columns, lines), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=mode).tobytes()).decode()
            for name, mode in [("replicate", cv2.BORDER_REPLICATE), ("zero", cv2.BORDER_CONSTANT)]}
        # scipy's first axis is y.
        turned = np.array([[matrix[1, 1], matrix[1, 0]], [matrix[0, 1], matrix[0, 0]]])
        planes = [
            affine_transform(image[..., channel].astype(np.float64), turned, offset=matrix[::-1, 2], output_shape=(lines, columns), order=1, mode="constant", cval=0)
            for channel in range(3)]
        pixels["cut"] = base64.b64encode(np.rint(np.stack(planes, -1)).astype(np.uint8).tobytes()).decode()
        rows.append({"crop": crop, **pixels})
    (HERE / "crops.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode(), 9, mtime=0))
