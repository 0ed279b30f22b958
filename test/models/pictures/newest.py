"""Makes models that read pictures and that transformers 4 does not have, or has otherwise: Qwen3.5, GLM-OCR, LightOnOCR and Mistral 3, of random weights. Adds
their rows to `expected.json`.

    python test/models/pictures/newest.py [NAME ...]

Needs transformers 5.18, and what make.py needs, but optimum.
"""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest.mock

import onnx
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

import make
from fixed_size import PARTS, Text
from pages import GlmVision, PixtralVision, glm_ocr, lighton_ocr, mistral3
from qwen35 import HybridText, Qwen35Vision, qwen35, qwen35_moe

CHAT = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}" + PARTS + "{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
QWEN = {
    "special": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], "pictures": ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"], "eos": "<|im_end|>",
    "extra": {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>", "vision_bos_token": "<|vision_start|>", "vision_eos_token": "<|vision_end|>"},
    "template": CHAT.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")}
# The tokens of each model, its template in our own words, what builds it, and the halves that are exported.
FAMILIES = {
    "qwen3.5": {**QWEN, "build": qwen35, "vision": Qwen35Vision, "text": HybridText},
    "qwen3.5-moe": {**QWEN, "build": qwen35_moe, "vision": Qwen35Vision, "text": HybridText},
    "glm-ocr": {
        "special": ["<|endoftext|>", "[gMASK]", "<sop>", "<|user|>", "<|assistant|>"], "pictures": ["<|begin_of_image|>", "<|end_of_image|>", "<|image|>", "<|begin_of_video|>", "<|end_of_video|>", "<|video|>"], "eos": "<|endoftext|>",
        "extra": {"image_token": "<|image|>", "video_token": "<|video|>"},
        "template": "[gMASK]<sop>{% for message in messages %}{{ '<|' + message['role'] + '|>\\n' }}" + PARTS.replace("IMAGE", "<|begin_of_image|><|image|><|end_of_image|>") + "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}",
        "build": glm_ocr, "vision": GlmVision, "text": Text},
    "lighton-ocr": {
        **QWEN, "pictures": ["<|vision_pad|>", "<|vision_end|>", "<|image_pad|>"],
        "extra": {"image_token": "<|image_pad|>", "image_break_token": "<|vision_pad|>", "image_end_token": "<|vision_end|>"}, "template": CHAT.replace("IMAGE", "<|image_pad|>"),
        "build": lighton_ocr, "vision": PixtralVision, "text": Text},
    "mistral3": {
        "special": ["<unk>", "<s>", "</s>", "<pad>", "[INST]", "[/INST]"], "pictures": ["[IMG]", "[IMG_BREAK]", "[IMG_END]"], "bos": "<s>", "eos": "</s>", "pad": "<pad>", "extra": {},
        "template": "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST]' }}" + PARTS.replace("IMAGE", "[IMG]") + "{{ '[/INST]' }}{% else %}" + PARTS + "{{ eos_token }}{% endif %}{% endfor %}",
        "build": mistral3, "vision": PixtralVision, "text": Text},
}


def tokenizer_of(name, folder):
    if (folder / "tokenizer.json").exists():
        return PreTrainedTokenizerFast.from_pretrained(folder)
    family = FAMILIES[name]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(make.TEXTS, trainers.BpeTrainer(vocab_size=330, special_tokens=family["special"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(one, special=True, normalized=False) for one in family["pictures"]])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=family.get("bos"), eos_token=family["eos"], pad_token=family.get("pad", "<|endoftext|>"), chat_template=family["template"], extra_special_tokens=family["extra"])


def doubled(values, times, dim):
    """Along the last axis, as the exporter of torch does not do it for one number."""
    assert dim == -1
    return torch.stack([values] * times, -1).flatten(-2)


def export(name, model, folder):
    """Writes encoder and decoder. Returns the table of the tokens' vectors."""
    family = FAMILIES[name]
    config = model.config.text_config
    text = family["text"](model).eval()
    vision = family["vision"](model).eval()
    has_grid = family["vision"] is not PixtralVision
    with tempfile.TemporaryDirectory() as target, torch.no_grad(), unittest.mock.patch.object(torch.Tensor, "repeat_interleave", doubled):
        path = pathlib.Path(target) / "model.onnx"
        patch = model.config.vision_config.patch_size
        if has_grid:
            example, names = (torch.rand(24, 3 * 2 * patch * patch), torch.tensor([[1, 4, 6]])), ["pixel_values", "image_grid_thw"]
            axes = {"pixel_values": {0: "num_patches"}, "image_grid_thw": {0: "num_images"}}
        else:
            example, names = (torch.rand(1, 3, 4 * patch, 6 * patch),), ["pixel_values"]
            axes = {"pixel_values": {0: "batch_size", 2: "height", 3: "width"}}
        torch.onnx.export(vision, example, path, input_names=names, output_names=["image_features"], dynamo=False, opset_version=17, dynamic_axes={**axes, "image_features": {0: "num_tokens"}})
        onnx.save(make.clean(onnx.load(path)), folder / "vision_encoder.onnx")
        states = text.states(config) if hasattr(text, "states") else attention_states(config)
        past = [torch.rand(2, *[3 if size is None else size for size in sizes]) for _, sizes in states]
        axes = {"inputs_embeds": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length"}, "logits": {0: "batch_size", 1: "sequence_length"}}
        axes["position_ids"] = {1: "batch_size", 2: "sequence_length"} if has_grid else {0: "batch_size", 1: "sequence_length"}
        for one, sizes in states:
            grows = 2 if None in sizes else 0
            axes[one] = {0: "batch_size", **({grows: "past_sequence_length"} if grows else {})}
            axes[presented(one)] = {0: "batch_size", **({grows: "total_sequence_length"} if grows else {})}
        positions = torch.arange(3, 7).expand(*([3] if has_grid else []), 2, 4).contiguous()
        torch.onnx.export(
            text, (torch.rand(2, 4, config.hidden_size), torch.ones(2, 7, dtype=torch.int64), positions, *past), path,
            input_names=["inputs_embeds", "attention_mask", "position_ids", *[one for one, _ in states]], output_names=["logits", *[presented(one) for one, _ in states]], dynamo=False, opset_version=17, dynamic_axes=axes)
        onnx.save(make.clean(onnx.load(path)), folder / "decoder_model_merged.onnx")
    return model.get_input_embeddings().weight.detach().numpy()


def attention_states(config):
    """Names and sizes of the cache; None is the number of tokens."""
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return [(f"past_key_values.{layer}.{part}", [config.num_key_value_heads, None, size]) for layer in range(config.num_hidden_layers) for part in ("key", "value")]


def presented(name):
    return name.replace("past_key_values", "present").replace("past_", "present_")


def build(name):
    folder = make.HERE / name
    tokenizer = tokenizer_of(name, folder)
    # What `spread` leaves as it is.
    torch.manual_seed(0)
    model, processor = FAMILIES[name]["build"](tokenizer)
    for seed in range(200):
        make.spread(model, seed)
        answers = [make.answer(model, processor, *one) for one in make.asked()]
        if all(make.is_decided(found) and len(set(found.sequences[0, inputs["input_ids"].shape[1]:].tolist())) >= 8 for inputs, found in answers):
            break
    else:
        raise SystemExit("no seed gives answers that are decided")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "onnx").mkdir(parents=True)
    processor.save_pretrained(folder)
    # Transformers 5 writes one file; the exports have two, as transformers.js reads them, and no word of Pillow.
    written = json.loads((folder / "processor_config.json").read_text())
    images = written.pop("image_processor")
    written.pop("video_processor", None)
    images["image_processor_type"] = images["image_processor_type"].replace("Pil", "")
    for file, fields in (("preprocessor_config.json", images), ("processor_config.json", written)):
        (folder / file).write_text(json.dumps(fields, indent=2) + "\n")
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    text = model.config.text_config
    transformers.GenerationConfig(max_new_tokens=make.NEW_TOKENS, eos_token_id=text.eos_token_id, pad_token_id=text.pad_token_id).save_pretrained(folder)
    make.export_table(export(name, model, folder / "onnx"), folder / "onnx")
    rows = make.rows_of(processor, answers)
    make.check(folder / "onnx", model, rows, answers)
    return rows


if __name__ == "__main__":
    for name in sys.argv[1:] or FAMILIES:
        make.write({name: build(name)})
