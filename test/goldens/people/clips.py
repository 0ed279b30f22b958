"""Records where MediaPipe's Python package follows faces and hands through five short clips: cameras that move over photos.

    pip install mediapipe==0.10.14 opencv-python-headless pillow
    python test/goldens/people/clips.py

Writes  test/goldens/people/clips.json.gz

A frame is a turned rectangle of the photo: center, size and clockwise turn in radians, sampled bilinearly. MediaPipe detects in the first frames, until it
follows as many as there are, and then the last landmarks say where to look. Every third frame is recorded, in pixels of the frame.
"""

import gzip
import json
import math
from pathlib import Path

import cv2
import mediapipe as mp
import numpy as np
from mediapipe.python.solution_base import SolutionBase
from PIL import Image

from answers import MODULES, ROOT, points, rounded

COLUMNS, ROWS, FRAMES, EVERY = 480, 360, 13, 3
# What is followed, how many, the photo, and the first and the last rectangle.
CLIPS = [
    ("face", 1, "public/models/selfie/samples/astronaut.jpg", (256, 192, 480, 360, 0), (220, 150, 320, 240, 0)),
    ("face", 1, "public/models/selfie/samples/grace-hopper.jpg", (256, 200, 440, 330, -0.35), (270, 230, 480, 360, 0.35)),
    ("face", 4, "public/models/selfie/samples/friends.jpg", (400, 300, 780, 585, 0), (400, 280, 700, 525, 0.15)),
    ("hand", 2, "public/models/hand/samples/sofa.jpg", (400, 285, 740, 555, 0), (400, 300, 620, 465, 0.1)),
    ("hand", 2, "public/models/hand/samples/photo-shoot.jpg", (400, 300, 760, 570, 0.1), (380, 300, 700, 525, -0.1)),
]


def graph(kind, count):
    if kind == "face":
        return SolutionBase(
            binary_graph_path=f"{MODULES}/face_landmark/face_landmark_front_cpu.binarypb",
            side_inputs={"num_faces": count, "with_attention": False, "use_prev_landmarks": True},
            outputs=["multi_face_landmarks"],
        )
    return SolutionBase(
        binary_graph_path=f"{MODULES}/hand_landmark/hand_landmark_tracking_cpu.binarypb",
        side_inputs={"model_complexity": 0, "num_hands": count, "use_prev_landmarks": True},
        outputs=["multi_hand_landmarks"],
        calculator_params={"palmdetectioncpu__TensorsToDetectionsCalculator.min_score_thresh": 0.5, "handlandmarkcpu__ThresholdingCalculator.threshold": 0.5},
    )


def frame(image, x, y, width, height, angle):
    c, s = math.cos(angle), math.sin(angle)
    matrix = np.array([
        [c * width / COLUMNS, -s * height / ROWS, x - c * width / 2 + s * height / 2],
        [s * width / COLUMNS, c * height / ROWS, y - s * width / 2 - c * height / 2]])
    return cv2.warpAffine(image, matrix, (COLUMNS, ROWS), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE)


def main():
    clips = []
    for kind, count, photo, first, last in CLIPS:
        image = np.array(Image.open(ROOT / photo).convert("RGB"))
        regions = [rounded(a + (b - a) * at / (FRAMES - 1) for a, b in zip(first, last)) for at in range(FRAMES)]
        recorded = []
        with graph(kind, count) as model:
            for at, region in enumerate(regions):
                answer = model.process(frame(image, *region))
                found = (answer.multi_face_landmarks if kind == "face" else answer.multi_hand_landmarks) or []
                recorded.append([points(one.landmark, COLUMNS, ROWS, deep=False) for one in found] if at % EVERY == 0 else None)
        print(kind, photo, [r if r is None else len(r) for r in recorded])
        clips.append({"kind": kind, "photo": photo, "frames": [{"region": region, "found": found} for region, found in zip(regions, recorded)]})
    answer = {"about": f"MediaPipe {mp.__version__}, by test/goldens/people/clips.py", "size": [COLUMNS, ROWS], "clips": clips}
    path = ROOT / "test/goldens/people/clips.json.gz"
    path.write_bytes(gzip.compress(json.dumps(answer).encode(), 9, mtime=0))
    print(path.stat().st_size)


if __name__ == "__main__":
    main()
