"""Makes a FastVLM of random weights, as the Hub's export of FastVLM-0.5B has it: its class is LlavaQwen2ForCausalLM, its
config.json that of the language model. Adds its rows to `expected.json`. The folder fastvlm-transformers has the config.json
that transformers writes of it, whose class is FastVlmForConditionalGeneration: all else is alike.

    python test/models/pictures/fastvlm.py

Needs transformers 5 and timm 1.0, and what make.py needs, but optimum.
"""
import json
import shutil

import torch
import transformers

import fixed_size
import make

NAME = "fastvlm"
FOLDER = make.HERE / NAME
# FastViTHD makes one vector of 64 x 64 pixels.
SIDE, PATCH = 128, 64
TOWER = {"inference_mode": True, "layers": (1, 1, 1, 1, 1), "embed_dims": (8, 8, 8, 32, 32), "mlp_ratios": (2, 2, 2, 2, 2)}


def build(tokenizer):
    ids = {key: getattr(tokenizer, key) for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    text = {
        "model_type": "qwen2", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512,
        "vocab_size": len(tokenizer), "tie_word_embeddings": False, **ids}
    vision = {"model_type": "timm_wrapper", "architecture": "fastvit_mci3", "do_pooling": True, "global_pool": "avg", "hidden_size": 64, "initializer_range": 0.02, "model_args": TOWER}
    config = transformers.FastVlmConfig(text_config=text, vision_config=vision, image_token_id=tokenizer.convert_tokens_to_ids("<image>"), tie_word_embeddings=False)
    config._attn_implementation = "eager"
    # With Pillow; the values of pixels are used as they are, from 0 to 1.
    images = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}, image_mean=[0.0] * 3, image_std=[1.0] * 3)
    processor = transformers.LlavaProcessor(images, tokenizer, patch_size=PATCH, vision_feature_select_strategy="full", chat_template=fixed_size.TEMPLATES[NAME], num_additional_image_tokens=0)
    return transformers.FastVlmForConditionalGeneration(config).eval(), processor


class Vision(torch.nn.Module):
    """Pictures of one size -> the vectors of their tokens."""

    def __init__(self, model):
        super().__init__()
        self.model = model.model

    def forward(self, pixel_values):
        return self.model.get_image_features(pixel_values).pooler_output


if __name__ == "__main__":
    tokenizer = fixed_size.tokenizer_of(NAME, FOLDER, make.TEXTS)
    model, processor = build(tokenizer)
    for seed in range(200):
        make.spread(model, seed)
        answers = [make.answer(model, processor, *one) for one in make.asked()]
        if all(make.is_decided(found) and len(set(found.sequences[0, inputs["input_ids"].shape[1]:].tolist())) >= 8 for inputs, found in answers):
            break
    else:
        raise SystemExit("no seed gives answers that are decided")
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "onnx").mkdir(parents=True)
    processor.save_pretrained(FOLDER)
    # Transformers 5 writes one file, the export has two.
    written = json.loads((FOLDER / "processor_config.json").read_text())
    (FOLDER / "preprocessor_config.json").write_text(json.dumps({**written.pop("image_processor"), "image_processor_type": "CLIPImageProcessor"}, indent=2) + "\n")
    (FOLDER / "processor_config.json").write_text(json.dumps(written, indent=2) + "\n")
    own = make.HERE / f"{NAME}-transformers"
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(own)
    text = model.config.text_config
    written = {**text.to_dict(), "architectures": ["LlavaQwen2ForCausalLM"], "model_type": "llava_qwen2", "image_token_index": model.config.image_token_id}
    (FOLDER / "config.json").write_text(json.dumps(written, indent=2) + "\n")
    transformers.GenerationConfig(max_new_tokens=make.NEW_TOKENS, eos_token_id=text.eos_token_id, bos_token_id=text.bos_token_id, pad_token_id=text.pad_token_id).save_pretrained(FOLDER)
    table = fixed_size.export(model, FOLDER / "onnx", make.clean, Vision(model), SIDE)
    make.export_table(table, FOLDER / "onnx")
    rows = make.rows_of(processor, answers)
    make.check(FOLDER / "onnx", model, rows, answers)
    make.write({NAME: rows})
