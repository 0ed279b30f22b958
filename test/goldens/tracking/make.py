"""Ids and boxes by ByteTrack of `supervision` (MIT), for `test/unit/worker/outputs/tracking/byte-track.spec.ts`.

    python test/goldens/tracking/make.py

Needs supervision 0.26. The sequences are boxes of things that move, cross, hide, leave and come back, with noise, gaps,
low scores and false alarms.
"""
import gzip
import json
import pathlib

import numpy as np
import supervision as sv

HERE = pathlib.Path(__file__).resolve().parent


def sequence(seed, things, frames):
    rng = np.random.default_rng(seed)
    starts = rng.uniform([50, 50], [1200, 650], (things, 2))
    speeds = rng.uniform(-9, 9, (things, 2))
    sizes = rng.uniform([30, 60], [120, 240], (things, 2))
    hidden = [(rng.integers(5, frames), rng.integers(2, 45)) for _ in range(things)]
    found = []
    for frame in range(frames):
        rows = []
        for thing in range(things):
            begin, length = hidden[thing]
            if begin <= frame < begin + length or rng.random() < 0.04:
                continue
            center = starts[thing] + speeds[thing] * frame + rng.normal(0, 1.5, 2) + 20 * np.sin(frame / 9 + thing)
            width, height = sizes[thing] * (1 + rng.normal(0, 0.02, 2))
            score = 0.92 - 0.6 * (rng.random() < 0.15) * rng.random() + rng.normal(0, 0.02)
            rows.append([*np.round([center[0] - width / 2, center[1] - height / 2, center[0] + width / 2, center[1] + height / 2], 2), round(min(max(score, 0.02), 0.99), 3)])
        for _ in range(rng.poisson(0.3)):
            corner = rng.uniform([0, 0], [1200, 650])
            rows.append([*np.round([*corner, *(corner + rng.uniform(20, 120, 2))], 2), round(rng.uniform(0.05, 0.6), 3)])
        order = rng.permutation(len(rows))
        found.append([list(map(float, rows[at])) for at in order])
    return found


def follow(frames, **options):
    tracker = sv.ByteTrack(**options)
    answers = []
    for rows in frames:
        tracks = tracker.update_with_tensors(np.array(rows, dtype=np.float64).reshape(-1, 5))
        answers.append([[int(track.external_track_id), *np.round(np.asarray(track.tlbr, dtype=float), 3).tolist()] for track in tracks])
    return answers


if __name__ == "__main__":
    rows = []
    for seed, things, frames, options in [
        (1, 4, 120, {}),
        (2, 12, 150, {}),
        (3, 25, 80, {}),
        (4, 8, 120, {"track_activation_threshold": 0.5, "lost_track_buffer": 10, "minimum_matching_threshold": 0.7}),
        (5, 1, 60, {}),
    ]:
        boxes = sequence(seed, things, frames)
        answers = follow(boxes, **options)
        print(seed, max((one[0] for answer in answers for one in answer), default=0), "ids")
        rows.append({"options": options, "frames": boxes, "tracks": answers})
    (HERE / "byte-track.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode(), 9, mtime=0))
