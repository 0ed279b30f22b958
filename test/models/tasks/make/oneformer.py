"""The row of instance_segmenter for OneFormer, whose processor makes an input of the words "the task is panoptic"."""
import json
import pathlib
import tempfile

import torch
from transformers import CLIPTokenizerFast, OneFormerConfig, OneFormerForUniversalSegmentation, OneFormerImageProcessor, OneFormerProcessor, SwinConfig

from common import HERE, export_graph, photo, spread, tokenizer_of

LABELS = ["cat", "dog", "tree", "sea"]
NAMES = {"id2label": dict(enumerate(LABELS)), "label2id": {name: index for index, name in enumerate(LABELS)}}
SWIN = {"image_size": 64, "patch_size": 4, "embed_dim": 4, "mlp_ratio": 1.0, "depths": [1, 1, 1, 1], "num_heads": [1, 1, 2, 2], "window_size": 4, "out_features": ["stage1", "stage2", "stage3", "stage4"]}
SIZE = {"shortest_edge": 48, "longest_edge": 96}
LOW = {"scoreThreshold": 0.35, "maskThreshold": 0.2, "overlapThreshold": 0.3}


def build():
    return OneFormerForUniversalSegmentation(OneFormerConfig(
        backbone_config=SwinConfig(**SWIN), num_queries=8, conv_dim=32, mask_dim=32, hidden_dim=32, encoder_feedforward_dim=16, encoder_layers=1, decoder_layers=2, num_attention_heads=2,
        dim_feedforward=16, query_dec_layers=1, **NAMES))


def processor_of():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "classes.json").write_text(json.dumps({str(index): {"name": name, "isthing": index < 2} for index, name in enumerate(LABELS)}))
        images = OneFormerImageProcessor(size=SIZE, repo_path=folder, class_info_file="classes.json")
    images.repo_path = "shi-labs/oneformer_demo"
    # As in the published files, the tokenizer pads with the token that ends a text; the processor, with zeros.
    tokenizer_of("clip")
    return OneFormerProcessor(images, CLIPTokenizerFast(tokenizer_file=str(HERE / "tokenizers" / "clip" / "tokenizer.json"), pad_token="<|endoftext|>", model_max_length=77))


def segments(model, processor, image, subtask="panoptic", scoreThreshold=0.9, maskThreshold=0.5, overlapThreshold=0.5):
    """As transformers' pipeline `image-segmentation`, but with the processor's own input of the task: the pipeline pads it with the tokenizer's token."""
    inputs = processor(images=[image], task_inputs=[subtask], return_tensors="pt")
    with torch.no_grad():
        outputs = model(pixel_values=inputs["pixel_values"], task_inputs=inputs["task_inputs"])
    convert = getattr(processor.image_processor, f"post_process_{subtask}_segmentation")
    found = convert(outputs, threshold=scoreThreshold, mask_threshold=maskThreshold, overlap_mask_area_threshold=overlapThreshold, target_sizes=[(image.height, image.width)])[0]
    return [{"label": LABELS[one["label_id"]], "score": one["score"], "mask": found["segmentation"] == one["id"]} for one in found["segments_info"]]


def oneformer_row(answer):
    """Returns the row. @param answer converts segments to the handler's result"""
    processor = processor_of()
    # The first weights that show two segments and more of each kind, and two labels.
    for seed in range(200):
        model = spread(build(), seed, scale=0.3)
        found = [[one["label"] for one in segments(model, processor, photo(61, 47), subtask, **LOW)] for subtask in ("panoptic", "instance")]
        if all(len(set(labels)) > 1 for labels in found):
            break
    print("instance-oneformer", seed, found)
    example = processor(images=[photo(61, 47)], task_inputs=["panoptic"], return_tensors="pt")
    export_graph(
        "instance-oneformer", model, [processor.image_processor, processor.tokenizer], (example["pixel_values"], example["task_inputs"]),
        ["class_queries_logits", "masks_queries_logits"], fixed=True, inputs=("pixel_values", "task_inputs"), folds=True)
    requests = []
    for size, params in [((61, 47), LOW), ((61, 47), {**LOW, "subtask": "instance"}), ((61, 47), {**LOW, "scoreThreshold": 0.3}), ((60, 46), {**LOW, "scoreThreshold": 0.3}), ((61, 47), {})]:
        found = segments(model, processor, photo(*size), **params)
        print(size, params, [(one["label"], one["score"]) for one in found])
        requests.append({"input": {"photo": size}, "params": params, "answer": answer(found)})
    return {"architecture": type(model).__name__, "repository": "instance-oneformer", "requests": requests}
