"""What every task shares, without torch: the folder, the photo, the sound, and the file of answers."""
import json
import pathlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent.parent
# Samples per second of `sound`.
RATE = 16_000


def photo(width, height):
    """Smooth enough that float32 decides nothing, with a color of its own at each place."""
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    channels = [x * 255 // (width - 1), y * 255 // (height - 1), (x * 3 + y * 5) % 256]
    return Image.fromarray(np.stack(channels, -1).astype(np.uint8))


def sound(length):
    """Whole numbers over 1000, so that it is the same in every language: a tone that rises, and whose loudness changes."""
    at = np.arange(length, dtype=np.int64)
    phase = (at * (at // 64 + 40)) % 2000
    loudness = 1 + (at // 1600) % 5
    return (((np.abs(phase - 1000) - 500) * loudness) / 2500).astype(np.float32)


def answers(task, rows):
    """Writes the file of a task. Rows of other repositories that are still there keep their places. @param rows of dicts: see `test/browser/coverage.spec.ts`"""
    path = HERE / f"{task}.json"
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    every = {row["repository"]: row for row in [*before, *rows]}
    write(path, task, [row for row in every.values() if (HERE / row["repository"]).exists()])


def write(path, task, rows):
    # A request is one line.
    line = lambda value: json.dumps(value, default=plain, ensure_ascii=False, separators=(",", ":"))
    lines = ",\n".join(
        line({key: value for key, value in row.items() if key != "requests"})[:-1] + ',"requests":[\n ' + ",\n ".join(map(line, row["requests"])) + "\n]}" for row in rows)
    path.write_text(f'{{"handler":"{task}","rows":[\n{lines}\n]}}\n')


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(type(value))
