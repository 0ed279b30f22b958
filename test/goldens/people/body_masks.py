"""Records the masks that MediaPipe's Python package makes of people: the expected values of `mask` of pose_landmarker.

    pip install mediapipe==0.10.14 pillow
    python test/goldens/people/body_masks.py

Writes  test/goldens/people/body-masks.json: pairs of a start and a length, of the photo's pixels row by row, whose probability is at least 0.5
"""

import json
from pathlib import Path

import mediapipe as mp
import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]
cases = []
for name in ("astronaut", "grace-hopper"):
    path = f"public/models/selfie/samples/{name}.jpg"
    pixels = np.array(Image.open(ROOT / path).convert("RGB"))
    with mp.solutions.pose.Pose(static_image_mode=True, model_complexity=1, enable_segmentation=True, smooth_segmentation=False) as model:
        mask = model.process(pixels).segmentation_mask
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (mask >= 0.5).reshape(-1).astype(int), [0]])))
    print(path, mask.shape, float((mask >= 0.5).mean()))
    cases.append({"photo": path, "size": [pixels.shape[1], pixels.shape[0]], "runs": [int(v) for start, end in edges.reshape(-1, 2) for v in (start, end - start)]})
(ROOT / "test/goldens/people/body-masks.json").write_text(json.dumps({"about": f"MediaPipe {mp.__version__}, full model", "cases": cases}) + "\n")
