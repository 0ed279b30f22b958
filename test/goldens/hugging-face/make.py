"""Makes processors.json: what the image processors of transformers compute, on their PIL backend. Run with transformers, torch and Pillow at hand:

    python test/goldens/hugging-face/make.py

`published` are the fields of the `preprocessor_config.json` of well-known models, some of them as they were before transformers named a class in them.
An input is a formula, an output its SHA-256 (of little-endian float32) and a strided sample to look at when it differs.
"""
import base64
import functools
import hashlib
import importlib
import json
import pathlib
import sys
import types

# torchvision's compiled operators may not fit torch's version; nothing here needs them.
sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "transforms"))

import numpy as np
import PIL
import transformers
from make import SAMPLE, image

HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
DO = {"do_normalize": True, "do_resize": True}
RESCALE = {"do_rescale": True, "rescale_factor": 0.00392156862745098}
COCO = {"do_pad": True, "format": "coco_detection", **DO, **RESCALE, **IMAGENET}

# (the class, the fields, the model_type where the fields name no class)
published = {
    "google/vit-base-patch16-224": ("ViT", {**DO, **HALF, "size": 224}, "vit"),
    "Xenova/vit-base-patch16-224": ("ViT", {**DO, **RESCALE, **HALF, "image_processor_type": "ViTFeatureExtractor", "resample": 2, "size": {"height": 224, "width": 224}}, None),
    "microsoft/swin-tiny-patch4-window7-224": ("ViT", {**DO, **IMAGENET, "feature_extractor_type": "ViTFeatureExtractor", "resample": 3, "size": 224}, None),
    "facebook/deit-base-distilled-patch16-224": ("DeiT", {**DO, **IMAGENET, "crop_size": 224, "do_center_crop": True, "feature_extractor_type": "DeiTFeatureExtractor", "resample": 3, "size": 256}, None),
    "microsoft/resnet-50": ("ConvNext", {**DO, **IMAGENET, "crop_pct": 0.875, "feature_extractor_type": "ConvNextFeatureExtractor", "resample": 3, "size": 224}, None),
    "facebook/convnext-tiny-224": ("ConvNext", {**DO, **IMAGENET, **RESCALE, "crop_pct": 0.875, "image_processor_type": "ConvNextImageProcessor", "resample": 3, "size": {"shortest_edge": 224}}, None),
    "facebook/convnext-base-384": ("ConvNext", {**DO, **IMAGENET, "crop_pct": None, "feature_extractor_type": "ConvNextFeatureExtractor", "resample": 3, "size": 384}, None),
    "google/mobilenet_v2_1.0_224": ("MobileNetV2", {**DO, **RESCALE, **HALF, "crop_size": {"height": 224, "width": 224}, "do_center_crop": True, "image_processor_type": "MobileNetV2ImageProcessor", "resample": 2, "size": {"shortest_edge": 256}}, None),
    "google/mobilenet_v1_0.75_192": ("MobileNetV1", {**DO, **RESCALE, **HALF, "crop_size": {"height": 192, "width": 192}, "do_center_crop": True, "image_processor_type": "MobileNetV1ImageProcessor", "resample": 2, "size": {"shortest_edge": 220}}, None),
    "google/efficientnet-b0": ("EfficientNet", {**DO, **RESCALE, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.47853944, 0.4732864, 0.47434163], "crop_size": {"height": 289, "width": 289}, "do_center_crop": False, "image_processor_type": "EfficientNetImageProcessor", "include_top": True, "resample": 0, "rescale_offset": False, "size": {"height": 224, "width": 224}}, None),
    "EfficientNet with an offset": ("EfficientNet", {"do_normalize": True, "do_rescale": True, "rescale_factor": 0.00784313725490196, "rescale_offset": True, "include_top": False, **HALF, "image_processor_type": "EfficientNetImageProcessor", "resample": 2, "size": {"height": 60, "width": 70}}, None),
    "microsoft/beit-base-patch16-224": ("Beit", {**DO, **HALF, "crop_size": 224, "do_center_crop": False, "feature_extractor_type": "BeitFeatureExtractor", "resample": 2, "size": 224}, None),
    "facebook/levit-128S": ("Levit", {**DO, **IMAGENET, "crop_size": {"height": 224, "width": 224}, "do_center_crop": True, "image_processor_type": "LevitImageProcessor", "resample": 3, "size": {"shortest_edge": 224}}, None),
    "sail/poolformer_s12": ("PoolFormer", {**DO, **IMAGENET, "crop_pct": 0.9, "crop_size": 224, "do_center_crop": True, "feature_extractor_type": "PoolFormerFeatureExtractor", "resample": 3, "size": 224}, None),
    "apple/mobilevit-small": ("MobileViT", {"crop_size": {"height": 256, "width": 256}, "do_center_crop": True, "do_flip_channel_order": True, "do_resize": True, "do_rescale": True, "rescale_factor": 0.00392156862745098, "image_processor_type": "MobileViTImageProcessor", "resample": 2, "size": {"shortest_edge": 288}}, None),
    "facebook/dinov2-small-imagenet1k-1-layer": ("Bit", {**DO, **RESCALE, **IMAGENET, "crop_size": {"height": 224, "width": 224}, "do_center_crop": True, "do_convert_rgb": True, "image_processor_type": "BitImageProcessor", "resample": 3, "size": {"shortest_edge": 256}}, None),
    "openai/clip-vit-base-patch32": ("CLIP", {**DO, "crop_size": 224, "do_center_crop": True, "feature_extractor_type": "CLIPFeatureExtractor", "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711], "resample": 3, "size": 224}, None),
    "google/siglip-base-patch16-224": ("Siglip", {**DO, **RESCALE, **HALF, "image_processor_type": "SiglipImageProcessor", "resample": 3, "size": {"height": 224, "width": 224}}, None),
    "Zetatech/pvt-tiny-224": ("Pvt", {**DO, **RESCALE, **IMAGENET, "image_processor_type": "PvtImageProcessor", "resample": 2, "size": {"height": 224, "width": 224}}, None),
    "facebook/detr-resnet-50": ("Detr", {**DO, **IMAGENET, "feature_extractor_type": "DetrFeatureExtractor", "format": "coco_detection", "max_size": 1333, "size": 800}, None),
    "Xenova/detr-resnet-50": ("Detr", {**COCO, "feature_extractor_type": "DetrFeatureExtractor", "image_processor_type": "DetrFeatureExtractor", "resample": 2, "size": {"longest_edge": 1333, "shortest_edge": 800}}, None),
    "microsoft/table-transformer-detection": ("Detr", {**COCO, "image_processor_type": "DetrImageProcessor", "max_size": 800, "resample": 2, "size": 800}, None),
    "SenseTime/deformable-detr": ("DeformableDetr", {**DO, **IMAGENET, "feature_extractor_type": "DeformableDetrFeatureExtractor", "format": "coco_detection", "max_size": 1333, "size": 800}, None),
    "microsoft/conditional-detr-resnet-50": ("ConditionalDetr", {**DO, **IMAGENET, "feature_extractor_type": "ConditionalDetrFeatureExtractor", "format": "coco_detection", "max_size": 1333, "size": 800}, None),
    "hustvl/yolos-tiny": ("Yolos", {**DO, **IMAGENET, "feature_extractor_type": "YolosFeatureExtractor", "format": "coco_detection", "max_size": 864, "size": 512}, None),
    "Xenova/yolos-tiny": ("Yolos", {**COCO, "image_processor_type": "YolosFeatureExtractor", "resample": 2, "size": {"longest_edge": 1333, "shortest_edge": 800}}, None),
    "PekingU/rtdetr_r50vd": ("RTDetr", {**RESCALE, **IMAGENET, "do_normalize": False, "do_pad": False, "do_resize": True, "format": "coco_detection", "image_processor_type": "RTDetrImageProcessor", "pad_size": None, "resample": 2, "size": {"height": 640, "width": 640}}, None),
    "nvidia/segformer-b0-finetuned-ade-512-512": ("Segformer", {**DO, **IMAGENET, "feature_extractor_type": "SegformerFeatureExtractor", "reduce_labels": True, "resample": 2, "size": 512}, None),
    "Xenova/segformer-b0-finetuned-ade-512-512": ("Segformer", {**DO, **RESCALE, **IMAGENET, "do_reduce_labels": True, "image_processor_type": "SegformerFeatureExtractor", "resample": 2, "size": {"height": 512, "width": 512}}, None),
    "Intel/dpt-large-ade": ("DPT", {**DO, **HALF, "ensure_multiple_of": 1, "feature_extractor_type": "DPTFeatureExtractor", "keep_aspect_ratio": False, "resample": 2, "size": 480}, None),
    "Intel/dpt-swinv2-tiny-256": ("DPT", {**DO, **RESCALE, **HALF, "do_pad": False, "ensure_multiple_of": 1, "image_processor_type": "DPTImageProcessor", "keep_aspect_ratio": True, "resample": 2, "size": {"height": 256, "width": 256}, "size_divisor": None}, None),
    "facebook/dpt-dinov2-small-nyu": ("DPT", {**DO, **RESCALE, "image_mean": [123.675, 116.28, 103.53], "image_std": [58.395, 57.12, 57.375], "rescale_factor": 1, "do_pad": True, "do_resize": False, "image_processor_type": "DPTImageProcessor", "keep_aspect_ratio": False, "resample": 3, "size": {"height": 384, "width": 384}, "size_divisor": 14}, None),
    "LiheYoung/depth-anything-small-hf": ("DPT", {**DO, **RESCALE, **IMAGENET, "do_pad": False, "ensure_multiple_of": 14, "image_processor_type": "DPTImageProcessor", "keep_aspect_ratio": True, "resample": 3, "size": {"height": 518, "width": 518}, "size_divisor": None}, None),
    "vinvino02/glpn-nyu": ("GLPN", {"do_rescale": True, "do_resize": True, "feature_extractor_type": "GLPNFeatureExtractor", "resample": 2, "size_divisor": 32}, None),
    "caidas/swin2SR-classical-sr-x2-64": ("Swin2SR", {"do_pad": True, **RESCALE, "image_processor_type": "Swin2SRImageProcessor", "pad_size": 8}, None),
    "facebook/maskformer-swin-tiny-coco": ("MaskFormer", {**DO, **IMAGENET, "feature_extractor_type": "MaskFormerFeatureExtractor", "ignore_index": 255, "max_size": 1333, "reduce_labels": False, "size": 800, "size_divisibility": 32}, None),
    "facebook/mask2former-swin-tiny-coco-instance": ("Mask2Former", {**DO, **RESCALE, **IMAGENET, "ignore_index": 255, "image_processor_type": "Mask2FormerImageProcessor", "reduce_labels": False, "resample": 2, "size": {"longest_edge": 1333, "shortest_edge": 800}, "size_divisor": 32}, None),
    "shi-labs/oneformer_coco_swin_large": ("OneFormer", {**DO, **RESCALE, **IMAGENET, "ignore_index": 255, "image_processor_type": "OneFormerImageProcessor", "resample": 2, "size": {"longest_edge": 1333, "shortest_edge": 800}}, None),
    "facebook/sam-vit-base": ("Sam", {**DO, **RESCALE, **IMAGENET, "do_convert_rgb": True, "do_pad": True, "image_processor_type": "SamImageProcessor", "pad_size": {"height": 1024, "width": 1024}, "resample": 2, "size": {"longest_edge": 1024}}, None),
    "SAM, small": ("Sam", {**DO, **RESCALE, **IMAGENET, "do_pad": True, "image_processor_type": "SamImageProcessor", "pad_size": {"height": 70, "width": 67}, "resample": 2, "size": {"longest_edge": 64}}, None),
    "naver-clova-ix/donut-base": ("Donut", {**DO, **RESCALE, **HALF, "do_align_long_axis": False, "do_pad": True, "do_thumbnail": True, "image_processor_type": "DonutImageProcessor", "resample": 2, "size": {"height": 2560, "width": 1920}}, None),
    "Donut, small": ("Donut", {**DO, **HALF, "do_align_long_axis": False, "do_pad": True, "do_thumbnail": True, "feature_extractor_type": "DonutFeatureExtractor", "resample": 2, "size": [64, 97]}, None),
    "Donut, wide": ("Donut", {"image_processor_type": "DonutImageProcessor", "size": {"height": 70, "width": 90}}, None),
    "czczup/textnet-base": ("TextNet", {**DO, **RESCALE, **IMAGENET, "crop_size": {"height": 224, "width": 224}, "do_center_crop": False, "do_convert_rgb": True, "image_processor_type": "TextNetImageProcessor", "resample": 2, "size": {"shortest_edge": 640}, "size_divisor": 32}, None),
    "TextNet, small": ("TextNet", {"image_processor_type": "TextNetImageProcessor", "crop_size": 40, "do_center_crop": True, "size": {"shortest_edge": 50}}, None),
    "OWLv2 that shrinks": ("Owlv2", {**RESCALE, "image_processor_type": "Owlv2ImageProcessor", "size": {"height": 96, "width": 96}}, None),
    "Pillow's box filter": ("ViT", {**DO, **HALF, "image_processor_type": "ViTImageProcessor", "resample": 4, "size": {"height": 131, "width": 700}}, None),
    "Pillow's Hamming filter": ("ViT", {**DO, **HALF, "image_processor_type": "ViTImageProcessor", "resample": 5, "size": {"height": 131, "width": 700}}, None),
    "Nothing is done": ("ViT", {"do_normalize": False, "do_rescale": False, "do_resize": False, "image_processor_type": "ViTImageProcessorFast"}, None),
    "Another factor": ("ViT", {"do_normalize": True, "image_mean": [0.1, 0.2, 0.3], "image_std": [0.7, 0.6, 0.5], "image_processor_type": "ViTImageProcessor", "rescale_factor": 0.0173, "size": [33, 21]}, None),
    "An odd crop": ("Bit", {"image_processor_type": "BitImageProcessor", "crop_size": [44, 65], "size": 51}, None),
    **{f"Only {name}": (name, {"image_processor_type": f"{name}ImageProcessor"}, None) for name in ("Bit", "ChineseCLIP", "DeiT", "EfficientNet", "GroundingDino", "Levit", "MobileViT", "OwlViT", "Owlv2", "PoolFormer", "RTDetr", "Sam", "Segformer", "Siglip")},
}

# torch interpolates this one: the values themselves are compared.
ZOE = {**DO, **RESCALE, **HALF, "do_pad": True, "ensure_multiple_of": 32, "image_processor_type": "ZoeDepthImageProcessor", "keep_aspect_ratio": True, "resample": 2, "size": {"height": 384, "width": 512}}

# On torchvision only.
RF_DETR = {**COCO, "do_pad": False, "image_processor_type": "RfDetrImageProcessor", "resample": 2, "size": {"height": 96, "width": 112}}
DINOV3 = {**DO, **RESCALE, **IMAGENET, "image_processor_type": "DINOv3ViTImageProcessorFast", "resample": 2, "size": {"height": 96, "width": 112}}

SIZES = [(640, 427), (333, 500)]
# Where the sizes of DETR and YOLOS round: limited by the longer side, square, already of the size, and a pixel to either side.
DETECTOR_SIZES = [(640, 480), (480, 640), (1000, 333), (333, 1001), (1920, 1080), (800, 800), (801, 800), (1333, 800), (513, 512), (97, 251)]
# The other side of these is a half.
SAM_SIZES = [(128, 65), (67, 128), (256, 122), (30, 64), (7, 5), (61, 47)]
# Taller and wider than the size, square, and smaller.
DONUT_SIZES = [(61, 47), (40, 80), (80, 200), (300, 101), (64, 64), (20, 30)]
CROP_SIZES = [(51, 80), (60, 45), (43, 66), (120, 51), (77, 300)]


def pil_class(name):
    if name in ("DINOv3ViT", "RfDetr"):
        return getattr(transformers, f"{name}ImageProcessor")
    for path in pathlib.Path(transformers.__file__).parent.glob("models/*/image_processing_pil_*.py"):
        if f"class {name}ImageProcessorPil(" in path.read_text():
            return getattr(importlib.import_module(f"transformers.models.{path.parent.name}.{path.stem}"), f"{name}ImageProcessorPil")
    raise ValueError(name)


FIELDS = ["size", "default_to_square", "crop_size", "do_center_crop", "do_normalize", "image_mean", "image_std", "resample", "crop_pct", "include_top", "do_flip_channel_order", "do_resize", "do_rescale", "rescale_factor", "size_divisor", "keep_aspect_ratio"]


def defaults(name):
    values = {field: getattr(pil_class(name), field, None) for field in FIELDS}
    return {field: int(value) if field == "resample" else value for field, value in values.items() if value is not None}


def golden(name, fields, size):
    processor = pil_class(name)(**{key: value for key, value in fields.items() if value is not None})
    if name == "Owlv2":
        # Gray, as transformers 4.57 and OWLv2's authors pad; 5.18.0 pads with black.
        processor.pad = functools.partial(processor.pad, constant_value=0.5)
    values = processor(image(*size), return_tensors="np")["pixel_values"][0]
    assert values.dtype == (np.float32 if name != "ViT" or fields.get("do_rescale", True) or fields.get("do_normalize", True) else np.uint8)
    dims, values = values.shape, np.ascontiguousarray(values).astype("<f4").ravel()
    sample = values[:: -(-values.size // SAMPLE)]
    return {"width": size[0], "height": size[1], "dims": list(dims), "sha256": hashlib.sha256(values.tobytes()).hexdigest(), "sample": base64.b64encode(sample.tobytes()).decode()}


def models():
    for model, (name, fields, model_type) in published.items():
        sizes = DETECTOR_SIZES if model in ("facebook/detr-resnet-50", "hustvl/yolos-tiny") else CROP_SIZES if model == "An odd crop" else DONUT_SIZES if ", small" in model and name in ("Donut", "TextNet") or model == "Donut, wide" else SAM_SIZES if model == "SAM, small" else SIZES[:1] if name.endswith("etr") or name == "Yolos" else SIZES
        yield {"model": model, "processor": fields, **({"model_type": model_type} if model_type else {}), "images": [golden(name, fields, size) for size in sizes]}


if __name__ == "__main__":
    versions = {"transformers": transformers.__version__, "pillow": PIL.__version__}
    published["Intel/zoedepth-nyu-kitti"] = ("ZoeDepth", ZOE, None)
    names = sorted({name for name, _, _ in published.values()})
    published["facebook/dinov3-vits16-pretrain-lvd1689m"] = ("DINOv3ViT", DINOV3, None)
    published["RF-DETR"] = ("RfDetr", RF_DETR, None)
    lines = ",\n".join(json.dumps(model, separators=(",", ":")) for model in models())
    classes = ",\n".join(f"{json.dumps(name)}:{json.dumps(defaults(name), separators=(',', ':'))}" for name in names)
    target = pathlib.Path(__file__).with_name("processors.json")
    target.write_text(f'{{"versions":{json.dumps(versions)},\n"classes":{{\n{classes}\n}},\n"models":[\n{lines}\n]}}\n')
