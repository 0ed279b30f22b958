"""Detectors of transformers 5.18. Their processors run on torchvision, and have no pipeline's boxes of whole pixels."""
import pathlib

import torch
import transformers
from transformers import AutoModelForObjectDetection

from common import photo, save, spread, trace
from object_detector import NAMES, PHOTOS, cut, hg_net, threshold_of

SQUARE = {"height": 64, "width": 64}


def rf_detr():
    backbone = transformers.RfDetrDinov2Config(image_size=64, patch_size=8, hidden_size=16, num_hidden_layers=3, num_attention_heads=2, mlp_ratio=2, out_features=["stage1", "stage3"], num_windows=2)
    return transformers.RfDetrConfig(
        backbone_config=backbone, d_model=16, decoder_ffn_dim=24, decoder_layers=2, decoder_self_attention_heads=2, decoder_cross_attention_heads=2,
        decoder_n_points=2, num_queries=12, group_detr=2, c2f_num_blocks=1, intermediate_size=24)


def lw_detr():
    backbone = transformers.LwDetrViTConfig(image_size=64, pretrain_image_size=64, patch_size=8, hidden_size=16, num_hidden_layers=3, num_attention_heads=2, mlp_ratio=2, out_features=["stage1", "stage3"], window_block_indices=[0], num_windows=4)
    return transformers.LwDetrConfig(
        backbone_config=backbone, projector_scale_factors=[1.0], d_model=16, decoder_ffn_dim=24, decoder_layers=2, decoder_self_attention_heads=2,
        decoder_cross_attention_heads=2, decoder_n_points=2, num_queries=12, group_detr=2)


def deim():
    return transformers.Deimv2Config(
        backbone_config=hg_net(), d_model=16, encoder_hidden_dim=16, encoder_in_channels=[8, 16, 16], decoder_in_channels=[16, 16, 16], encoder_ffn_dim=24,
        decoder_ffn_dim=24, encoder_attention_heads=2, decoder_attention_heads=2, decoder_layers=2, num_queries=12, hidden_expansion=0.5, num_denoising=0, lqe_hidden_dim=8)


CONFIGS = [
    ("detect-rf-detr", rf_detr, lambda: transformers.RfDetrImageProcessor(size=SQUARE, do_pad=False)),
    ("detect-lw-detr", lw_detr, lambda: transformers.DeformableDetrImageProcessorPil(size=SQUARE, do_pad=False)),
    ("detect-deim-v2", deim, lambda: transformers.RTDetrImageProcessorPil(size=SQUARE)),
]
SCALES = {"detect-deim-v2": 0.4}


def whole_positions(model):
    for part in model.modules():
        if hasattr(part, "interpolate_pos_encoding"):
            # It interpolates to the same size whenever it is traced, by an operator that ONNX lacks.
            part.interpolate_pos_encoding = lambda *_, part=part: part.position_embeddings


def traced(model):
    whole_positions(model)
    dynamic = {"pixel_values": {0: "batch"}, "logits": {0: "batch"}, "pred_boxes": {0: "batch"}}
    inputs = {"pixel_values": torch.rand(1, 3, 64, 64)}
    return lambda _, target: trace(model, inputs, ["logits", "pred_boxes"], dynamic, pathlib.Path(target) / "model.onnx")


def newest_rows():
    rows = []
    for repository, config, processor_class in CONFIGS:
        processor, made = processor_class(), config()
        made.id2label, made.label2id = NAMES, {name: id for id, name in NAMES.items()}
        model = spread(AutoModelForObjectDetection.from_config(made, attn_implementation="eager"), scale=SCALES.get(repository, 0.3))
        save(repository, model, [processor], traced(model))
        requests = []
        for size in PHOTOS:
            given = processor(photo(*size), return_tensors="pt")["pixel_values"]
            with torch.no_grad():
                outputs = model(pixel_values=given)
            [all_found] = processor.post_process_object_detection(outputs, threshold=0, target_sizes=[size[::-1]])
            found = [
                {"label": NAMES[int(label)], "score": float(score), "box": cut(box, *size)}
                for score, label, box in zip(all_found["scores"], all_found["labels"], all_found["boxes"])]
            found = sorted(found, key=lambda one: -one["score"])
            found = [one for one in found if one["box"]["xmin"] < one["box"]["xmax"] and one["box"]["ymin"] < one["box"]["ymax"]]
            at, threshold = threshold_of([one["score"] for one in found])
            requests.append({"input": {"photo": size}, "params": {"scoreThreshold": threshold}, "answer": found[:at]})
        print(repository, [[round(one["score"], 4) for one in request["answer"]] for request in requests])
        rows.append({"architecture": type(model).__name__, "repository": repository, "requests": requests})
    return rows
