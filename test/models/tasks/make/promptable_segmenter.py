"""Models that segment what points and boxes show, in two parts. SAM is exported by Optimum, which takes points alone; SAM 2
by torch, with the inputs and outputs that the decoder of onnx-community's exports has, where no box is a tensor of no rows."""
import pathlib

import numpy as np
import torch
from transformers import (
    SamConfig, SamImageProcessor, SamMaskDecoderConfig, SamModel, SamProcessor, SamPromptEncoderConfig, SamVisionConfig,
)

from common import answers, export, photo, spread

SIDE = 64
# So near to the threshold of a mask, rounding would decide about a pixel.
MARGIN = 4e-6
PHOTOS = [(61, 47), (40, 80), (128, 65)]
PROMPTS = [
    {"points": [[20, 30]]},
    {"points": [[20, 30], [30.5, 12]], "labels": [1, 0]},
]


class Rounding(Exception):
    pass


def sam():
    vision = SamVisionConfig(hidden_size=16, output_channels=16, num_hidden_layers=2, num_attention_heads=2, image_size=SIDE, patch_size=8, window_size=4, global_attn_indexes=[1], mlp_dim=24, num_pos_feats=8)
    prompts = SamPromptEncoderConfig(hidden_size=16, image_size=SIDE, patch_size=8, mask_input_channels=8)
    decoder = SamMaskDecoderConfig(hidden_size=16, mlp_dim=24, num_attention_heads=2, iou_head_hidden_dim=16)
    return SamModel(SamConfig(vision_config=vision.to_dict(), prompt_encoder_config=prompts.to_dict(), mask_decoder_config=decoder.to_dict()))


def sam_processor():
    square = lambda side: {"height": side, "width": side}
    return SamProcessor(SamImageProcessor(size={"longest_edge": SIDE}, mask_size={"longest_edge": SIDE // 4}, pad_size=square(SIDE), mask_pad_size=square(SIDE // 4)))


def sam_masks(model, processor, image, prompt):
    """The logits of all masks in the photo's size, [objects, masks, height, width], and their scores."""
    points = prompt["points"]
    inputs = processor(image, input_points=[points], input_labels=[prompt.get("labels", [1] * len(points))], return_tensors="pt")
    inputs["input_points"] = inputs["input_points"].float()
    with torch.no_grad():
        outputs = model(**{name: value for name, value in inputs.items() if name not in ("original_sizes", "reshaped_input_sizes")})
    masks = processor.post_process_masks(outputs.pred_masks, inputs["original_sizes"], inputs["reshaped_input_sizes"], binarize=False, pad_size=processor.image_processor.pad_size)
    return masks[0], outputs.iou_scores[0]


def runs_of(mask):
    """Pairs of a start and a length, row by row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.flatten().astype(int), [0]])))
    return np.stack([edges[::2], edges[1::2] - edges[::2]], -1).flatten()


def answer(masks, scores, every, threshold):
    """What the handler answers: `threshold` is a probability."""
    found = []
    for index, (own, fits) in enumerate(zip(masks, scores)):
        order = torch.argsort(fits, descending=True, stable=True)
        for at in order if every else order[:1]:
            logits = own[at].numpy() - np.log(threshold / (1 - threshold))
            if np.abs(logits).min() < MARGIN:
                raise Rounding
            mask = logits > 0
            if not mask.any():
                continue
            rows, columns = np.nonzero(mask)
            box = {"xmin": columns.min(), "ymin": rows.min(), "xmax": columns.max() + 1, "ymax": rows.max() + 1}
            found.append({"object": index, "score": fits[at], "box": box, "mask": {"width": mask.shape[1], "height": mask.shape[0], "runs": runs_of(mask)}})
    return found


def requests(masks_of, prompts):
    asked = []
    for size in PHOTOS:
        for prompt in prompts:
            for params in ({}, {"masks": "all", "maskThreshold": 0.505}):
                masks, scores = masks_of(photo(*size), prompt)
                own = answer(masks, scores, params.get("masks") == "all", params.get("maskThreshold", 0.5))
                asked.append({"input": {"image": {"photo": size}, **prompt}, "params": params, "answer": own})
    return asked


def fitting(build, masks_of, prompts):
    """The model of the first seed with which rounding decides about no pixel, and what is asked of it."""
    for seed in range(200):
        # The positional embedding is no parameter.
        torch.manual_seed(seed)
        model = spread(build(), seed, scale=0.4)
        try:
            return model, requests(lambda *asked: masks_of(model, *asked), prompts)
        except Rounding:
            pass
    raise SystemExit("No seed fits.")


def make():
    rows = []
    processor = sam_processor()
    model, asked = fitting(sam, lambda model, *given: sam_masks(model, processor, *given), PROMPTS)
    export("prompt-sam", model, "feature-extraction", [processor.image_processor])
    rows.append({"architecture": "SamModel", "repository": "prompt-sam", "requests": asked})
    for row in rows:
        print(row["repository"], [[(one["object"], round(float(one["score"]), 3), len(one["mask"]["runs"]) // 2) for one in request["answer"]] for request in row["requests"]])
    answers("promptable_segmenter", rows)
