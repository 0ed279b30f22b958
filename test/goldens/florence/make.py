"""Answers as Florence-2 writes them, and damaged ones, with the regions that transformers' Florence2Processor finds in them.

    python test/goldens/florence/make.py

Needs torch and transformers 4.57. `regions.json` has for each size of an image the task, the text, and the regions as TabServe
tells them.
"""
import json
import pathlib
import random
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "models/tasks/make"))

from prompted_image_to_text import POST, processor_of, regions_of  # noqa: E402
from transformers import Florence2Processor  # noqa: E402

TASKS = [
    "<CAPTION>", "<OD>", "<DENSE_REGION_CAPTION>", "<REGION_PROPOSAL>", "<OCR_WITH_REGION>", "<CAPTION_TO_PHRASE_GROUNDING>", "<OPEN_VOCABULARY_DETECTION>",
    "<REFERRING_EXPRESSION_SEGMENTATION>"]
SIZES = [(640, 480), (333, 1777), (61, 47)]
WRITTEN = [
    ("<OD>", "car<loc_54><loc_375><loc_906><loc_707>door<loc_710><loc_276><loc_908><loc_537><loc_1><loc_2><loc_3><loc_4>wheel<loc_708><loc_531><loc_906><loc_704>"),
    ("<REGION_PROPOSAL>", "<loc_54><loc_375><loc_906><loc_707><loc_710><loc_276><loc_908><loc_537><loc_9>"),
    ("<OCR_WITH_REGION>", "CUVTE<loc_112><loc_5><loc_881><loc_9><loc_880><loc_44><loc_112><loc_42> Straße 7<loc_0><loc_999><loc_1><loc_2><loc_3><loc_4><loc_5><loc_6>"),
    ("<CAPTION_TO_PHRASE_GROUNDING>", "A green car<loc_54><loc_375><loc_906><loc_707>the image<loc_0><loc_0><loc_999><loc_999> it<loc_1><loc_2><loc_3><loc_4>a café<loc_5><loc_6><loc_7><loc_8>"),
    ("<REFERRING_EXPRESSION_SEGMENTATION>", "<loc_277><loc_344><loc_279><loc_336><loc_283><loc_331><sep><loc_500><loc_500><loc_510><loc_500><loc_510><loc_520><loc_3>"),
    ("<OPEN_VOCABULARY_DETECTION>", "cat<poly><loc_1><loc_2><loc_3><loc_4><loc_5><loc_6></poly><poly><loc_10><loc_20><loc_30><loc_40><sep><loc_50><loc_60><loc_1><loc_2></poly>"),
    ("<OPEN_VOCABULARY_DETECTION>", "a cat<loc_1><loc_2><loc_3><loc_4>two\nlines<loc_1><loc_2><loc_3><loc_4>"),
]
PIECES = ["cat", " the dog", "é", " ", "\n", "the image", "<sep>", "<poly>", "</poly>", "<od>", "<", ">"]


def damaged(random_):
    """Places and words in any order, with more places."""
    pieces = [random_.choice(PIECES) if random_.random() < 0.25 else f"<loc_{random_.randrange(1000)}>" for _ in range(random_.randrange(4, 30))]
    return "".join(pieces)


def make():
    tokenizer, images = processor_of()
    processor = Florence2Processor(images, tokenizer, post_processor_config=POST)
    random_ = random.Random(7)
    asked = [*WRITTEN, *((random_.choice(TASKS), damaged(random_)) for _ in range(240))]
    rows = []
    for at, (task, text) in enumerate(asked):
        size = SIZES[at % len(SIZES)]
        [found] = processor.post_process_generation(text, task=task, image_size=size).values()
        rows.append({"task": task, "text": text, "size": size, "regions": regions_of(found)})
    boxes = torch.rand(40, 4, generator=torch.Generator().manual_seed(3)) * 1.1 * torch.tensor([640, 480, 640, 480])
    quantized = [{"box": box.tolist(), "places": "".join(f"<loc_{one}>" for one in processor.post_processor.quantize(box[None], (640, 480))[0].tolist())} for box in boxes]
    prompts = [{"prompt": one, "words": processor._construct_prompts(one)[0]} for one in [
        "<CAPTION>", "<DETAILED_CAPTION>", "<MORE_DETAILED_CAPTION>", "<OD>", "<DENSE_REGION_CAPTION>", "<REGION_PROPOSAL>", "<OCR>", "<OCR_WITH_REGION>",
        "<CAPTION_TO_PHRASE_GROUNDING> A green car.", "<REFERRING_EXPRESSION_SEGMENTATION>a $& car", "<OPEN_VOCABULARY_DETECTION>cat, dog", "<REGION_TO_CATEGORY><loc_1><loc_2><loc_3><loc_4>",
        "<REGION_TO_SEGMENTATION><loc_1><loc_2><loc_3><loc_4>", "<REGION_TO_DESCRIPTION><loc_1><loc_2><loc_3><loc_4>", "<REGION_TO_OCR><loc_1><loc_2><loc_3><loc_4>", "How many cars are there?"]]
    line = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    parts = [f'"{name}":[\n{",".join(chr(10) + line(one) for one in values).lstrip()}\n]' for name, values in (("answers", rows), ("boxes", quantized), ("prompts", prompts))]
    (HERE / "regions.json").write_text("{" + ",\n".join(parts) + "}\n")
    print(len(rows), "answers,", sum(len(one["regions"] or []) for one in rows), "regions")


make()
