"""Models of images without a head, of more families: the vector that the family's own classifier reads, or its card names."""
import unittest.mock

import numpy as np
import torch
import transformers
from transformers import CLIPImageProcessor, SiglipImageProcessor, ViTImageProcessor

from common import export_graph, kebab, photo, spread
from image_classifier import CONFIGS, UNFUSED, settle
from image_families import CROPPED, FAMILIES, SIDE, TRANSFORMER

PHOTOS = [(61, 47), (40, 80)]
# The class without `Model` whose vector is the first one, which stands for the image.
FIRST = ["DINOv3ConvNext", "DPT", "Data2VecVision", "DeiT", "Dinov2WithRegisters", "Pvt", "ViTMSN"]
# Those that have a vector for each part of the image, and none that stands for it: their mean.
MEAN = ["DonutSwin", "MaskFormerSwin", "FocalNet", "Hiera", "IJepa", "Levit", "Swin", "Swinv2"]
# Those whose features are maps: the mean of each.
MAPS = ["Bit", "ConvNextV2", "Cvt", "EfficientNet", "GLPN", "MobileNetV2", "MobileViT", "MobileViTV2", "PoolFormer", "PvtV2", "Segformer", "SwiftFormer", "TextNet", "VitDet"]
# Those whose own layer makes the vector.
POOLED = ["Aimv2Vision", "Beit", "CLIPVision", "ChineseCLIPVision", "MLCDVision", "SiglipVision"]
PROJECTED = ["CLIPVisionModelWithProjection", "MetaClip2VisionModelWithProjection"]
CLIP = lambda: CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=SIDE)
# What `image_classifier.py` and `image_families.py` do not have.
OTHERS = {
    "Aimv2Vision": (TRANSFORMER, CLIP),
    "CLIPVision": (TRANSFORMER, CLIP),
    "ChineseCLIPVision": (TRANSFORMER, CLIP),
    "DINOv3ConvNext": ({"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "image_size": 32}, lambda: transformers.DINOv3ViTImageProcessorFast(size=SIDE)),
    "DPT": ({**TRANSFORMER, "backbone_out_indices": [0, 1, 1, 1], "neck_hidden_sizes": [8, 8, 8, 8]}, lambda: transformers.DPTImageProcessor(size=SIDE)),
    "GLPN": ({"depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16], "num_attention_heads": [1, 1, 2, 2], "mlp_ratios": [1, 1, 1, 1]}, lambda: ViTImageProcessor(size=SIDE, do_normalize=False)),
    "MLCDVision": (TRANSFORMER, CLIP),
    "MaskFormerSwin": ({"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "window_size": 4}, lambda: ViTImageProcessor(size=SIDE)),
    "MetaClip2Vision": (TRANSFORMER, CLIP),
    "VitDet": ({**TRANSFORMER, "pretrain_image_size": 32, "mlp_ratio": 2}, lambda: ViTImageProcessor(size=SIDE)),
    "SiglipVision": (TRANSFORMER, lambda: SiglipImageProcessor(size=SIDE)),
}
# Of 320 numbers, each of which is small.
LEAST = {"EfficientNetModel": 0.005}


def unit(vector):
    return vector / np.linalg.norm(vector)


def known():
    """The config, its fields and the processor, by the name of the class without its ending."""
    found = {config.__name__.removesuffix("Config"): (config, fields, processor) for _, config, fields, processor in reversed(CONFIGS)}
    found.update({name: (getattr(transformers, f"{config}Config"), fields, processor) for name, config, fields, processor in FAMILIES})
    found.update({name: (getattr(transformers, f"{name}Config"), fields, processor) for name, (fields, processor) in OTHERS.items()})
    return found


def kinds():
    """Yields the name of a class, what its config is named after, the outputs of its export, and how they become the vector."""
    for name in FIRST:
        yield f"{name}Model", name, ["last_hidden_state"], lambda found: found.last_hidden_state[0, 0]
    for name in MEAN:
        yield f"{name}Model", name, ["last_hidden_state"], lambda found: found.last_hidden_state[0].mean(0)
    for name in MAPS:
        yield f"{name}Model", name, ["last_hidden_state"], lambda found: found.last_hidden_state[0].mean((1, 2))
    for name in POOLED:
        yield f"{name}Model", name, ["last_hidden_state", "pooler_output"], lambda found: found.pooler_output[0]
    for name in PROJECTED:
        yield name, name.removesuffix("ModelWithProjection"), ["image_embeds", "last_hidden_state"], lambda found: found.image_embeds[0]


def bare_rows():
    configs = known()
    for name, config, outputs, vector in kinds():
        yield row(getattr(transformers, name), *configs[config], outputs, vector)


def newest_rows():
    """With transformers 5.24: those that have several vectors for the image, and one that is made of them."""
    several = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_ratio": 2, "image_size": 32, "patch_size": 8}
    yield row(transformers.PixioModel, transformers.PixioConfig, {**several, "n_cls_tokens": 3}, lambda: transformers.BitImageProcessorPil(**CROPPED), ["last_hidden_state", "pooler_output"], lambda found: found.pooler_output[0])
    # It normalizes the colors itself.
    yield row(
        transformers.RadioModel, transformers.RadioConfig, {**several, "mlp_ratio": 2.0, "max_img_size": 64}, lambda: transformers.CLIPImageProcessorPil(**CROPPED, do_normalize=False),
        ["last_hidden_state", "summary", "features"], lambda found: found.summary[0])


def row(model_class, config_class, fields, processor_class, outputs, vector):
    repository = f"features-{kebab(model_class.__name__.replace('Model', ''))}"
    processor = processor_class()
    fields = {key: value for key, value in fields.items() if key != "architectures"}
    given = [processor(photo(*size), return_tensors="pt")["pixel_values"] for size in PHOTOS]
    for scale in (0.3, 0.1, 0.03, 0.5, 0.8, 1.2, 2, 4):
        torch.manual_seed(0)
        model = spread(model_class._from_config(config_class(**fields), attn_implementation="eager"), scale=scale)
        settle(model, given[0].shape[2:])
        with torch.no_grad():
            one, other = (unit(vector(model(pixel_values=pixels)).numpy()) for pixels in given)
        if np.abs(one - other).max() > LEAST.get(model_class.__name__, 0.02):
            break
    else:
        raise SystemExit(f"{model_class.__name__} does not see the photo.")
    with unittest.mock.patch("torch.jit.is_tracing", lambda: False):
        export_graph(repository, model, [processor], given[0], outputs, fixed=True, is_fused=config_class.model_type not in UNFUSED)
    requests = [{"input": {"photo": size}, "answer": answer} for size, answer in zip(PHOTOS, (one, other))]
    return {"architecture": model_class.__name__, "repository": repository, "requests": requests}
