"""Models of instances of transformers 5.18. Their processor's own segments are compared: there is no pipeline of them."""
import pathlib

import numpy as np
import torch
import transformers

from boxed_instances import runs_of
from common import photo, save, spread, trace
from newest_detectors import SQUARE, rf_detr, whole_positions
from object_detector import NAMES

REPOSITORY = "instance-rf-detr"
PHOTOS = [(61, 47), (60, 46)]
LOW = {"scoreThreshold": 0.25, "maskThreshold": 0.4}


def segments(processor, outputs, size, params):
    mask = params.get("maskThreshold", 0.5)
    [found] = processor.post_process_instance_segmentation(outputs, threshold=params.get("scoreThreshold", 0.5), mask_threshold=float(np.log(mask / (1 - mask))), target_sizes=[size[::-1]])
    answer = []
    for one in found["segments_info"]:
        own = found["segmentation"].numpy() == one["id"]
        rows, columns = np.nonzero(own)
        box = {"xmin": columns.min(), "ymin": rows.min(), "xmax": columns.max() + 1, "ymax": rows.max() + 1}
        answer.append({"label": NAMES[one["label_id"]], "score": one["score"], "box": box, "mask": {"width": size[0], "height": size[1], "runs": runs_of(own)}})
    return answer


def newest_rows():
    config = rf_detr()
    config.id2label, config.label2id = NAMES, {name: id for id, name in NAMES.items()}
    processor = transformers.RfDetrImageProcessor(size=SQUARE, do_pad=False)
    given = {size: processor(photo(*size), return_tensors="pt")["pixel_values"] for size in PHOTOS}
    best = (0, None, None)
    # The first weights that show three segments of which a mask covers a part of another one.
    for seed in range(24):
        model = spread(transformers.RfDetrForInstanceSegmentation._from_config(config, attn_implementation="eager"), seed, scale=[0.4, 0.5, 0.35][seed % 3])
        with torch.no_grad():
            count = min(len(segments(processor, model(pixel_values=given[size]), size, LOW)) for size in PHOTOS)
        best = max(best, (count, -seed, model), key=lambda one: one[0])
        if count > 2:
            break
    model = best[2]
    whole_positions(model)
    outputs = ["logits", "pred_boxes", "pred_masks"]
    dynamic = {name: {0: "batch"} for name in ("pixel_values", *outputs)}
    save(REPOSITORY, model, [processor], lambda _, target: trace(model, {"pixel_values": torch.rand(1, 3, 64, 64)}, outputs, dynamic, pathlib.Path(target) / "model.onnx"))
    requests = []
    for size, params in [(PHOTOS[0], LOW), (PHOTOS[1], LOW), (PHOTOS[0], {})]:
        with torch.no_grad():
            found = model(pixel_values=given[size])
        requests.append({"input": {"photo": size}, "params": params, "answer": segments(processor, found, size, params)})
    print(REPOSITORY, [[(one["label"], one["score"]) for one in request["answer"]] for request in requests])
    return [{"architecture": type(model).__name__, "repository": REPOSITORY, "requests": requests}]
