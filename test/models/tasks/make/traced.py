"""What torch's exporter cannot trace of language models is computed in another way."""
import contextlib
import sys
import types
import unittest.mock

import torch
from transformers import masking_utils
from transformers.models.lfm2.modeling_lfm2 import Lfm2ShortConv

from common import IS_NEWEST
from step import Complex

if IS_NEWEST:
    import hybrids


def repeat_interleave(value, repeats, dim):
    """As torch's, whose export fails where sides are dynamic."""
    dim %= value.ndim
    return torch.stack([value] * repeats, dim + 1).flatten(dim, dim + 1)


FORWARD = Lfm2ShortConv.forward


def short_conv(self, hidden_states, past_key_values=None, cache_position=None, attention_mask=None):
    """LFM2's, with one way for first and later tokens: before the first one, the state is zeros."""
    if past_key_values is None:
        return FORWARD(self, hidden_states, past_key_values, cache_position, attention_mask)
    # transformers 4 leaves padding in, which later ones do not.
    hidden_states = hidden_states * past_key_values.mask[:, -hidden_states.shape[1] :, None].to(hidden_states.dtype)
    gate, scale, x = self.in_proj(hidden_states).transpose(-1, -2).chunk(3, dim=-2)
    known = torch.cat([past_key_values.conv_cache[self.layer_idx], gate * x], -1)
    past_key_values.conv_cache[self.layer_idx] = known[..., -self.L_cache:]
    found = torch.nn.functional.conv1d(known[..., 1:], self.conv.weight, self.conv.bias, groups=known.shape[1])
    return self.out_proj((scale * found).transpose(-1, -2))


def fourier(values):
    """`torch.fft.fftn` over tokens and features, of which FNet takes the real part."""
    def waves(size):
        at = torch.arange(size)
        angles = (at[:, None] * at % size).to(torch.float32) * (2 * torch.pi / size)
        return angles.cos(), angles.sin()

    (own, other), (cosines, sines) = waves(values.shape[1]), waves(values.shape[2])
    return types.SimpleNamespace(real=own @ values @ cosines - other @ values @ sines)


def relative_pos(self, pos, stride, pooled_pos=None, shift=1):
    """Funnel's, in which the number of positions is no constant."""
    pooled_pos = pos if pooled_pos is None else pooled_pos
    first = pooled_pos[0] - pos[0] + shift * pooled_pos.shape[0] * stride
    last = pooled_pos[0] - pos[-1]
    return torch.arange(0, (first - last) // stride + 1, dtype=torch.long) * -stride + first.long()


def lang_adapter(self, lang_ids, hidden_states):
    """X-MOD's, of one language, which transformers splits by the languages of the rows."""
    residual = hidden_states if not self.ln_before_adapter else None
    if self.adapter_layer_norm is not None:
        hidden_states = self.adapter_layer_norm(hidden_states)
    elif self.adapter_reuse_layer_norm:
        hidden_states = self.LayerNorm(hidden_states)
    residual = hidden_states if residual is None else residual
    [adapter] = self.adapter_modules.values()
    return adapter(hidden_states) + residual


SDPA_MASK = masking_utils.sdpa_mask


def mask_without_vmap(*given, **named):
    """Also of rules of a model's own, which transformers 5 computes by vmap: `families.py` has the same for 4."""
    return SDPA_MASK(*given, **{**named, "use_vmap": False})


# Methods of transformers by their classes.
METHODS = {"FunnelAttentionStructure": relative_pos, "XmodOutput": lang_adapter}


@contextlib.contextmanager
def patched(model):
    cumsum = lambda value, dim, **_: torch.cumsum(value.long() if value.dtype == torch.bool else value, dim)
    polar = lambda lengths, angles: Complex(torch.stack([lengths * angles.cos(), lengths * angles.sin()], -1))
    with unittest.mock.patch.object(torch.Tensor, "cumsum", cumsum), unittest.mock.patch.multiple(torch, polar=polar, view_as_complex=Complex, view_as_real=Complex.pairs), unittest.mock.patch.object(torch.Tensor, "repeat_interleave", repeat_interleave), unittest.mock.patch.object(torch, "repeat_interleave", repeat_interleave), unittest.mock.patch.object(Lfm2ShortConv, "forward", short_conv):
        with hybrids.states_traced(model) if IS_NEWEST else contextlib.nullcontext(), contextlib.ExitStack() as stack:
            if IS_NEWEST:
                # Nor are there several texts in a row, which transformers looks for in the positions.
                stack.enter_context(unittest.mock.patch.multiple(masking_utils, sdpa_mask=mask_without_vmap, find_packed_sequence_indices=lambda _: None))
            module = sys.modules[type(model).__module__]
            for name, method in METHODS.items():
                if hasattr(module, name):
                    stack.enter_context(unittest.mock.patch.object(getattr(module, name), method.__name__, method))
            for part in model.modules():
                if hasattr(part, "fourier_transform"):
                    stack.enter_context(unittest.mock.patch.object(part, "fourier_transform", fourier))
            yield
