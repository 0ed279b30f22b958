"""Makes the repositories of this folder: tiny models of transformers with random weights, as Hugging Face's exporters lay them out, and expected.json with what
transformers' own pipelines and processors answer. Run with transformers, torch, onnx, tokenizers and Pillow at hand:

    python test/models/hugging-face/make.py

The photo is a formula: smooth enough that float32 decides nothing, with a color of its own at each place.
"""
import json
import pathlib
import sys
import types

# torchvision's compiled operators may not fit torch's version; nothing here needs them.
sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")

import numpy as np
import onnx
import onnxruntime
import torch
import transformers as hf
from PIL import Image
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers.models.detr.image_processing_pil_detr import DetrImageProcessorPil
from transformers.models.rt_detr.image_processing_pil_rt_detr import RTDetrImageProcessorPil
from transformers.models.segformer.image_processing_pil_segformer import SegformerImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

HERE = pathlib.Path(__file__).resolve().parent
expected = {}


def photo(width, height):
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    channels = [x * 255 // (width - 1), y * 255 // (height - 1), (x * 3 + y * 5) % 256]
    return Image.fromarray(np.stack(channels, -1).astype(np.uint8))


PHOTO = photo(61, 47)


class Outputs(torch.nn.Module):
    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs, **kwargs):
        outputs = self.model(*inputs, **kwargs, return_dict=True)
        return tuple(outputs[name] for name in self.names)


def spread(model, scale, every=None, seed=7):
    """Random weights give answers that are nearly equal: the classifier's are made larger, and all others where `every` says how large."""
    torch.manual_seed(seed)
    for name, parameter in model.named_parameters():
        if every is not None and parameter.dim() > 1:
            parameter.data = torch.randn(parameter.shape) * every
        if "classifier" in name or "class_labels" in name or "bbox_predictor" in name or "class_embed" in name or "bbox_embed" in name:
            parameter.data = torch.randn(parameter.shape) * scale
    return model.eval()


def export(folder, model, inputs, outputs, axes, file="onnx/model.onnx", opset=17):
    path = HERE / folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(Outputs(model, outputs).eval(), tuple(inputs.values()), str(path), input_names=list(inputs), output_names=outputs, dynamic_axes=axes, opset_version=opset, dynamo=False)
    onnx.checker.check_model(str(path))
    print(folder, path.stat().st_size)


def write(folder, file, value):
    path = HERE / folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


KEPT = ["architectures", "model_type", "id2label", "problem_type", "num_queries", "num_detection_tokens", "max_position_embeddings"]


def config_of(model):
    values = {**model.config.to_dict(), "architectures": [type(model).__name__]}
    return {key: values[key] for key in KEPT if values.get(key) is not None}


def processor_of(processor):
    values = processor.to_dict()
    values["image_processor_type"] = type(processor).__name__.removesuffix("Pil")
    return {key: value for key, value in values.items() if value is not None and not key.startswith("_") and key not in ("return_tensors", "input_data_format", "device", "disable_grouping", "processor_class", "data_format", "do_convert_annotations")}


def boxes(result, id2label, size):
    width, height = size
    rows = []
    for score, label, (x1, y1, x2, y2) in zip(result["scores"].tolist(), result["labels"].tolist(), result["boxes"].tolist()):
        # TabServe cuts boxes at the image's edges.
        box = {"xmin": max(x1, 0), "ymin": max(y1, 0), "xmax": min(x2, width), "ymax": min(y2, height)}
        rows.append({"label": id2label[label], "score": score, "box": box})
    rows.sort(key=lambda row: -row["score"])
    assert min(a["score"] - b["score"] for a, b in zip(rows, rows[1:])) > 1e-4, "nearly equal scores have no order"
    return rows


def vit():
    labels = {index: f"animal {index}" for index in range(7)}
    torch.manual_seed(1)
    config = hf.ViTConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, image_size=32, patch_size=8, id2label=labels, num_labels=7)
    model = spread(hf.ViTForImageClassification(config), 1.5)
    processor = ViTImageProcessorPil(size={"height": 32, "width": 32}, resample=3)
    export("vit", model, {"pixel_values": torch.zeros(1, 3, 32, 32)}, ["logits"], {"pixel_values": {0: "batch_size"}, "logits": {0: "batch_size"}})
    write("vit", "config.json", config_of(model))
    write("vit", "preprocessor_config.json", processor_of(processor))
    answer = hf.pipeline("image-classification", model=model, image_processor=processor)(PHOTO, top_k=5)
    expected["vit"] = answer


def detr():
    labels = {0: "N/A", 1: "person", 2: "cat", 3: "dog"}
    torch.manual_seed(2)
    backbone = hf.ResNetConfig(embedding_size=4, hidden_sizes=[4, 6, 8, 10], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage4"])
    config = hf.DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, num_queries=9, id2label=labels, num_labels=4)
    model = spread(hf.DetrForObjectDetection(config), 0.6, 0.6)
    processor = DetrImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 80})
    inputs = {"pixel_values": torch.zeros(1, 3, 64, 72), "pixel_mask": torch.ones(1, 64, 72, dtype=torch.int64)}
    sides = {0: "batch_size", 2: "height", 3: "width"}
    export("detr", model, inputs, ["logits", "pred_boxes"], {"pixel_values": sides, "pixel_mask": {0: "batch_size", 1: "height", 2: "width"}, "logits": {0: "batch_size"}, "pred_boxes": {0: "batch_size"}})
    write("detr", "config.json", config_of(model))
    write("detr", "preprocessor_config.json", processor_of(processor))
    features = processor(PHOTO, return_tensors="pt")
    with torch.no_grad():
        outputs = model(**features)
    result = processor.post_process_object_detection(outputs, threshold=0.3, target_sizes=[(PHOTO.height, PHOTO.width)])[0]
    expected["detr"] = boxes(result, labels, PHOTO.size)


def rtdetr():
    labels = {0: "person", 1: "cat", 2: "dog"}
    torch.manual_seed(3)
    backbone = hf.RTDetrResNetConfig(embedding_size=4, hidden_sizes=[4, 6, 8, 10], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage2", "stage3", "stage4"])
    config = hf.RTDetrConfig(backbone_config=backbone, use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, encoder_hidden_dim=8, encoder_in_channels=[6, 8, 10], d_model=8, encoder_ffn_dim=8, decoder_ffn_dim=8, decoder_layers=1, num_queries=12, encoder_attention_heads=2, decoder_attention_heads=2, decoder_in_channels=[8, 8, 8], num_denoising=0, anchor_image_size=[64, 64], disable_custom_kernels=True, id2label=labels, num_labels=3, hidden_expansion=0.5)
    model = spread(hf.RTDetrForObjectDetection(config), 0.5, 0.4, 2)
    processor = RTDetrImageProcessorPil(size={"height": 64, "width": 64})
    features = processor(PHOTO, return_tensors="pt")
    export("rtdetr", model, {"pixel_values": features["pixel_values"]}, ["logits", "pred_boxes"], {"pixel_values": {0: "batch_size"}, "logits": {0: "batch_size"}, "pred_boxes": {0: "batch_size"}}, file="model.onnx")
    write("rtdetr", "config.json", config_of(model))
    write("rtdetr", "preprocessor_config.json", processor_of(processor))
    with torch.no_grad():
        outputs = model(**features)
    # The model chooses its queries by their scores: where two are nearly equal, float32 decides, and the export may choose another one.
    exported = onnxruntime.InferenceSession(str(HERE / "rtdetr/model.onnx")).run(None, {"pixel_values": features["pixel_values"].numpy()})
    assert np.allclose(exported[0], outputs.logits.numpy(), atol=1e-4), "choose another seed"
    result = processor.post_process_object_detection(outputs, threshold=0.3, target_sizes=[(PHOTO.height, PHOTO.width)])[0]
    expected["rtdetr"] = boxes(result, labels, PHOTO.size)


def segformer():
    labels = {0: "wall", 1: "building", 2: "sky"}
    torch.manual_seed(4)
    config = hf.SegformerConfig(depths=[1, 1, 1, 1], sr_ratios=[8, 4, 2, 1], hidden_sizes=[4, 8, 8, 12], num_attention_heads=[1, 1, 2, 2], mlp_ratios=[2, 2, 2, 2], decoder_hidden_size=12, id2label=labels, num_labels=3)
    model = spread(hf.SegformerForSemanticSegmentation(config), 2.0, 0.5)
    processor = SegformerImageProcessorPil(size={"height": 64, "width": 64}, do_reduce_labels=True)
    export("segformer", model, {"pixel_values": torch.zeros(1, 3, 64, 64)}, ["logits"], {"pixel_values": {0: "batch_size"}, "logits": {0: "batch_size"}}, file="onnx/model_quantized.onnx")
    write("segformer", "config.json", {**config_of(model), "transformers.js_config": {"dtype": "q8"}})
    write("segformer", "preprocessor_config.json", processor_of(processor))
    with torch.no_grad():
        outputs = model(**processor(PHOTO, return_tensors="pt"))
    result = processor.post_process_semantic_segmentation(outputs, target_sizes=[(PHOTO.height, PHOTO.width)])[0]
    logits = torch.nn.functional.interpolate(outputs.logits, size=(PHOTO.height, PHOTO.width), mode="bilinear", align_corners=False)[0]
    # Pixels whose two best classes are so near that float32 decides are not compared.
    best = logits.topk(2, dim=0).values
    sure = (best[0] - best[1]) > 1e-3
    print("segformer", [int((result == index).sum()) for index in range(3)], "unsure", int((~sure).sum()))
    expected["segformer"] = {"width": PHOTO.width, "height": PHOTO.height, "classes": "".join(str(int(c)) if s else "?" for c, s in zip(result.flatten(), sure.flatten())), "scores": logits.softmax(0).max(0).values.flatten()[::97].tolist()}


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "good", "bad", "film", "book", "##s", "very", "the", "is"]


def tokenizer(limit):
    words = Tokenizer(models.WordPiece({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return hf.PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=limit, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")


TEXTS = ["A good film", "the very bad books", "good " * 30]


def text(folder, model, names, seed):
    tokens = tokenizer(16)
    inputs = {name: torch.zeros(1, 5, dtype=torch.int64) if name != "attention_mask" else torch.ones(1, 5, dtype=torch.int64) for name in names}
    dynamic = {0: "batch_size", 1: "sequence_length"}
    export(folder, model, inputs, ["logits"], {**{name: dynamic for name in names}, "logits": {0: "batch_size"}})
    write(folder, "config.json", config_of(model))
    tokens.save_pretrained(HERE / folder)
    for other in (HERE / folder).glob("*.json"):
        if other.name not in ("config.json", "tokenizer.json", "tokenizer_config.json"):
            other.unlink()
    tokens.model_input_names = names
    pipe = hf.pipeline("text-classification", model=model, tokenizer=tokens)
    expected[folder] = [pipe(text, top_k=None, truncation=True) for text in TEXTS]


def bert():
    torch.manual_seed(5)
    config = hf.BertConfig(vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=16, id2label={0: "NEGATIVE", 1: "POSITIVE"}, num_labels=2)
    text("bert", spread(hf.BertForSequenceClassification(config), 1.0), ["input_ids", "attention_mask", "token_type_ids"], 5)


def distilbert():
    torch.manual_seed(6)
    config = hf.DistilBertConfig(vocab_size=len(WORDS), dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=16, id2label={0: "toxic", 1: "insult", 2: "threat"}, num_labels=3, problem_type="multi_label_classification")
    text("distilbert", spread(hf.DistilBertForSequenceClassification(config), 1.0), ["input_ids", "attention_mask"], 6)


if __name__ == "__main__":
    for make in (vit, detr, rtdetr, segformer, bert, distilbert):
        make()
    expected["texts"] = TEXTS
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
