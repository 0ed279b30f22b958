"""Where transformers' VitPoseImageProcessor sees points in heat maps: peaks between cells, at edges and in corners, flat, weak and noisy ones.

    pip install transformers==4.57.1 torch scipy
    python test/goldens/people/dark.py

Writes  test/goldens/people/dark.json
"""

import json
from pathlib import Path

import numpy as np
from transformers.models.vitpose.image_processing_vitpose import get_keypoint_predictions, post_dark_unbiased_data_processing

WIDTH, HEIGHT = 12, 16
PLACES = [(5, 7), (5.3, 7.8), (4.49, 3.51), (0, 0), (11, 15), (0.4, 9.2), (11.3, 4), (6, -0.3)]


def maps():
    random = np.random.default_rng(38)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    peak = lambda at, height=0.9, spread=2.0: height * np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * spread**2))
    yield from (peak(place) for place in PLACES)
    yield peak((6.2, 8.4), 0.002)
    yield peak((6.2, 8.4), 0.9, 0.5)
    # Two of a height, of which the first counts, and one that is larger than what heat maps are clipped to.
    yield np.maximum(peak((2, 3)), peak((9, 12)))
    yield peak((7.6, 5.1), 80.0)
    yield np.full((HEIGHT, WIDTH), 0.5)
    yield from random.uniform(0, 1, (2, HEIGHT, WIDTH))
    yield peak((3.7, 11.2)) + random.normal(0, 0.02, (HEIGHT, WIDTH))


def main():
    heat = np.array([list(maps())]).astype(np.float32).astype(np.float64)
    places, scores = get_keypoint_predictions(heat)
    places = post_dark_unbiased_data_processing(places.astype(np.float64), heat, kernel=11)
    cases = [
        {"map": [float(f"{one:.9g}") for one in own.reshape(-1)], "x": float(place[0]), "y": float(place[1]), "score": float(score[0])}
        for own, place, score in zip(heat[0], places[0], scores[0])
    ]
    path = Path(__file__).resolve().parent / "dark.json"
    path.write_text(json.dumps({"width": WIDTH, "height": HEIGHT, "cases": cases}) + "\n")
    for case in cases:
        print(round(case["x"], 4), round(case["y"], 4), round(case["score"], 4))


if __name__ == "__main__":
    main()
