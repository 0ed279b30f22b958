"""Models that read images beside texts: their half of texts, as exporters write it in two files, against the whole model's `generate`."""
import pathlib

import torch
import transformers
from transformers import GenerationConfig

from common import IS_NEWEST, answers, kebab, save, small, spread, tokenizer_of
from families import FAMILIES, GROUPED, LATENT, MOE, ROUTED
from text_generator import Step, asked, first_cache, names_of
from traced import patched
from writers import MORE, NEWEST_MORE

WRITERS = {**MORE, **NEWEST_MORE}

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
    "Llama4": (WRITERS["Llama4"][1], {**SEES, "vision_output_dim": 16, "projector_input_dim": 16, "projector_output_dim": 16}, {}),
}
# An encoder of sound, of which the same holds.
HEARS = {"encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 24, "d_model": 16, "num_mel_bins": 8, "output_dim": 16, "max_source_positions": 20}
# Tokens around images and sound, which the config has to name.
MARKS = {f"{kind}_{at}_token_id": 420 for kind in ("vision", "audio") for at in ("start", "end")}
# Of transformers 5.24.
QWEN = {"num_key_value_heads": 1}
SECTIONS = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}}
DEEP = {"depth": 1, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "patch_size": 8, "image_size": 32, "out_hidden_size": 16}
NEWEST_HALVES = {
    "Aria": ({"num_key_value_heads": 1, "moe_num_experts": 2, "moe_topk": 2, "moe_num_shared_experts": 1}, {"model_type": "idefics3_vision", **SEES}, {"projector_patch_to_query_dict": {16: 4}}),
    "CohereCompass": (WRITERS["CohereCompass"][1], {}, {}),
    "DeepseekVLHybrid": ({"model_type": "llama", **GROUPED}, SIGLIP, {"high_res_vision_config": {"model_type": "sam_vision_model", **SEES, "output_channels": 8, "global_attn_indexes": [0], "mlp_dim": 24, "window_size": 2}}),
    "Ernie4_5_VLMoe": ({"num_key_value_heads": 1, "moe_num_experts": 2, "moe_k": 2, "moe_intermediate_size": [8, 8], "moe_num_shared_experts": 1, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}}, {"depth": 1, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "patch_size": 8}, {}),
    "Exaone4_5_": ({"model_type": "exaone4", **GROUPED, "sliding_window": 16, "sliding_window_pattern": 2}, DEEP, {}),
    "Gemma3n": (WRITERS["Gemma3n"][1], {"model_type": "gemma3n_vision", "architecture": "test_efficientnet", "hidden_size": 16, "vocab_size": 8, "vocab_offset": 421}, {"audio_config": {"hidden_size": 16, "vocab_size": 4, "vocab_offset": 429, "conf_num_attention_heads": 2, "conf_num_hidden_layers": 1, "subsampling_conv_channel_size": (4, 4)}, "vision_soft_tokens_per_image": 4, "audio_soft_tokens_per_image": 4}),
    "Gemma4Unified": (WRITERS["Gemma4Unified"][1], None, {"audio_config": None, "video_token_id": 420, "audio_token_id": 420}),
    "Lfm3Vl": ({"model_type": "lfm3", **WRITERS["Lfm3"][1]}, {"model_type": "siglip2_vision_model", **{key: value for key, value in SEES.items() if key != "image_size"}, "num_patches": 16}, {}),
    "MiniCPMV4_6": ({"model_type": "qwen3_5_text", **WRITERS["Qwen3_5"][1]}, SEES, {}),
    "HyperCLOVAXVisionV2": ({"model_type": "hyperclovax", **GROUPED}, {"model_type": "qwen2_5_vl_vision", **DEEP}, {}),
    "Kimi_K25": ({"model_type": "deepseek_v3", **FAMILIES["DeepseekV3"][1]}, {**SEES, "num_frames": 1}, {}),
    "Glm46V": ({**QWEN, **SECTIONS, "model_type": "glm4v_text"}, {"model_type": "glm4v_vision", **DEEP}, {}),
    "Glm4v": ({**QWEN, **SECTIONS}, DEEP, {}),
    "Glm4vMoe": ({**WRITERS["Glm4Moe"][1], **SECTIONS, "rope_parameters": {**SECTIONS["rope_parameters"], "mrope_section": [1, 1, 0], "partial_rotary_factor": 0.5}}, DEEP, {}),
    "GraniteDocling": ({"num_key_value_heads": 1}, {**SEES, "out_hidden_size": 16}, {}),
    "MiniMaxM3Sparse": (WRITERS["MiniMaxM3VL"][1], {}, {}),
    "Mllama": (WRITERS["Mllama"][1], {**SEES, "num_global_layers": 1, "vision_output_dim": 32, "intermediate_layers_indices": [0], "max_num_tiles": 1, "supported_aspect_ratios": [[1, 1]]}, {}),
    "Molmo2": ({"num_key_value_heads": 1, "head_dim": 8, "additional_vocab_size": 4}, {**SEES, "image_size": [32, 32], "head_dim": 8, "num_key_value_heads": 2}, {"adapter_config": {"hidden_size": 16, "intermediate_size": 24, "text_hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8, "vit_layers": [-1]}}),
    "PaddleOCRVL": ({**GROUPED, **SECTIONS}, SEES, {}),
    "QianfanOCR": ({"model_type": "qwen3", **GROUPED}, {**SEES, "image_size": [32, 32], "patch_size": [8, 8]}, {}),
    "Qwen3VLMoe": ({**MOE, **SECTIONS, "rope_parameters": {**SECTIONS["rope_parameters"], "mrope_interleaved": True}}, {**DEEP, "deepstack_visual_indexes": [0], "num_position_embeddings": 16}, {}),
    "VideoLlama3": ({"model_type": "qwen2", "num_key_value_heads": 1}, SEES, {}),
    "Apertus1p5": (WRITERS["Apertus1p5Text"][1], {"codebook_size": 8, "embed_dim": 8, "latent_channels": 8, "base_channels": 32, "channel_multiplier": [1], "num_res_blocks": 1, "attn_resolutions": [], "resolution": 32}, {"image_token_offset": 404, "audio_token_offset": 412, "audio_token_id": 420, "audio_config": {"num_filters": 4, "upsampling_ratios": [2], "hidden_size": 8, "codebook_size": 8, "codebook_dim": 8, "decoder_hidden_size": 32, "decoder_intermediate_size": 8, "decoder_num_layers": 1}}),
    "Dots3Note": (WRITERS["Dots3Note"][1], {**SEES, "mlp_layer_types": ["dense"], "per_layer_config": None, "adapter_in_dim": 16, "adapter_out_dim": 16}, {"audio_config": {**SEES, "num_key_value_heads": 2, "head_dim": 8, "feature_size": 8, "downsample_hidden_size": 8, "adapter_input_size": 16, "adapter_out_dim": 16, "conv_output_size": 8}, "video_token_id": 420, "audio_token_id": 420}),
    "Fuyu": ({"model_type": "persimmon"}, None, {"patch_size": 8}),
    "HYV4VL": ({**WRITERS["HYV4"][1], "rope_parameters": {**SECTIONS["rope_parameters"], "mrope_section": [1, 1, 0]}}, {**SEES, "num_key_value_heads": 2, "out_hidden_size": 16}, {"video_token_id": 420}),
    "MiniCPMOcr": ({"model_type": "qwen3_5_text", **WRITERS["Qwen3_5"][1]}, SEES, {}),
    "MiniCPMV4_7": ({"model_type": "qwen3_5_text", **WRITERS["Qwen3_5"][1]}, SEES, {}),
    "MistralLarge4": ({**ROUTED, **LATENT, "index_head_dim": 8, "index_n_heads": 2}, {"model_type": "pixtral", **SEES, "head_dim": 8}, {}),
    "MuseGlimmer": ({**GROUPED, "sliding_window": 8}, {**SEES, "layer_types": ["full_attention"], "pos_emb_height": 4, "pos_emb_width": 4}, {"out_hidden_size": 16, "projector_hidden_size": 16, "video_token_id": 420}),
    "MuseSpark": ({**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "moe_hidden_size": 16, "sliding_window": 8}, {**SEES, "layer_types": ["full_attention"], "pos_emb_height": 4, "pos_emb_width": 4}, {"out_hidden_size": 16, "projector_hidden_size": 16, "video_token_id": 420, "audio_token_id": 420, "audio_config": {"hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1], "out_hidden_size": 16}}),
    "Phi4Multimodal": ({"num_key_value_heads": 1}, {**SEES, "crop_size": 32, "image_token_id": 420}, {"audio_config": {"hidden_size": 16, "intermediate_size": 24, "num_blocks": 1, "num_attention_heads": 2, "ext_pw_out_channel": 16, "depthwise_separable_out_channel": 16, "nemo_conv_channels": 8, "audio_token_id": 420}}),
    "Step3p7": ({**GROUPED, "n_routed_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "share_expert_dim": 8, "query_pre_attn_scalar": 8, "mlp_layer_types": ["dense", "sparse"], "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 8}, {**SEES, "mlp_ratio": 2.0}, {}),
    "DeepseekOcr2": ({**ROUTED, "mlp_layer_types": ["dense", "sparse"]}, {"sam_config": {**SEES, "output_channels": 8, "global_attn_indexes": [0], "mlp_dim": 24, "window_size": 2, "downsample_channels": [8, 16]}, "encoder_config": {**SEES, "num_key_value_heads": 1}}, {}),
    "GlmAsr": ({"model_type": "llama", **GROUPED}, None, {"audio_config": {**SEES, "num_key_value_heads": 2, "num_mel_bins": 8}, "audio_token_id": 420}),
    "Granite4Vision": ({"num_key_value_heads": 1}, {**CLIP, "hidden_size": 64}, {"qformer_config": {"intermediate_size": 24}, "downsample_rate": "1/2", "deepstack_layer_map": [], "spatial_target_layers": []}),
    "HunYuanVL": ({**GROUPED, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 1, 1]}}, {**SEES, "num_key_value_heads": 2, "out_hidden_size": 16, "text_hidden_size": 16}, {}),
    "Qwen2_5OmniThinker": ({**QWEN, **SECTIONS}, {**DEEP, "window_size": 16, "fullatt_block_indexes": [0]}, {"audio_config": HEARS, **MARKS}),
    "Qwen3OmniMoeThinker": ({**MOE, **SECTIONS, "rope_parameters": {**SECTIONS["rope_parameters"], "mrope_interleaved": True}}, {**DEEP, "deepstack_visual_indexes": [0], "num_position_embeddings": 16}, {"audio_config": {**HEARS, "downsample_hidden_size": 8}, **MARKS}),
}


class HalfStep(Step):
    """Vectors of tokens in their place."""

    def forward(self, vectors, mask, positions, *past):
        more = {}
        if has_layer_inputs(self.model):
            more["per_layer_inputs"], *past = past
        cache = self.cache(past)
        found = self.model(inputs_embeds=vectors, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True, return_dict=True, **more)
        return (found.logits, *self.states(cache))


class Embed(torch.nn.Module):
    """The first file: the vectors of tokens, and what some models add to them in each layer."""

    def __init__(self, model):
        super().__init__()
        self.model, self.embed = model, model.get_input_embeddings()

    def forward(self, ids):
        vectors = self.embed(ids)
        return (vectors, self.model.model.language_model.get_per_layer_inputs(ids)) if has_layer_inputs(self.model) else vectors


def has_layer_inputs(model):
    return "Gemma3n" in type(model).__name__


def export(repository, model, tokenizer):
    if IS_NEWEST and model._can_set_experts_implementation():
        model.set_experts_implementation("batched_mm")
    step, states = first_cache(model, HalfStep)
    # By several axes, those of texts are alike.
    sections = (getattr(model.config.get_text_config(), "rope_parameters", None) or {}).get("mrope_section", [])
    positions = torch.tensor([[3, 4], [3, 4]])
    text = Embed(model)
    vectors = ["inputs_embeds", *(["per_layer_inputs"] if has_layer_inputs(model) else [])]
    with torch.no_grad():
        embedded = text(torch.tensor([[1, 2], [3, 4]]))
    embedded = dict(zip(vectors, embedded if isinstance(embedded, tuple) else [embedded]))
    inputs = {
        "inputs_embeds": embedded["inputs_embeds"], "attention_mask": torch.ones(2, 5, dtype=torch.int64), "position_ids": positions.expand(len(sections), 2, 2) if sections else positions,
        **{name: embedded[name] for name in vectors[1:]}, **{f"past_{name}": state for name, state in zip(step.names, states)}}
    presents, grows = names_of(step)
    axes = {
        "inputs_embeds": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length"}, "position_ids": {1: "batch_size", 2: "sequence_length"} if sections else {0: "batch_size", 1: "sequence_length"},
        **{name: {0: "batch_size", 1: "sequence_length"} for name in vectors[1:]}, "logits": {0: "batch_size", 1: "sequence_length"}, **{f"past_{name}": grows(name, "past") for name in step.names}, **{present: grows(name, "total") for name, present in zip(step.names, presents)}}
    ids = {name: {0: "batch_size", 1: "sequence_length"} for name in ("input_ids", *vectors)}

    def write(_, target):
        with torch.no_grad(), patched(model):
            torch.onnx.export(
                step.eval(), tuple(inputs.values()), pathlib.Path(target) / "decoder_model_merged.onnx", input_names=list(inputs), output_names=["logits", *presents],
                dynamic_axes=axes, opset_version=17, dynamo=False)
            torch.onnx.export(
                text, (torch.tensor([[1, 2], [3, 4]]),), pathlib.Path(target) / "embed_tokens.onnx", input_names=["input_ids"], output_names=vectors,
                dynamic_axes=ids, opset_version=17, dynamo=False)

    save(repository, model, [tokenizer], write)


def row(name, texts, images, fields):
    tokenizer = tokenizer_of("byte_level")
    model_class = getattr(transformers, f"{name}ForConditionalGeneration", None) or getattr(transformers, f"{name}ForCausalLM")
    own = small(dict, "byte_level", **texts)
    config_class = model_class.config_class
    of_texts = {"text_config": own, "vocab_size": own["vocab_size"], "hidden_size": 16} if "text_config" in config_class.sub_configs else own
    config = config_class(**of_texts, vision_config=images and dict(images), image_token_id=len(tokenizer) - 1, image_token_index=len(tokenizer) - 1, **fields)
    for seed in range(60):
        torch.manual_seed(seed)
        model = spread(model_class._from_config(config, attn_implementation="eager"), seed, scale=[0.3, 0.6, 1, 0.15][seed % 4])
        model.generation_config = GenerationConfig(bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
        requests = asked(model, tokenizer)
        if requests:
            break
    else:
        raise SystemExit(f"{name}: no weights write several tokens.")
    # Of some, the half of texts has a class of its own, with a row.
    repository = f"write-{kebab(name).strip('_')}{'-half' if IS_NEWEST or name in MORE else ''}"
    export(repository, model, tokenizer)
    return {"architecture": model_class.__name__, "repository": repository, "requests": requests}


def make():
    for name, one in (NEWEST_HALVES if IS_NEWEST else HALVES).items():
        answers("text_generator", [row(name, *one)])
