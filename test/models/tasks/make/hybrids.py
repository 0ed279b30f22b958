"""Language models of which layers have states of one size, beside keys and values or in place of them: how the Hub's exports have them. Needs transformers 5."""
import contextlib
import inspect
import sys
import unittest.mock

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, LinearAttentionCacheLayerMixin, LinearAttentionLayer

from step import Step


@torch.jit.script
def scan_tokens(values, decay, inward, outward, state):
    """Mamba's, token by token, as exporters write it: the loop has as many turns as there are tokens."""
    found = values[:, :0]
    for at in range(values.shape[1]):
        state = state * decay[:, at].unsqueeze(-1).unsqueeze(-1) + values[:, at].unsqueeze(-1) * inward[:, at].unsqueeze(-2)
        found = torch.cat([found, (state * outward[:, at].unsqueeze(-2)).sum(-1).unsqueeze(1)], 1)
    return found, state


def scan(values, step, rate, inward, outward, D, dt_bias, initial_states, return_final_states=False, **_):
    """`mamba2_chunk_scan`, without chunks. @param values [rows, tokens, heads, size] @param inward and outward [rows, tokens, groups, states]"""
    step = torch.nn.functional.softplus(step + dt_bias)
    inward, outward = (one.repeat_interleave(values.shape[2] // one.shape[2], dim=2) for one in (inward, outward))
    if initial_states is None:
        initial_states = values.new_zeros(1, 1, 1, inward.shape[-1]) * values[:, 0].unsqueeze(-1)
    found, state = scan_tokens(values * step[..., None], (rate * step).exp(), inward, outward, initial_states)
    found = found + D[:, None] * values
    return (found, state) if return_final_states else found


@torch.jit.script
def delta_rule_of_tokens(query, key, value, decay, beta, state):
    """Token by token, too. All but the state are [rows, tokens, heads, …]."""
    found = value[:, :0]
    for at in range(value.shape[1]):
        state = state * decay[:, at].exp().unsqueeze(-1).unsqueeze(-1)
        column = key[:, at].unsqueeze(-1)
        known = (state * column).sum(-2)
        state = state + column * ((value[:, at] - known) * beta[:, at].unsqueeze(-1)).unsqueeze(-2)
        found = torch.cat([found, (state * query[:, at].unsqueeze(-1)).sum(-2).unsqueeze(1)], 1)
    return found, state


def delta_rule(query, key, value, g, beta, initial_state, **_):
    """`torch_chunk_gated_delta_rule`, without chunks."""
    unit = lambda one: one * torch.rsqrt((one * one).sum(-1, keepdim=True) + 1e-6)
    # transformers 5.24 repeats the heads here.
    query, key = (one.repeat_interleave(value.shape[2] // one.shape[2], dim=2) for one in (query, key))
    if initial_state is None:
        initial_state = key[:, 0].unsqueeze(-1) * value[:, 0].unsqueeze(-2) * 0
    return delta_rule_of_tokens(unit(query) * query.shape[-1] ** -0.5, unit(key), value, g, beta, initial_state)


def update_conv_state(self, new, state_idx=0, **_):
    whole = torch.cat([self.conv_states[state_idx], new], -1)
    self.conv_states[state_idx] = whole[..., -self.conv_states[state_idx].shape[-1] :]
    return whole


def update_recurrent_state(self, new, state_idx=0, **_):
    self.recurrent_states[state_idx] = new
    return new


def module_of(model):
    """The module of the part that has the states: that of texts."""
    return sys.modules[type(model.get_decoder() if hasattr(model, "get_decoder") else model).__module__]


def is_hybrid(cache):
    return any(isinstance(layer, LinearAttentionCacheLayerMixin) for layer in cache.layers)


class HybridStep(Step):
    """With the states beside keys and values. Before the first token, they are zeros."""

    def __init__(self, model, cache):
        self.module = module_of(model)
        # OLMo Hybrid's exports have the three parts of a convolution by themselves.
        self.parts = [] if "OlmoHybrid" not in type(model).__name__ else [
            ("query", model.config.linear_num_key_heads * model.config.linear_key_head_dim), ("key", model.config.linear_num_key_heads * model.config.linear_key_head_dim),
            ("value", model.config.linear_num_value_heads * model.config.linear_value_head_dim)]
        recurrent = "ssm" if hasattr(self.module, "mamba2_chunk_scan") else "recurrent"
        names = []
        for at, layer in enumerate(cache.layers):
            if isinstance(layer, LinearAttentionCacheLayerMixin):
                names += [f"conv.{at}.{part}" for part, _ in self.parts] or [f"conv.{at}"]
                names += [f"{recurrent}.{at}"] if layer.recurrent_states[0] is not None else []
            if getattr(layer, "keys", None) is not None:
                names += [f"key_values.{at}.key", f"key_values.{at}.value"]
        super().__init__(model, names)

    def forward(self, ids, mask, positions, *past):
        masked = lambda hidden, *_: hidden * mask[:, -hidden.shape[1] :, None].to(hidden.dtype)
        with unittest.mock.patch.object(self.module, "apply_mask_to_padding_states", masked):
            return super().forward(ids, mask, positions, *past)

    def cache(self, past):
        cache, given = DynamicCache(config=self.model.config.get_text_config()), dict(zip(self.names, past))
        for at, layer in enumerate(cache.layers):
            if isinstance(layer, LinearAttentionCacheLayerMixin):
                parts = [given[f"conv.{at}.{part}"] for part, _ in self.parts] or [given[f"conv.{at}"]]
                layer.conv_states[0], layer.recurrent_states[0] = torch.cat(parts, 1), given.get(f"ssm.{at}", given.get(f"recurrent.{at}"))
                layer.has_previous_state[0] = True
            if f"key_values.{at}.key" in given:
                if not isinstance(layer, LinearAttentionCacheLayerMixin):
                    layer = cache.layers[at] = DynamicLayer()
                keys, layer.values = given[f"key_values.{at}.key"], given[f"key_values.{at}.value"]
                layer.keys, layer.dtype, layer.device, layer.is_initialized = keys, keys.dtype, keys.device, True
        return cache

    def states(self, cache):
        return [self.state(cache.layers[int(at)], kind, *part) for kind, at, *part in (name.split(".") for name in self.names)]

    def state(self, layer, kind, part=None):
        if kind == "key_values":
            return layer.keys if part == "key" else layer.values
        if kind != "conv":
            return layer.recurrent_states[0]
        split = layer.conv_states[0].split([size for _, size in self.parts] or layer.conv_states[0].shape[1], 1)
        return split[next((at for at, (name, _) in enumerate(self.parts) if name == part), 0)]


def every_token(forward):
    """What an indexer chooses where there are fewer tokens than it may choose. The Hub's exports have none of its states."""
    def choose(self, *given, **named):
        mask = inspect.signature(forward).bind(self, *given, **named).arguments["attention_mask"]
        return torch.arange(mask.shape[-1])[None, None].expand(mask.shape)

    return choose


@contextlib.contextmanager
def states_traced(model):
    """What torch's exporter cannot trace of the states is computed in another way."""
    module = module_of(model)
    others = {"mamba2_chunk_scan": scan, "torch_chunk_gated_delta_rule": delta_rule}
    with contextlib.ExitStack() as stack:
        stack.enter_context(unittest.mock.patch.multiple(LinearAttentionLayer, update_conv_state=update_conv_state, update_recurrent_state=update_recurrent_state))
        indexers = [one for name, one in vars(module).items() if name.endswith("Indexer")]
        for indexer in indexers:
            stack.enter_context(unittest.mock.patch.object(indexer, "forward", every_token(indexer.forward)))
        if indexers:
            # All are chosen, and of truths torch's exporter traces no scatter.
            stack.enter_context(unittest.mock.patch.object(torch.Tensor, "scatter", lambda value, *_: torch.zeros_like(value)))
        for name, own in others.items():
            if hasattr(module, name):
                stack.enter_context(unittest.mock.patch.object(module, name, own))
        yield
