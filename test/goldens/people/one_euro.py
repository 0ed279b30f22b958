"""Records what the authors' own 1€ filter makes of a walk at random: the expected values of src/worker/tasks/people/one-euro.ts.

    pip install OneEuroFilter==0.2.1
    python test/goldens/people/one_euro.py

Writes  test/goldens/people/one-euro.json
"""

import json
import random
from pathlib import Path

from OneEuroFilter import OneEuroFilter


def main():
    random.seed(1)
    cases = []
    for size, min_cutoff, beta, speed_cutoff in ((1, 0.05, 80, 1), (120, 0.05, 80, 1), (40, 1, 0.5, 2)):
        # The filter knows no size of an object: it gets values in units of it.
        smooth, time, value, frames = OneEuroFilter(30, min_cutoff, beta, speed_cutoff), 1.0, 300.0, []
        for _ in range(40):
            frames.append({"time": round(time, 4), "value": round(value, 3)})
            frames[-1]["smoothed"] = smooth(frames[-1]["value"] / size, frames[-1]["time"]) * size
            time += random.uniform(0.01, 0.1)
            value += random.gauss(0, 2) if random.random() < 0.8 else random.gauss(0, 40)
        cases.append({"size": size, "minCutoff": min_cutoff, "beta": beta, "speedCutoff": speed_cutoff, "frames": frames})
    Path(__file__).with_name("one-euro.json").write_text(json.dumps({"about": "OneEuroFilter 0.2.1, by test/goldens/people/one_euro.py", "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
