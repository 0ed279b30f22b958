"""Text models of many families: one maker for the classes of each task that have no row of their own in its script."""
import functools
import pathlib

import numpy as np
import torch
import transformers
from tokenizers import processors
from torch.onnx import symbolic_helper
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

from common import IS_NEWEST, kebab, save, small, spread, tokenizer_of, trace
from traced import patched

# torch's exporter traces no vmap, with which transformers 4 makes masks.
if not IS_NEWEST:
    from optimum.exporters.onnx.model_patcher import eager_mask_without_vmap

    ALL_MASK_ATTENTION_FUNCTIONS.register("eager", eager_mask_without_vmap)


def rms_norm(g, value, shape, weight, epsilon):
    """One of the operators that torch's exporter does not know."""
    epsilon = g.op("Constant", value_t=torch.tensor(symbolic_helper._maybe_get_const(epsilon, "f") or torch.finfo(torch.float32).eps))
    squares = g.op("ReduceMean", g.op("Mul", value, value), axes_i=[-1], keepdims_i=1)
    found = g.op("Div", value, g.op("Sqrt", g.op("Add", squares, epsilon)))
    return found if symbolic_helper._is_none(weight) else g.op("Mul", found, weight)


def expm1(g, value):
    return g.op("Sub", g.op("Exp", value), g.op("Constant", value_t=torch.tensor(1.0)))


torch.onnx.register_custom_op_symbolic("aten::rms_norm", rms_norm, 17)
torch.onnx.register_custom_op_symbolic("aten::expm1", expm1, 17)

DEBERTA = {"type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": -1, "position_biased_input": False}
XLM = {"emb_dim": 16, "n_layers": 2, "n_heads": 2, "n_langs": 1, "use_lang_emb": False}
BART = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "decoder_start_token_id": 2}
T5 = {"d_model": 16, "d_ff": 24, "d_kv": 8, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2, "decoder_start_token_id": 1}
GROUPED = {"num_key_value_heads": 1, "head_dim": 8}
MOE = {**GROUPED, "num_experts": 2, "num_experts_per_tok": 2, "num_local_experts": 2, "moe_intermediate_size": 8}
ROUTED = {
    **GROUPED, "n_routed_experts": 2, "num_experts_per_tok": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "moe_intermediate_size": 8, "routed_scaling_factor": 1.0}
LATENT = {"num_key_value_heads": 2, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "head_dim": 4}
# Layers with the delta rule.
LINEAR = {
    "num_key_value_heads": 1, "layer_types": ["linear_attention", "full_attention"], "linear_conv_kernel_dim": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2,
    "linear_num_value_heads": 2}

# The name of the classes without their ending: the tokenizer and the fields of the config.
FAMILIES = {
    "Albert": ("unigram", {"embedding_size": 16}),
    "BigBird": ("unigram", {"attention_type": "original_full"}),
    "BigBirdPegasus": ("unigram", {**BART, "attention_type": "original_full"}),
    "Camembert": ("unigram", {"type_vocab_size": 1}),
    "ConvBert": ("word_piece", {"embedding_size": 16, "conv_kernel_size": 3, "head_ratio": 1}),
    "Data2VecText": ("byte_level", {"type_vocab_size": 1}),
    "Deberta": ("byte_level", DEBERTA),
    "DebertaV2": ("unigram", {**DEBERTA, "position_buckets": 32, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
    "Electra": ("word_piece", {"embedding_size": 16}),
    "Ernie": ("word_piece", {"task_type_vocab_size": 3, "use_task_id": True}),
    "Esm": ("word_piece", {"position_embedding_type": "rotary", "mask_token_id": 4, "token_dropout": True}),
    "Flaubert": ("byte_level", XLM),
    "FNet": ("unigram", {"type_vocab_size": 2}),
    "Funnel": ("word_piece", {"block_sizes": [1, 1], "num_decoder_layers": 1, "d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 24}),
    "IBert": ("byte_level", {"type_vocab_size": 1, "quant_mode": False}),
    "LayoutLM": ("word_piece", {"max_2d_position_embeddings": 32}),
    "LayoutLMv3": ("byte_level", {"type_vocab_size": 1, "max_2d_position_embeddings": 32, "coordinate_size": 3, "shape_size": 2, "visual_embed": False}),
    "Lilt": ("byte_level", {"hidden_size": 24, "type_vocab_size": 1, "max_2d_position_embeddings": 32, "channel_shrink_ratio": 2}),
    "Luke": ("byte_level", {"entity_vocab_size": 8, "entity_emb_size": 8, "type_vocab_size": 1, "use_entity_aware_attention": False}),
    "MPNet": ("unigram", {}),
    "MarkupLM": ("byte_level", {"max_depth": 4, "xpath_unit_hidden_size": 4, "max_xpath_tag_unit_embeddings": 16, "max_xpath_subs_unit_embeddings": 16, "tag_pad_id": 15, "subs_pad_id": 15}),
    "MegatronBert": ("word_piece", {}),
    "MobileBert": ("word_piece", {"embedding_size": 8, "intra_bottleneck_size": 16, "true_hidden_size": 16, "num_feedforward_networks": 1}),
    "Nystromformer": ("word_piece", {"num_landmarks": 8, "segment_means_seq_len": 8, "conv_kernel_size": 3}),
    "RemBert": ("unigram", {"input_embedding_size": 8, "output_embedding_size": 16}),
    "RoCBert": ("word_piece", {"pronunciation_embed_dim": 8, "pronunciation_vocab_size": 8, "shape_embed_dim": 8, "shape_vocab_size": 8}),
    "RoFormer": ("word_piece", {"embedding_size": 16}),
    "RobertaPreLayerNorm": ("byte_level", {"type_vocab_size": 1}),
    "Splinter": ("word_piece", {"question_token_id": 4}),
    "SqueezeBert": ("word_piece", {"embedding_size": 16, **{f"{name}_groups": 2 for name in ("q", "k", "v", "post_attention", "intermediate", "output")}}),
    "XLM": ("byte_level", XLM),
    "XLMRobertaXL": ("unigram", {"type_vocab_size": 1}),
    "XLNet": ("unigram", {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24}),
    "Xmod": ("unigram", {"type_vocab_size": 1, "languages": ["en_XX"], "default_language": "en_XX"}),
    "Yoso": ("unigram", {"use_expectation": True}),
    "Apertus": ("byte_level", {"num_key_value_heads": 1}),
    "Arcee": ("byte_level", GROUPED),
    "BioGpt": ("byte_level", {}),
    "Bloom": ("byte_level", {"n_head": 2, "n_layer": 2}),
    "CTRL": ("byte_level", {"n_embd": 16, "dff": 24, "n_layer": 2, "n_head": 2, "n_positions": 160}),
    "DeepseekV3": ("byte_level", {"num_key_value_heads": 2, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "first_k_dense_replace": 2}),
    "DiffLlama": ("byte_level", GROUPED),
    "Doge": ("byte_level", {"num_key_value_heads": 2, "keep_window_size": 256}),
    "Exaone4": ("byte_level", {**GROUPED, "sliding_window": 16, "sliding_window_pattern": 2}),
    "Falcon": ("byte_level", {}),
    "GPT2": ("byte_level", {"n_inner": 24}),
    "GPTBigCode": ("byte_level", {"n_inner": 24}),
    "GPTJ": ("byte_level", {"rotary_dim": 4, "n_inner": 24}),
    "GPTNeo": ("byte_level", {"num_layers": 2, "num_heads": 2, "attention_types": [[["global", "local"], 1]], "window_size": 8}),
    "GPTNeoX": ("byte_level", {}),
    "Gemma": ("byte_level", GROUPED),
    "Gemma2": ("byte_level", {**GROUPED, "sliding_window": 8, "query_pre_attn_scalar": 8}),
    "Gemma3Text": ("byte_level", {**GROUPED, "sliding_window": 8, "query_pre_attn_scalar": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "Glm": ("byte_level", GROUPED),
    "Glm4": ("byte_level", GROUPED),
    "GptOss": ("byte_level", {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 8}),
    "Helium": ("byte_level", GROUPED),
    "HunYuanDenseV1": ("byte_level", GROUPED),
    "Llama": ("byte_level", GROUPED),
    "Ministral": ("byte_level", {**GROUPED, "sliding_window": 8}),
    "Mistral": ("byte_level", {**GROUPED, "sliding_window": 8}),
    "Mixtral": ("byte_level", {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 2}),
    "ModernBertDecoder": ("byte_level", {"local_attention": 8}),
    "Mpt": ("byte_level", {"d_model": 16, "n_heads": 2, "n_layers": 2, "expansion_ratio": 2, "max_seq_len": 160}),
    "Nemotron": ("byte_level", GROUPED),
    "OPT": ("byte_level", {"ffn_dim": 24, "word_embed_proj_dim": 16}),
    "OpenAIGPT": ("byte_level", {"n_positions": 160}),
    "Persimmon": ("byte_level", {}),
    "Phi": ("byte_level", {}),
    "Phimoe": ("byte_level", {"num_key_value_heads": 1, "num_local_experts": 2, "num_experts_per_tok": 2}),
    "Phi3": ("byte_level", {"num_key_value_heads": 1}),
    "Qwen2": ("byte_level", {"num_key_value_heads": 1}),
    "Qwen2Moe": ("byte_level", {"num_key_value_heads": 1, "num_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8}),
    "Qwen3": ("byte_level", GROUPED),
    "Qwen3Moe": ("byte_level", {**GROUPED, "num_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 8}),
    "SeedOss": ("byte_level", GROUPED),
    "SmolLM3": ("byte_level", {"num_key_value_heads": 1}),
    "StableLm": ("byte_level", {"num_key_value_heads": 1}),
    "Starcoder2": ("byte_level", {"num_key_value_heads": 1}),
    "Bart": ("byte_level", BART),
    "MBart": ("unigram", BART),
    "Mvp": ("byte_level", BART),
    "PLBart": ("unigram", BART),
    "T5": ("unigram", T5),
    "MT5": ("unigram", T5),
    "UMT5": ("unigram", T5),
}
# With transformers 5.24: `newest.py`.
NEWEST = {
    "AXK1": ("byte_level", {**ROUTED, **LATENT}),
    "AXK2": ("byte_level", {**ROUTED, **LATENT, "index_head_dim": 8, "index_n_heads": 2}),
    "Beam": ("byte_level", {**MOE, "n_group": 1, "topk_group": 1, "mlp_layer_types": ["dense", "sparse"], "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "CohereCompassText": ("byte_level", {**GROUPED, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"], "rope_parameters": {kind: {"rope_type": "default", "rope_theta": 10000.0} for kind in ("sliding_attention", "full_attention")}}),
    "DeepseekV2": ("byte_level", {**ROUTED, **LATENT, "topk_method": "greedy"}),
    "Esmc": ("word_piece", {"mask_token_id": 4, "num_key_value_heads": 2, "head_dim": 8}),
    "EuroBert": ("byte_level", {"num_key_value_heads": 1, "head_dim": 8, "mask_token_id": 3}),
    "Gte": ("unigram", {"type_vocab_size": 1}),
    "HunYuanMoEV1": ("byte_level", {**GROUPED, "num_experts": 2, "moe_topk": 2}),
    "JinaEmbeddingsV3": ("unigram", {"type_vocab_size": 1}),
    "MiniMax": ("byte_level", {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 2, "layer_types": ["linear_attention", "full_attention"]}),
    "MiniCPM3": ("byte_level", {"num_key_value_heads": 2, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "head_dim": 4, "dim_model_base": 8}),
    "Ministral3": ("byte_level", GROUPED),
    "Mistral4": ("byte_level", {"num_key_value_heads": 2, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "first_k_dense_replace": 2}),
    "NomicBert": ("word_piece", {"head_dim": 8}),
    "Olmo": ("byte_level", {"num_key_value_heads": 1}),
    "Olmo2": ("byte_level", {"num_key_value_heads": 1}),
    "Olmo3": ("byte_level", {"num_key_value_heads": 1, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "OpenAIPrivacyFilter": ("byte_level", {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 2, "sliding_window": 8}),
    "Qwen3Next": ("byte_level", {**LINEAR, **MOE, "linear_num_value_heads": 4, "shared_expert_intermediate_size": 8}),
    "Qwen3_5Text": ("byte_level", {**LINEAR, "head_dim": 8, "linear_num_value_heads": 4}),
    "Ultrabert": ("byte_level", {**GROUPED, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"], "prediction_head_size": 16}),
    "Zamba2": ("byte_level", {"num_key_value_heads": 2, "mamba_d_state": 8, "mamba_ngroups": 1, "n_mamba_heads": 4, "mamba_headdim": 8, "mamba_expand": 2, "chunk_size": 8, "layers_block_type": ["mamba", "hybrid"], "num_mem_blocks": 1, "adapter_rank": 4}),
}
# Models that read images, too, or have a decoder: what their configs have of the fields of a model of texts.
SEES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32, "patch_size": 8}
DEEP = {"depth": 1, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "patch_size": 8, "out_hidden_size": 16, "num_position_embeddings": 16}
WRAPPED = {
    "Gemma3": lambda own: {"text_config": own, "vision_config": SEES, "mm_tokens_per_image": 4},
    "ModernVBert": lambda own: {"text_config": own, "vision_config": SEES, "pixel_shuffle_factor": 2, "image_token_id": 3},
    "Qwen3_5": lambda own: {"text_config": own, "vision_config": DEEP},
    "T5Gemma": lambda own: {"encoder": own, "decoder": own, "vocab_size": own["vocab_size"], "tie_word_embeddings": own.get("tie_word_embeddings", True)},
    "T5GemmaEncoder": lambda own: {"encoder": own, "decoder": own, "is_encoder_decoder": False},
    "T5Gemma2": lambda own: {"encoder": {"text_config": own, "vision_config": SEES, "mm_tokens_per_image": 4}, "decoder": own, "image_token_index": own["vocab_size"] - 1, "eoi_token_index": own["vocab_size"] - 2},
    "UltraVBert": lambda own: {"text_config": own, "vision_config": SEES, "pixel_shuffle_factor": 2, "image_token_id": 3},
}
NEWEST.update({
    "Gemma3": FAMILIES["Gemma3Text"],
    "ModernVBert": ("byte_level", {"local_attention": 8}),
    "NeoMME": ("byte_level", {"num_key_value_heads": 1, "head_dim": 16, "embedding_rank": 8, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 8, "embedding_dim": 8, "per_layer_config": None}),
    "Qwen3_5": NEWEST["Qwen3_5Text"],
    "T5Gemma": ("unigram", {**GROUPED, "sliding_window": 8, "query_pre_attn_scalar": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "T5Gemma2": ("unigram", {**GROUPED, "sliding_window": 8, "query_pre_attn_scalar": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "UltraVBert": NEWEST["Ultrabert"],
})
ENDINGS = {
    "classify": ["ForSequenceClassification"], "tokens": ["ForTokenClassification"], "answer": ["ForQuestionAnsweringSimple", "ForQuestionAnswering"],
    "fill-mask": ["ForMaskedLM", "WithLMHeadModel"], "vectors": ["Model"],
}
# A name with `embeddings` says that a model makes vectors.
RENAMED = {"fill-mask-jina-embeddings-v3": "fill-mask-jina-v3"}
# What `small` gives, and these configs refuse.
REFUSED = {"Funnel": ["num_hidden_layers", "num_attention_heads", "hidden_size", "intermediate_size"], "XLNet": ["max_position_embeddings"], "ProphetNet": ["num_hidden_layers"]}
# Models with token_type_ids.
WITH_TYPES = {"Albert", "BigBird", "ConvBert", "Electra", "Ernie", "FNet", "Funnel", "LayoutLM", "MegatronBert", "MobileBert", "NomicBert", "Nystromformer", "RemBert", "RoFormer", "Splinter", "SqueezeBert", "Yoso"}
# Of a text, and of one that is made of other words: with less, a row would not notice tokens that are wrong.
MIN_DIFFERENCE = 5e-3
# With the usual scale these see no difference between texts.
SCALES = {"GPTNeoX": 0.6, "JinaEmbeddingsV3": 1.0, "Ministral3": 0.6, "Zamba2": 0.2}
# Of a kind: families that answer about a page with boxes.
WRONG = {
    "answer": ["LayoutLM", "LayoutLMv3"],
    # With images, or a decoder beside the encoder; Gpt-OSS, whose experts the exporter fixes for one length.
    "vectors": ["Gemma3", "ModernVBert", "NeoMME", "Qwen3_5", "UltraVBert", "T5Gemma", "T5Gemma2", "GptOss", "Bart", "BigBirdPegasus", "MBart", "Mvp", "PLBart", "T5", "MT5", "UMT5"],
}



def family_models(kind, outputs, names, fields={}, more={}):
    """Yields a repository, a model and its tokenizer for each family that has a class of a kind. @param names of the classes that have a row @param fields of each config @param more families"""
    for name, (tokens, own) in {**(NEWEST if IS_NEWEST else FAMILIES), **more}.items():
        model_class = next((getattr(transformers, name + ending) for ending in ENDINGS[kind] if hasattr(transformers, name + ending)), None)
        if model_class is None or model_class.__name__ in names or name in WRONG.get(kind, []):
            continue
        repository = f"{kind}-{kebab(name)}"
        repository = RENAMED.get(repository, repository)
        tokenizer = tokenizer_for(name, tokens)
        config_class = functools.partial(without, wrapped(name, getattr(transformers, name + "Config", model_class.config_class)), REFUSED.get(name, []))
        model = spread(model_class._from_config(small(config_class, tokens, **fields, **own), attn_implementation="eager"), scale=SCALES.get(name, 0.3))
        export_text(repository, model, tokenizer, outputs)
        yield repository, model, tokenizer


def wrapped(name, config_class):
    """A function that makes a config of the fields of a model of texts."""
    def make(id2label=None, label2id=None, **own):
        labels = {"id2label": id2label, "label2id": label2id} if id2label else {}
        return config_class(**WRAPPED[name](own), **labels)

    return make if name in WRAPPED else config_class


def tokenizer_for(name, tokens):
    tokenizer = tokenizer_of(tokens, has_types=name in WITH_TYPES)
    if name == "Funnel":
        # What marks the class has a type of its own.
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS]:2 $A [SEP]", pair="[CLS]:2 $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", tokenizer.cls_token_id), ("[SEP]", tokenizer.sep_token_id)])
    if name == "FNet":
        tokenizer.model_input_names = ["input_ids", "token_type_ids"]
    return tokenizer


def without(config_class, refused, **fields):
    return config_class(**{key: value for key, value in fields.items() if key not in refused})


def export_text(repository, model, tokenizer, outputs, has_positions=False):
    """Optimum knows few of these. @param has_positions whether `position_ids` are an input"""
    encoded = tokenizer(["The cat sat on the mat and the dog lay by the door.", "What is the time in London, please?"], padding="max_length", max_length=24, truncation=True, return_tensors="pt")
    inputs = {name: encoded[name] for name in tokenizer.model_input_names}
    if has_positions:
        inputs["position_ids"] = torch.arange(24).expand(2, 24) + tokenizer.pad_token_id + 1
    axes = {name: {0: "batch_size", 1: "sequence_length"} for name in inputs}
    is_row = lambda name: name in ("pooler_output", "text_embeds") or (name == "logits" and "Sequence" in type(model).__name__)
    axes.update({name: {0: "batch_size"} if is_row(name) else {0: "batch_size", 1: "sequence_length"} for name in outputs})
    model.config.use_cache = model.config.get_text_config().use_cache = False
    if IS_NEWEST and model._can_set_experts_implementation():
        model.set_experts_implementation("batched_mm")
    with patched(model):
        save(repository, model, [tokenizer], lambda _, target: trace(model, inputs, outputs, axes, pathlib.Path(target) / "model.onnx"))


def check_sees(model, one, other):
    """Ends the program if the answers to two texts are alike. @param one @param other lists of scores"""
    if np.abs(np.asarray(one) - np.asarray(other)).max() < MIN_DIFFERENCE:
        raise SystemExit(f"{type(model).__name__} does not see the text.")
