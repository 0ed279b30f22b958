"""What every task shares, without torch: the folder, the photo, and the file of answers."""
import json
import pathlib
import re

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent.parent


def photo(width, height):
    """Smooth enough that float32 decides nothing, with a color of its own at each place."""
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    channels = [x * 255 // (width - 1), y * 255 // (height - 1), (x * 3 + y * 5) % 256]
    return Image.fromarray(np.stack(channels, -1).astype(np.uint8))


def answers(task, rows):
    """Writes the file of a task. @param rows of dicts: see `test/browser/coverage.spec.ts`"""
    path = HERE / f"{task}.json"
    text = json.dumps({"handler": task, "rows": rows}, indent=1, default=plain, ensure_ascii=False)
    # Numbers of a map are one line.
    text = re.sub(r"\[[\s\d.,eE+-]{400,}\]", lambda numbers: re.sub(r"\s+", "", numbers[0]), text)
    path.write_text(text + "\n")


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(type(value))
