"""The rows of promptable_segmenter for what the export scripts of Segment Anything (and of MobileSAM, whose decoder is the same) and of EfficientSAM
write. Segment Anything is the package segment_anything; EfficientSAM is no package: a clone of https://github.com/yformer/EfficientSAM is on PYTHONPATH.
"""
import json
import shutil
import sys
import types

sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("torchvision._meta_registrations"))

import numpy as np
import onnx
import torch
from efficient_sam.efficient_sam import EfficientSam
from efficient_sam.efficient_sam_decoder import MaskDecoder as EfficientDecoder
from efficient_sam.efficient_sam_decoder import PromptEncoder as EfficientPrompts
from efficient_sam.efficient_sam_encoder import ImageEncoderViT as EfficientEncoder
from efficient_sam.two_way_transformer import TwoWayTransformer as EfficientTransformer
from onnx_models import OnnxEfficientSamDecoder, OnnxEfficientSamEncoder
from segment_anything import SamPredictor
from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer
from segment_anything.utils.onnx import SamOnnxModel

from common import HERE, MAX_BYTES, store, stored_bytes, strip

SIDE = 64
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
ENCODER, DECODER = "vision.onnx", "decoder.onnx"


def write(repository, steps, export_encoder, export_decoder):
    """Writes an archive of both parts in TorchServe's layout. @param steps of imageProcessing"""
    folder = HERE / repository
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "MAR-INF").mkdir(parents=True)
    for name, export in ((ENCODER, export_encoder), (DECODER, export_decoder)):
        with torch.no_grad():
            export(folder / name)
        graph = onnx.load(folder / name)
        strip(graph)
        store(graph, folder / name)
    manifest = {"modelName": repository, "modelVersion": "1.0", "handler": "promptable_segmenter", "configFile": "model-config.yaml"}
    (folder / "MAR-INF/MANIFEST.json").write_text(json.dumps({"model": manifest}, indent=2) + "\n")
    vision = {"archive": ENCODER, "config": {"handler": {"imageProcessing": steps}}}
    # JSON is YAML.
    (folder / "model-config.yaml").write_text(json.dumps({"nodes": {"vision": vision, "decoder": DECODER}}, indent=2) + "\n")
    size = stored_bytes(folder)
    print(repository, size)
    if size > MAX_BYTES:
        raise SystemExit(f"{repository} has {size} bytes, more than {MAX_BYTES}.")


def graph(model, inputs, file, outputs, axes):
    torch.onnx.export(model, tuple(inputs.values()), file, input_names=list(inputs), output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)


def sam():
    grid = SIDE // 8
    return Sam(
        image_encoder=ImageEncoderViT(img_size=SIDE, patch_size=8, embed_dim=16, depth=2, num_heads=2, mlp_ratio=1.5, out_chans=16, use_rel_pos=True, window_size=4, global_attn_indexes=(1,)),
        prompt_encoder=PromptEncoder(embed_dim=16, image_embedding_size=(grid, grid), input_image_size=(SIDE, SIDE), mask_in_chans=8),
        mask_decoder=MaskDecoder(num_multimask_outputs=3, transformer=TwoWayTransformer(depth=2, embedding_dim=16, mlp_dim=24, num_heads=2), transformer_dim=16, iou_head_hidden_dim=16),
        pixel_mean=[255 * mean for mean in MEAN], pixel_std=[255 * std for std in STD])


def sam_masks(model, image, prompt):
    """The logits of all masks in the photo's size, [objects, masks, height, width], and their scores, as SamPredictor answers."""
    predictor = SamPredictor(model)
    predictor.set_image(np.asarray(image))
    size = (image.height, image.width)
    points, boxes = prompt.get("points"), prompt.get("boxes")
    tensor = lambda numbers: torch.as_tensor(numbers, dtype=torch.float32)
    masks, scores, _ = predictor.predict_torch(
        points and tensor(predictor.transform.apply_coords(np.array(points), size))[None], points and torch.tensor([prompt.get("labels", [1] * len(points))]),
        boxes and tensor(predictor.transform.apply_boxes(np.array(boxes, dtype=float), size)), multimask_output=True, return_logits=True)
    return masks, scores


def export_sam_decoder(model):
    """As scripts/export_onnx_model.py of Segment Anything does."""
    grid = model.prompt_encoder.image_embedding_size
    inputs = {
        "image_embeddings": torch.randn(1, model.prompt_encoder.embed_dim, *grid), "point_coords": torch.randint(0, SIDE, (1, 5, 2)).float(),
        "point_labels": torch.randint(0, 4, (1, 5)).float(), "mask_input": torch.randn(1, 1, *(4 * side for side in grid)), "has_mask_input": torch.tensor([1.0]),
        "orig_im_size": torch.tensor([150.0, 225.0]),
    }
    axes = {"point_coords": {1: "num_points"}, "point_labels": {1: "num_points"}}
    return lambda file: graph(SamOnnxModel(model, return_single_mask=False), inputs, file, ["masks", "iou_predictions", "low_res_masks"], axes)


def efficient_sam():
    norms = {"normalization_type": "layer_norm", "normalize_before_activation": False}
    activation = torch.nn.GELU
    encoder = EfficientEncoder(
        img_size=SIDE, patch_size=16, in_chans=3, patch_embed_dim=16, normalization_type="layer_norm", depth=2, num_heads=2, mlp_ratio=1.5, neck_dims=[16, 16], act_layer=activation)
    grid = (encoder.image_embedding_size,) * 2
    transformer = EfficientTransformer(depth=2, embedding_dim=16, num_heads=2, mlp_dim=24, activation=activation, normalize_before_activation=False)
    return EfficientSam(
        image_encoder=encoder, prompt_encoder=EfficientPrompts(embed_dim=16, image_embedding_size=grid, input_image_size=(SIDE, SIDE)), decoder_max_num_input_points=6,
        mask_decoder=EfficientDecoder(
            transformer_dim=16, transformer=transformer, num_multimask_outputs=3, activation=activation, iou_head_depth=2, iou_head_hidden_dim=16, upscaling_layer_dims=[8, 8], **norms))


def efficient_masks(model, image, prompt):
    """As `sam_masks`, by what its export script exports, in torch: its own class interpolates otherwise (`onnx_models.py`)."""
    pixels = torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1)[None].float() / 255
    points = prompt.get("points", [])
    labels = [1.0] * len(points)
    every = []
    with torch.no_grad():
        embeddings = OnnxEfficientSamEncoder(model)(pixels)
        for box in prompt.get("boxes", [[]]):
            own = torch.tensor([*points, *([box[:2], box[2:]] if box else [])], dtype=torch.float32)
            marks = torch.tensor([*labels, *([2.0, 3.0] if box else [])])
            masks, scores, _ = OnnxEfficientSamDecoder(model)(embeddings, own[None, None], marks[None, None], (image.height, image.width))
            every.append((masks[0, 0], scores[0, 0]))
    return tuple(map(torch.stack, zip(*every)))


def export_efficient_decoder(model):
    """As export_to_onnx.py of EfficientSAM does: each run is of one object."""
    grid = model.prompt_encoder.image_embedding_size
    inputs = {
        "image_embeddings": torch.randn(1, 16, *grid), "batched_point_coords": torch.randint(0, 108, (1, 1, 5, 2)).float(),
        "batched_point_labels": torch.randint(0, 4, (1, 1, 5)).float(), "orig_im_size": torch.tensor([108, 192]),
    }
    axes = {"image_embeddings": {0: "batch"}, "batched_point_coords": {2: "num_points"}, "batched_point_labels": {2: "num_points"}}
    return lambda file: graph(OnnxEfficientSamDecoder(model), inputs, file, ["output_masks", "iou_predictions", "low_res_masks"], axes)


def exported_rows(fitting, points, boxes):
    """@param fitting finds weights, and asks the model @param points @param boxes prompts"""
    model, asked = fitting(sam, sam_masks, [*points, *boxes])
    steps = [{"resize": {"size": SIDE, "side": "longer"}}, "toTensor", {"normalize": {"mean": MEAN, "std": STD}}, {"padTensor": {"size": [SIDE, SIDE], "position": "top-left"}}]
    encoder = lambda file: graph(model.image_encoder, {"images": torch.randn(1, 3, SIDE, SIDE)}, file, ["image_embeddings"], {})
    write("prompt-segment-anything", steps, encoder, export_sam_decoder(model))
    rows = [{"architecture": "Sam (segment_anything, MobileSAM)", "repository": "prompt-segment-anything", "requests": asked}]
    # It knows no points that are outside of the object.
    inside = [{key: value for key, value in prompt.items() if key != "labels"} for prompt in [*points, *boxes]]
    efficient, asked = fitting(efficient_sam, efficient_masks, inside)
    axes = {"batched_images": {0: "batch", 2: "height", 3: "width"}}
    encoder = lambda file: graph(OnnxEfficientSamEncoder(efficient), {"batched_images": torch.randn(1, 3, 108, 192)}, file, ["image_embeddings"], axes)
    write("prompt-efficient-sam", ["toTensor"], encoder, export_efficient_decoder(efficient))
    return [*rows, {"architecture": "EfficientSam", "repository": "prompt-efficient-sam", "requests": asked}]
