"""Makes clip-text and clip-vision: the towers of a CLIP model with random weights, each exported alone with its projection, and what transformers computes for them.
Run with transformers, torch, onnx and tokenizers at hand:

    python test/models/hugging-face/projections.py

The picture is a formula, as large as the model takes it. The projection is not the first output of the files.
"""
import json
import pathlib

import numpy as np
import onnx
import torch
import transformers as hf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).resolve().parent
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "photo", "of", "cat", "dog", "two", "##s"]
TEXTS = ["A photo of a cat", "two dogs", "a photo of two cats"]
MEAN, STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
SIDE = 16
SIZE = dict(hidden_size=16, intermediate_size=24, projection_dim=8, num_hidden_layers=2, num_attention_heads=2)


class Outputs(torch.nn.Module):
    def __init__(self, model, names, inputs):
        super().__init__()
        self.model, self.names, self.inputs = model, names, inputs

    def forward(self, *values):
        outputs = self.model(**dict(zip(self.inputs, values)), return_dict=True)
        return tuple(outputs[name] for name in self.names)


def save(folder, model, inputs, outputs, axes):
    path = HERE / folder / "onnx/model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(Outputs(model, outputs, list(inputs)).eval(), tuple(inputs.values()), str(path), input_names=list(inputs), output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)
    onnx.checker.check_model(str(path))
    kept = ["model_type", "projection_dim", "max_position_embeddings", "image_size"]
    values = model.config.to_dict()
    config = {"architectures": [type(model).__name__], **{key: values[key] for key in kept if key in values}}
    (HERE / folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def unit(vectors):
    return (vectors / vectors.norm(dim=-1, keepdim=True)).tolist()


def text():
    torch.manual_seed(1)
    config = hf.CLIPTextConfig(vocab_size=len(WORDS), max_position_embeddings=16, pad_token_id=0, bos_token_id=2, eos_token_id=3, **SIZE)
    model = hf.CLIPTextModelWithProjection(config).eval()
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape) * 0.4
    words = Tokenizer(models.WordPiece({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokens = hf.PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=16, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
    inputs = {name: torch.ones(1, 5, dtype=torch.int64) for name in ["input_ids", "attention_mask"]}
    dynamic = {0: "batch_size", 1: "sequence_length"}
    save("clip-text", model, inputs, ["last_hidden_state", "text_embeds"], {**{name: dynamic for name in inputs}, "last_hidden_state": dynamic, "text_embeds": {0: "batch_size"}})
    tokens.save_pretrained(HERE / "clip-text")
    (HERE / "clip-text/special_tokens_map.json").unlink(missing_ok=True)
    # One by one, without padding.
    with torch.no_grad():
        return [unit(model(**tokens(one, return_tensors="pt", return_token_type_ids=False)).text_embeds)[0] for one in TEXTS]


def vision():
    torch.manual_seed(2)
    config = hf.CLIPVisionConfig(image_size=SIDE, patch_size=8, **SIZE)
    model = hf.CLIPVisionModelWithProjection(config).eval()
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape) * 0.4
    x, y = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    picture = np.stack([x * 16, y * 16, (x * 3 + y * 5) % 256], -1).astype(np.float32)
    pixels = ((picture / 255 - np.float32(MEAN)) / np.float32(STD)).transpose(2, 0, 1)[None]
    save("clip-vision", model, {"pixel_values": torch.zeros(1, 3, SIDE, SIDE)}, ["last_hidden_state", "image_embeds"], {name: {0: "batch_size"} for name in ["pixel_values", "last_hidden_state", "image_embeds"]})
    size = {"height": SIDE, "width": SIDE}
    processor = {"image_processor_type": "CLIPImageProcessor", "do_resize": True, "size": {"shortest_edge": SIDE}, "resample": 3, "do_center_crop": True, "crop_size": size, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": MEAN, "image_std": STD}
    (HERE / "clip-vision/preprocessor_config.json").write_text(json.dumps(processor, indent=1) + "\n")
    with torch.no_grad():
        return unit(model(torch.from_numpy(pixels.astype(np.float32))).image_embeds)[0]


expected = {"texts": TEXTS, "text_embeds": text(), "side": SIDE, "image_embeds": vision()}
(HERE / "projections.json").write_text(json.dumps(expected, indent=1) + "\n")
