"""Qwen3.5, of one network or of experts: the pictures of Qwen3-VL, and a language model of which most layers have a state of one size in place of keys and values."""
import types

import torch
import transformers
from torch.nn.functional import conv1d, silu, softplus
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5GatedDeltaNet
from transformers.models.qwen3_5_moe.modeling_qwen3_5_moe import Qwen3_5MoeExperts, Qwen3_5MoeGatedDeltaNet

from qwen_vl import Vision

PATCH = 6
EXPERTS = {"moe_intermediate_size": 8, "shared_expert_intermediate_size": 8, "num_experts": 3, "num_experts_per_tok": 2}


def qwen35_moe(tokenizer):
    return qwen35(tokenizer, "Qwen3_5Moe", EXPERTS)


def qwen35(tokenizer, kind="Qwen3_5", more={}):
    ids = {key: tokenizer.convert_tokens_to_ids(token) for key, token in (
        ("image_token_id", "<|image_pad|>"), ("video_token_id", "<|video_pad|>"), ("vision_start_token_id", "<|vision_start|>"), ("vision_end_token_id", "<|vision_end|>"))}
    text = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 512, "vocab_size": len(tokenizer),
        "layer_types": ["linear_attention", "full_attention"], "linear_conv_kernel_dim": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [2, 1, 1], "mrope_interleaved": True}, "tie_word_embeddings": False,
        "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, **more}
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32, "num_position_embeddings": 16, "patch_size": PATCH, "spatial_merge_size": 2, "temporal_patch_size": 2}
    config = getattr(transformers, f"{kind}Config")(text_config=text, vision_config=vision, tie_word_embeddings=False, **ids)
    config._attn_implementation = "eager"
    images = transformers.Qwen2VLImageProcessorPil(
        patch_size=PATCH, merge_size=2, temporal_patch_size=2, size={"shortest_edge": (3 * PATCH) ** 2, "longest_edge": (8 * PATCH) ** 2}, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    processor = transformers.Qwen3VLProcessor(image_processor=images, tokenizer=tokenizer, video_processor=transformers.Qwen3VLVideoProcessor(), chat_template=tokenizer.chat_template)
    return getattr(transformers, f"{kind}ForConditionalGeneration")(config).eval(), processor


class Qwen35Vision(Vision):
    def __init__(self, model):
        super().__init__(model.model.visual)


@torch.jit.script
def delta_rule(query, key, value, decay, beta, state):
    """Token by token, as exporters write it: the loop has as many turns as there are tokens."""
    found = value[:, :, :0]
    for at in range(value.shape[2]):
        state = state * decay[:, :, at].exp().unsqueeze(-1).unsqueeze(-1)
        column = key[:, :, at].unsqueeze(-1)
        known = (state * column).sum(-2)
        state = state + column * ((value[:, :, at] - known) * beta[:, :, at].unsqueeze(-1)).unsqueeze(-2)
        found = torch.cat([found, (state * query[:, :, at].unsqueeze(-1)).sum(-2).unsqueeze(2)], 2)
    return found, state


def gated_delta_net(self, hidden_states, cache_params=None, attention_mask=None, **_):
    """Transformers', with one way for first and later tokens: before the first one, the states are zeros."""
    layer = cache_params.layers[self.layer_idx]
    hidden = hidden_states * attention_mask[..., None].to(hidden_states.dtype)
    rows, length = hidden.shape[:2]
    known = torch.cat([layer.conv, self.in_proj_qkv(hidden).transpose(1, 2)], -1)
    layer.conv = known[..., -self.conv_kernel_size:]
    mixed = silu(conv1d(known[..., 1:], self.conv1d.weight, groups=self.conv_dim)).transpose(1, 2)
    parts = [
        part.reshape(rows, length, -1, size).transpose(1, 2)
        for part, size in zip(mixed.split([self.key_dim, self.key_dim, self.value_dim], -1), (self.head_k_dim, self.head_k_dim, self.head_v_dim))]
    unit = lambda one: one * torch.rsqrt((one * one).sum(-1, keepdim=True) + 1e-6)
    # Each head of keys serves several of values.
    times = self.num_v_heads // self.num_k_heads
    query, key = (unit(one)[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2) for one in parts[:2])
    decay = -self.A_log.exp() * softplus(self.in_proj_a(hidden) + self.dt_bias)
    found, layer.recurrent = delta_rule(
        query * self.head_k_dim**-0.5, key, parts[2], decay.transpose(1, 2), self.in_proj_b(hidden).sigmoid().transpose(1, 2), layer.recurrent)
    gates = self.in_proj_z(hidden).reshape(-1, self.head_v_dim)
    return self.out_proj(self.norm(found.transpose(1, 2).reshape(-1, self.head_v_dim), gates).reshape(rows, length, -1))


def all_experts(self, hidden, top_k_index, top_k_weights):
    """Transformers', with all experts in place of a loop over those that were chosen: the others count nothing."""
    weights = torch.zeros(hidden.shape[0], self.num_experts).scatter(1, top_k_index, top_k_weights)
    gate, up = torch.einsum("th,eoh->teo", hidden, self.gate_up_proj).chunk(2, -1)
    found = torch.einsum("teo,eho->teh", self.act_fn(gate) * up, self.down_proj)
    return (found * weights[..., None]).sum(1)


class HybridText(torch.nn.Module):
    """The vectors of tokens, the mask, positions on three axes and the states → logits, and the states after them."""

    def __init__(self, model):
        super().__init__()
        self.decoder, self.head = model.model.language_model, model.lm_head
        for module in self.decoder.modules():
            if isinstance(module, (Qwen3_5GatedDeltaNet, Qwen3_5MoeGatedDeltaNet)):
                module.forward = types.MethodType(gated_delta_net, module)
            if isinstance(module, Qwen3_5MoeExperts):
                module.forward = types.MethodType(all_experts, module)

    def states(self, config):
        """Their names, as the Hub's exports have them, and their sizes; None is the number of tokens."""
        channels = 2 * config.linear_num_key_heads * config.linear_key_head_dim + config.linear_num_value_heads * config.linear_value_head_dim
        found = []
        for layer, kind in enumerate(config.layer_types):
            if kind == "full_attention":
                found += [(f"past_key_values.{layer}.{part}", [config.num_key_value_heads, None, config.head_dim]) for part in ("key", "value")]
            else:
                found += [(f"past_conv.{layer}", [channels, config.linear_conv_kernel_dim]), (f"past_recurrent.{layer}", [config.linear_num_value_heads, config.linear_key_head_dim, config.linear_value_head_dim])]
        return found

    def forward(self, inputs_embeds, attention_mask, position_ids, *past):
        cache, rest = DynamicCache(), list(past)
        for kind in self.decoder.config.layer_types:
            first, second = rest.pop(0), rest.pop(0)
            if kind == "full_attention":
                layer = DynamicLayer()
                layer.keys, layer.values, layer.dtype, layer.device, layer.is_initialized = first, second, first.dtype, first.device, True
            else:
                layer = types.SimpleNamespace(conv=first, recurrent=second)
            cache.layers.append(layer)
        length, total = inputs_embeds.shape[1], attention_mask.shape[1]
        seen = torch.arange(total)[None] <= torch.arange(total - length, total)[:, None]
        mask = torch.where(seen[None, None] & (attention_mask[:, None, None] > 0), 0.0, torch.finfo(torch.float32).min)
        masks = {"full_attention": mask, "linear_attention": attention_mask[:, -length:]}
        hidden = self.decoder(inputs_embeds=inputs_embeds, attention_mask=masks, position_ids=position_ids, past_key_values=cache, use_cache=True).last_hidden_state
        present = [one for layer in cache.layers for one in ((layer.conv, layer.recurrent) if hasattr(layer, "conv") else (layer.keys, layer.values))]
        return (self.head(hidden), *present)
