"""Families of language models that write and have no class of another task in `families.py`: their tokenizer and the fields of their config. A second word is part of the repository's name only."""
from families import BART, GROUPED, NEWEST

MOE = {**GROUPED, "num_experts": 2, "num_experts_per_tok": 2, "num_local_experts": 2, "moe_intermediate_size": 8}
ROUTED = {
    **GROUPED, "n_routed_experts": 2, "num_experts_per_tok": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "moe_intermediate_size": 8, "routed_scaling_factor": 1.0}
LATENT = {"num_key_value_heads": 2, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "head_dim": 4}
# Encoders that write: each token sees those before it.
DECODER = {"is_decoder": True, "type_vocab_size": 1}
# The second halves of encoder–decoder models, alone.
HALF = {**BART, "decoder_layers": 2, "is_decoder": True, "is_encoder_decoder": False}

MORE = {
    "BitNet": ("byte_level", {"num_key_value_heads": 1}),
    "Dots1": ("byte_level", ROUTED),
    "Emu3": ("byte_level", {"num_key_value_heads": 1}),
    "Ernie4_5_Moe": ("byte_level", {"num_key_value_heads": 1, "moe_num_experts": 2, "moe_k": 2, "moe_layer_start_index": 1, "moe_num_shared_experts": 1, "moe_intermediate_size": 8}),
    "FlexOlmo": ("byte_level", MOE),
    "GPTNeoXJapanese": ("byte_level", {"intermediate_multiple_size": 2}),
    "Glm4Moe": ("byte_level", ROUTED),
    "HunYuanMoEV1": ("byte_level", {**GROUPED, "num_experts": 2, "moe_topk": 2}),
    "Olmoe": ("byte_level", {"num_key_value_heads": 1, "num_experts": 2, "num_experts_per_tok": 2}),
    "XGLM": ("byte_level", {"d_model": 16, "num_layers": 2, "attention_heads": 2, "ffn_dim": 24}),
    "Dbrx": ("byte_level", {"d_model": 16, "n_heads": 2, "n_layers": 2, "max_seq_len": 160, "attn_config": {"kv_n_heads": 1, "clip_qkv": 8}, "ffn_config": {"ffn_hidden_size": 24, "moe_num_experts": 2, "moe_top_k": 2}}),
    "BigBird": ("byte_level", {**DECODER, "attention_type": "original_full"}),
    **{name: ("byte_level", DECODER) for name in ("Bert", "BertGeneration", "Camembert", "Data2VecText", "MegatronBert", "Roberta", "RobertaPreLayerNorm", "XLMRoberta", "XLMRobertaXL")},
    "Electra": ("byte_level", {**DECODER, "embedding_size": 16}),
    "Ernie": ("byte_level", {**DECODER, "task_type_vocab_size": 3, "use_task_id": True}),
    "RemBert": ("byte_level", {**DECODER, "input_embedding_size": 8, "output_embedding_size": 16}),
    "RoCBert": ("byte_level", {**DECODER, "pronunciation_embed_dim": 8, "pronunciation_vocab_size": 8, "shape_embed_dim": 8, "shape_vocab_size": 8}),
    "RoFormer": ("byte_level", {**DECODER, "embedding_size": 16}),
    **{name: ("byte_level", HALF) for name in ("Bart", "Blenderbot", "BlenderbotSmall", "MBart", "Marian", "Mvp", "PLBart", "Pegasus")},
    "BigBirdPegasus": ("byte_level", {**HALF, "attention_type": "original_full"}),
    "ProphetNet": ("byte_level", {"hidden_size": 16, "num_encoder_layers": 2, "num_decoder_layers": 2, "num_encoder_attention_heads": 2, "num_decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "is_decoder": True, "is_encoder_decoder": False}),
    "Whisper alone": ("byte_level", {**HALF, "max_target_positions": 160, "suppress_tokens": None, "begin_suppress_tokens": None}),
    "GPTBigCode": ("byte_level", {"n_inner": 24}),
    "OpenAIGPT": ("byte_level", {"n_positions": 160}),
    "DeepseekV2": ("byte_level", {**ROUTED, **LATENT, "topk_method": "greedy"}),
    "Llama4": ("byte_level", {**GROUPED, "intermediate_size_mlp": 24, "num_local_experts": 2, "num_experts_per_tok": 1, "attention_chunk_size": 8, "no_rope_layers": [1, 0], "moe_layers": [1]}),
    "Mllama": ("byte_level", {"num_key_value_heads": 1, "cross_attention_layers": [], "rope_scaling": {"rope_type": "default"}}),
    "LongcatFlash": ("byte_level", {**LATENT, "num_layers": 2, "ffn_hidden_size": 24, "expert_ffn_hidden_size": 8, "moe_topk": 2, "n_routed_experts": 2, "zero_expert_num": 1}),
    "Gemma3n": ("byte_level", {**GROUPED, "intermediate_size": [24, 24], "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"], "num_kv_shared_layers": 0, "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 420, "laurel_rank": 4, "altup_num_inputs": 2, "activation_sparsity_pattern": [0.0, 0.0]}),
    "TrOCR": ("byte_level", {"d_model": 16, "decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 24, "is_decoder": True}),
}
# Layers with the delta rule.
LINEAR = {
    "num_key_value_heads": 1, "layer_types": ["linear_attention", "full_attention"], "linear_conv_kernel_dim": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2,
    "linear_num_value_heads": 2}
# With transformers 5.18.
NEWEST_MORE = {
    **{name: NEWEST[name] for name in ("MiniCPM3", "Ministral3", "Mistral4")},
    "Afmoe": ("byte_level", {**MOE, "num_dense_layers": 1, "sliding_window": 8, "global_attn_every_n_layers": 2}),
    "AXK1": ("byte_level", {**ROUTED, **LATENT}),
    "AriaText": ("byte_level", {"num_key_value_heads": 1, "moe_num_experts": 2, "moe_topk": 2, "moe_num_shared_experts": 1}),
    "Cohere2Moe": ("byte_level", {**MOE, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "Cwm": ("byte_level", {**GROUPED, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "ExaoneMoe": ("byte_level", {**MOE, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"], "num_shared_experts": 1, "n_group": 1, "topk_group": 1}),
    "Glm4MoeLite": ("byte_level", {**ROUTED, **LATENT}),
    "GraniteMoe": ("byte_level", {"num_key_value_heads": 1, "num_local_experts": 2, "num_experts_per_tok": 2}),
    "GraniteMoeShared": ("byte_level", {"num_key_value_heads": 1, "num_local_experts": 2, "num_experts_per_tok": 2, "shared_intermediate_size": 24}),
    "GlmMoeDsa": ("byte_level", {**ROUTED, **LATENT, "index_head_dim": 8, "index_n_heads": 2}),
    "GraniteMoeHybrid mamba": ("byte_level", {"num_key_value_heads": 1, "layer_types": ["mamba", "attention"], "shared_intermediate_size": 24, "num_local_experts": 2, "num_experts_per_tok": 2, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_chunk_size": 8}),
    "GraniteSWA": ("byte_level", {"num_key_value_heads": 1, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "GraniteMoeSWA": ("byte_level", {"num_key_value_heads": 1, "num_local_experts": 2, "num_experts_per_tok": 2, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "FalconH1": ("byte_level", {**GROUPED, "mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 8, "mamba_chunk_size": 8}),
    "Gemma4": ("byte_level", {**GROUPED, "global_head_dim": 8, "num_hidden_layers": 3, "num_kv_shared_layers": 1, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention", "full_attention"], "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 420}),
    "HrmText": ("byte_level", {"head_dim": 8, "H_cycles": 1, "L_cycles": 2}),
    "HYV3": ("byte_level", {**MOE, "first_k_dense_replace": 1, "num_shared_experts": 1}),
    "HyperCLOVAX": ("byte_level", GROUPED),
    "Jais2": ("byte_level", GROUPED),
    "Laguna": ("byte_level", {**MOE, "shared_expert_intermediate_size": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "Lfm2Moe": ("byte_level", {"num_key_value_heads": 1, "conv_L_cache": 3, "layer_types": ["conv", "full_attention"], "num_experts": 2, "num_experts_per_tok": 2, "num_dense_layers": 1, "moe_intermediate_size": 8}),
    "Mellum": ("byte_level", {**MOE, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "MiMoV2Flash": ("byte_level", ROUTED),
    "MiniMaxM2": ("byte_level", MOE),
    "NanoChat": ("byte_level", {"num_key_value_heads": 1}),
    "NemotronH": ("byte_level", {**GROUPED, "layers_block_type": ["mamba", "attention"], "mamba_num_heads": 4, "mamba_head_dim": 8, "n_groups": 1, "ssm_state_size": 8, "expand": 2, "chunk_size": 8}),
    "OlmoHybrid": ("byte_level", LINEAR),
    "Qwen3Next": ("byte_level", {**LINEAR, **MOE, "linear_num_value_heads": 4, "shared_expert_intermediate_size": 8}),
    "Qwen3_5": ("byte_level", {**LINEAR, "head_dim": 8, "linear_num_value_heads": 4}),
    "Qwen3_5Moe": ("byte_level", {**LINEAR, **MOE, "linear_num_value_heads": 4, "shared_expert_intermediate_size": 8}),
    "Gemma4Unified": ("byte_level", {**GROUPED, "global_head_dim": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "SolarOpen": ("byte_level", ROUTED),
    "Youtu": ("byte_level", LATENT),
}
