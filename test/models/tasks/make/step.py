"""What exporters make of a language model: its cache is inputs and outputs."""
import inspect

import torch
import transformers
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer


class Step(torch.nn.Module):
    """A model as exporters write it: the cache is inputs and outputs."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names
        # XLM-RoBERTa-XL counts from the padding's id on, by itself.
        self.has_positions = "position_ids" in inspect.signature(model.forward).parameters and not isinstance(model, transformers.XLMRobertaXLForCausalLM)

    def forward(self, ids, mask, positions, *past):
        given = {"position_ids": positions} if self.has_positions else {}
        if not past:
            return self.model(input_ids=ids, attention_mask=mask, return_dict=True, **given)[0]
        cache = self.cache(past)
        cache.mask = mask
        # Of a half of texts, vectors are in their place.
        ids = {"inputs_embeds" if ids.is_floating_point() else "input_ids": ids}
        found = self.model(**ids, attention_mask=mask, past_key_values=cache, use_cache=True, return_dict=True, **given)
        return (found[0], *self.states(cache))

    def cache(self, past):
        cache = new_cache()
        for keys, values in zip(past[::2], past[1::2]):
            layer = DynamicLayer()
            layer.keys, layer.values, layer.dtype, layer.device, layer.is_initialized = keys, values, keys.dtype, keys.device, True
            cache.layers.append(layer)
        return cache

    def states(self, cache):
        return [state for layer in cache.layers for state in (layer.keys, layer.values)]


def new_cache():
    """An empty one. Of transformers 4, Granite 4 asks whether Mamba's layers have a state, also where it has none of them."""
    cache = DynamicCache()
    cache.has_previous_state = True
    return cache


class Complex:
    """Complex numbers, as the rotary positions of Llama 4 and DeepSeek-V2 multiply them."""

    def __init__(self, pairs):
        self.real, self.imaginary = pairs[..., 0], pairs[..., 1]
        self.device = pairs.device

    def pairs(self):
        return torch.stack([self.real, self.imaginary], -1)

    def __mul__(self, other):
        if not isinstance(other, Complex):
            return Complex(self.pairs() * other)
        return Complex(torch.stack([self.real * other.real - self.imaginary * other.imaginary, self.real * other.imaginary + self.imaginary * other.real], -1))

    def __getitem__(self, at):
        return Complex(torch.stack([self.real[at], self.imaginary[at]], -1))

    def unsqueeze(self, axis):
        return Complex(self.pairs().unsqueeze(axis))

    def to(self, _):
        return self
