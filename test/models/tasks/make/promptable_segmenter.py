"""Models that segment what points and boxes show, in two parts. SAM is exported by Optimum, which takes points alone; SAM 2
by torch, with the inputs and outputs that the decoder of onnx-community's exports has, where no box is a tensor of no rows."""
import pathlib

import numpy as np
import torch
from PIL import Image
from transformers import (
    Sam2Config, Sam2HieraDetConfig, Sam2ImageProcessorFast, Sam2MaskDecoderConfig, Sam2Model, Sam2Processor, Sam2PromptEncoderConfig, Sam2VisionConfig,
    SamConfig, SamImageProcessor, SamMaskDecoderConfig, SamModel, SamProcessor, SamPromptEncoderConfig, SamVisionConfig,
)

from common import answers, export, photo, save, spread

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


BOXES = [
    {"boxes": [[5, 6, 30, 40]]},
    {"boxes": [[5, 6, 30, 40], [0, 10.5, 38, 47]]},
    {"points": [[20, 30], [30.5, 12]], "labels": [1, 0], "boxes": [[5, 6, 32, 40]]},
]


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


def sam2():
    backbone = Sam2HieraDetConfig(
        hidden_size=8, image_size=[SIDE, SIDE], embed_dim_per_stage=[8, 16, 24, 32], num_attention_heads_per_stage=[1, 2, 3, 4], blocks_per_stage=[1, 1, 2, 1],
        window_size_per_stage=[4, 4, 4, 2], window_positional_embedding_background_size=[4, 4], global_attention_blocks=[3], mlp_ratio=1.0)
    vision = Sam2VisionConfig(backbone_config=backbone, backbone_channel_list=[32, 24, 16, 8], backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]], fpn_hidden_size=32)
    prompts = Sam2PromptEncoderConfig(hidden_size=32, image_size=SIDE, patch_size=16, mask_input_channels=8)
    decoder = Sam2MaskDecoderConfig(hidden_size=32, mlp_dim=24, num_attention_heads=2, iou_head_hidden_dim=16)
    return Sam2Model(Sam2Config(vision_config=vision, prompt_encoder_config=prompts, mask_decoder_config=decoder))


def sam2_processor():
    return Sam2Processor(Sam2ImageProcessorFast(size={"height": SIDE, "width": SIDE}, mask_size={"height": SIDE // 4, "width": SIDE // 4}))


def sam2_masks(model, processor, image, prompt):
    """As `sam_masks`. The photo is resized by Pillow: the processor's class is on torchvision only, whose resized pixels may differ by one."""
    points, boxes = prompt.get("points"), prompt.get("boxes")
    own = processor.image_processor
    side = own.size["height"]
    small = np.asarray(image.resize((side, side), Image.Resampling.BILINEAR), np.float32) / 255
    pixels = (small - np.float32(own.image_mean)) / np.float32(own.image_std)
    inputs = processor(
        image, input_points=points and [[points]], input_labels=points and [[prompt.get("labels", [1] * len(points))]], input_boxes=boxes and [boxes], return_tensors="pt")
    given = {name: inputs[name].float() if name != "input_labels" else inputs[name] for name in ("input_points", "input_labels", "input_boxes") if name in inputs}
    with torch.no_grad():
        outputs = model(pixel_values=torch.from_numpy(pixels.transpose(2, 0, 1))[None], multimask_output=True, **given)
    masks = processor.post_process_masks(outputs.pred_masks, inputs["original_sizes"], binarize=False)
    return masks[0], outputs.iou_scores[0]


@torch.jit.script
def joined(points: torch.Tensor, labels: torch.Tensor, boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Prompts as points alone: the corners of a box are points with the labels 2 and 3."""
    objects = max(1, boxes.shape[1])
    count = 2 * min(1, boxes.shape[1])
    corners = torch.cat([boxes.reshape(1, -1, 2, 2), torch.zeros(1, 1, 2, 2)], 1)[:, :objects, :count]
    marks = torch.tensor([[[2, 3]]]).expand(1, objects, 2)[:, :, :count]
    return torch.cat([points.expand(1, objects, points.shape[2], 2), corners], 2), torch.cat([labels, marks], 2)


class Encoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return tuple(self.model.get_image_embeddings(pixel_values))


class Decoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_points, input_labels, input_boxes, *embeddings):
        points, labels = joined(input_points, input_labels, input_boxes)
        found = self.model(image_embeddings=list(embeddings), input_points=points, input_labels=labels, multimask_output=True)
        return found.iou_scores, found.pred_masks, found.object_score_logits


def forget_shapes(graph):
    """Removes the shapes of what branches return: torch's exporter declares wrong ones where it squeezes, and ONNX Runtime for browsers refuses them."""
    for node in graph.graph.node:
        for attribute in node.attribute:
            for value in attribute.g.output:
                value.type.tensor_type.ClearField("shape")


def export_sam2(repository, model, processor):
    """For models that are as SAM 2 to their callers. Writes both parts with the names of onnx-community's exports; the decoder takes any number of points and boxes, also none."""
    names = [f"image_embeddings.{level}" for level in range(3)]

    def write(_, target):
        folder = pathlib.Path(target)
        with torch.no_grad():
            side = processor.image_processor.size["height"]
            pixels = torch.randn(1, 3, side, side)
            embeddings = Encoder(model)(pixels)
            torch.onnx.export(
                Encoder(model), (pixels,), folder / "vision_encoder.onnx", input_names=["pixel_values"], output_names=names, opset_version=17, dynamo=False)
            points = {"input_points": {2: "points"}, "input_labels": {1: "objects", 2: "points"}, "input_boxes": {1: "boxes"}}
            outputs = ["iou_scores", "pred_masks", "object_score_logits"]
            torch.onnx.export(
                Decoder(model), (torch.randn(1, 1, 3, 2), torch.ones(1, 2, 3, dtype=torch.int64), torch.randn(1, 2, 4), *embeddings), folder / "prompt_encoder_mask_decoder.onnx",
                input_names=[*points, *names], output_names=outputs, dynamic_axes={**points, **{name: {1: "objects"} for name in outputs}}, opset_version=17, dynamo=False)

    save(repository, model, [processor.image_processor], write, fix=forget_shapes)


def runs_of(mask):
    """Pairs of a start and a length, row by row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.flatten().astype(int), [0]])))
    return np.stack([edges[::2], edges[1::2] - edges[::2]], -1).flatten()


def answer(masks, scores, every, threshold, margin):
    """What the handler answers: `threshold` is a probability."""
    found = []
    for index, (own, fits) in enumerate(zip(masks, scores)):
        order = torch.argsort(fits, descending=True, stable=True)
        for at in order if every else order[:1]:
            logits = own[at].numpy() - np.log(threshold / (1 - threshold))
            if np.abs(logits).min() < margin:
                raise Rounding
            mask = logits > 0
            if not mask.any():
                continue
            rows, columns = np.nonzero(mask)
            box = {"xmin": columns.min(), "ymin": rows.min(), "xmax": columns.max() + 1, "ymax": rows.max() + 1}
            found.append({"object": index, "score": fits[at], "box": box, "mask": {"width": mask.shape[1], "height": mask.shape[0], "runs": runs_of(mask)}})
    return found


def requests(masks_of, prompts, margin):
    asked = []
    for size in PHOTOS:
        for prompt in prompts:
            for params in ({}, {"masks": "all", "maskThreshold": 0.505}):
                masks, scores = masks_of(photo(*size), prompt)
                own = answer(masks, scores, params.get("masks") == "all", params.get("maskThreshold", 0.5), margin)
                asked.append({"input": {"image": {"photo": size}, **prompt}, "params": params, "answer": own})
    return asked


def fitting(build, masks_of, prompts, margin=MARGIN, half=lambda model: model):
    """The model of the first seed with which rounding decides about no pixel, and what is asked of it. @param half returns the part of a model that is asked"""
    for seed in range(200):
        # The positional embedding is no parameter.
        torch.manual_seed(seed)
        model = half(spread(build(), seed, scale=0.4))
        try:
            return model, requests(lambda *asked: masks_of(model, *asked), prompts, margin)
        except Rounding:
            pass
    raise SystemExit("No seed fits.")


def make():
    from exported_sams import exported_rows

    rows = []
    processor = sam_processor()
    model, asked = fitting(sam, lambda model, *given: sam_masks(model, processor, *given), PROMPTS)
    export("prompt-sam", model, "feature-extraction", [processor.image_processor])
    rows.append({"architecture": "SamModel", "repository": "prompt-sam", "requests": asked})
    processor = sam2_processor()
    model, asked = fitting(sam2, lambda model, *given: sam2_masks(model, processor, *given), [*PROMPTS, *BOXES])
    export_sam2("prompt-sam2", model, processor)
    rows.append({"architecture": "Sam2Model", "repository": "prompt-sam2", "requests": asked})
    rows.extend(exported_rows(fitting, PROMPTS, BOXES))
    for row in rows:
        print(row["repository"], [[(one["object"], round(float(one["score"]), 3), len(one["mask"]["runs"]) // 2) for one in request["answer"]] for request in row["requests"]])
    answers("promptable_segmenter", rows)
