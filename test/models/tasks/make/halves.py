"""Models that read images beside texts: their half of texts, as exporters write it in two files, against the whole model's `generate`."""
import pathlib

import torch
import transformers
from transformers import GenerationConfig

from common import answers, kebab, save, small, spread, tokenizer_of
from families import GROUPED
from text_generator import Step, asked, first_cache
from traced import patched

# An encoder of images, as small as it can be: none is seen.
SEES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32, "patch_size": 8}
SIGLIP, CLIP = ({"model_type": kind, **SEES} for kind in ("siglip_vision_model", "clip_vision_model"))
# The class without `ForConditionalGeneration`: the config of its texts, that of its images, other fields.
HALVES = {
    "AyaVision": ({"model_type": "cohere2", "num_key_value_heads": 1, "head_dim": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}, SIGLIP, {}),
    "Cohere2Vision": ({"model_type": "cohere2", "num_key_value_heads": 1, "head_dim": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}, SIGLIP, {"alignment_intermediate_size": 24}),
    "GotOcr2": ({"model_type": "qwen2", "num_key_value_heads": 1}, {**SEES, "output_channels": 8, "global_attn_indexes": [0], "mlp_dim": 24, "window_size": 2}, {}),
    "InternVL": ({"model_type": "qwen2", "num_key_value_heads": 1}, {**SEES, "image_size": [32, 32], "patch_size": [8, 8]}, {}),
    "LlavaNext": ({"model_type": "mistral", **GROUPED}, CLIP, {}),
    "LlavaNextVideo": ({"model_type": "llama", **GROUPED}, CLIP, {}),
    "LlavaOnevision": ({"model_type": "qwen2", "num_key_value_heads": 1}, SIGLIP, {}),
    "Ovis2": ({"model_type": "qwen2", "num_key_value_heads": 1}, {**SEES, "vocab_size": 16}, {"visual_indicator_token_ids": [1, 1, 1, 1, 1]}),
    "VipLlava": ({"model_type": "llama", **GROUPED}, {**CLIP, "num_hidden_layers": 3}, {"vision_feature_layers": [-2, -1]}),
    "Idefics2": ({"model_type": "mistral", **GROUPED}, SEES, {"perceiver_config": {"hidden_size": 16, "resampler_n_latents": 4, "resampler_depth": 1, "resampler_n_heads": 2, "resampler_head_dim": 8, "num_key_value_heads": 1}}),
    "PerceptionLM": ({"model_type": "llama", **GROUPED}, {"model_type": "timm_wrapper", "architecture": "vit_pe_core_tiny_patch16_384", "model_args": {"embed_dim": 16, "depth": 1, "num_heads": 2, "img_size": [32, 32], "global_pool": "", "use_post_transformer_norm": False}}, {}),
    "DeepseekVL": ({"model_type": "llama", **GROUPED}, SIGLIP, {}),
}


class HalfStep(Step):
    """Vectors of tokens in their place."""

    def forward(self, vectors, mask, positions, *past):
        cache = self.cache(past)
        found = self.model(inputs_embeds=vectors, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True, return_dict=True)
        return (found.logits, *self.states(cache))


def export(repository, model, tokenizer):
    step, states = first_cache(model, HalfStep)
    width = model.get_input_embeddings().weight.shape[1]
    inputs = {
        "inputs_embeds": torch.rand(2, 2, width), "attention_mask": torch.ones(2, 5, dtype=torch.int64), "position_ids": torch.tensor([[3, 4], [3, 4]]),
        **{f"past_{name}": state for name, state in zip(step.names, states)}}
    presents = [name.replace("key_values", "present") for name in step.names]
    axes = {
        "inputs_embeds": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length"}, "position_ids": {0: "batch_size", 1: "sequence_length"},
        "logits": {0: "batch_size", 1: "sequence_length"}, **{f"past_{name}": {0: "batch_size", 2: "past_sequence_length"} for name in step.names}, **{name: {0: "batch_size", 2: "total_sequence_length"} for name in presents}}
    ids = {"input_ids": {0: "batch_size", 1: "sequence_length"}, "inputs_embeds": {0: "batch_size", 1: "sequence_length"}}

    def write(_, target):
        with torch.no_grad(), patched(model):
            torch.onnx.export(
                step.eval(), tuple(inputs.values()), pathlib.Path(target) / "decoder_model_merged.onnx", input_names=list(inputs), output_names=["logits", *presents],
                dynamic_axes=axes, opset_version=17, dynamo=False)
            torch.onnx.export(
                model.get_input_embeddings(), (torch.tensor([[1, 2], [3, 4]]),), pathlib.Path(target) / "embed_tokens.onnx", input_names=["input_ids"], output_names=["inputs_embeds"],
                dynamic_axes=ids, opset_version=17, dynamo=False)

    save(repository, model, [tokenizer], write)


def row(name, texts, images, fields):
    tokenizer = tokenizer_of("byte_level")
    model_class = getattr(transformers, f"{name}ForConditionalGeneration")
    own = small(dict, "byte_level", **texts)
    config = model_class.config_class(text_config=own, vision_config=dict(images), vocab_size=own["vocab_size"], hidden_size=16, image_token_id=len(tokenizer) - 1, image_token_index=len(tokenizer) - 1, **fields)
    for seed in range(60):
        torch.manual_seed(seed)
        model = spread(model_class._from_config(config, attn_implementation="eager"), seed, scale=[0.3, 0.6, 1, 0.15][seed % 4])
        model.generation_config = GenerationConfig(bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
        requests = asked(model, tokenizer)
        if requests:
            break
    else:
        raise SystemExit(f"{name}: no weights write several tokens.")
    repository = f"write-{kebab(name)}"
    export(repository, model, tokenizer)
    return {"architecture": model_class.__name__, "repository": repository, "requests": requests}


def make():
    answers("text_generator", [row(name, *one) for name, one in HALVES.items()])
