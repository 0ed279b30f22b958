"""What torch's exporter cannot trace of language models is computed in another way."""
import contextlib
import types
import unittest.mock

import torch
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


@contextlib.contextmanager
def patched(model):
    cumsum = lambda value, dim, **_: torch.cumsum(value.long() if value.dtype == torch.bool else value, dim)
    polar = lambda lengths, angles: Complex(torch.stack([lengths * angles.cos(), lengths * angles.sin()], -1))
    with unittest.mock.patch.object(torch.Tensor, "cumsum", cumsum), unittest.mock.patch.multiple(torch, polar=polar, view_as_complex=Complex, view_as_real=Complex.pairs), unittest.mock.patch.object(torch.Tensor, "repeat_interleave", repeat_interleave), unittest.mock.patch.object(torch, "repeat_interleave", repeat_interleave), unittest.mock.patch.object(Lfm2ShortConv, "forward", short_conv):
        with hybrids.states_traced(model) if IS_NEWEST else contextlib.nullcontext(), contextlib.ExitStack() as stack:
            for part in model.modules():
                if hasattr(part, "fourier_transform"):
                    stack.enter_context(unittest.mock.patch.object(part, "fourier_transform", fourier))
            yield
