"""The encoders of Granite Speech and Ultravox for recordings of any length, without sizes that tracing makes constants."""
import torch
from torch.nn.functional import silu


def filled_up(values, size):
    """[1, tokens, channels] in blocks of tokens, the last one with zeros: [blocks, size, channels]."""
    length = values.shape[1]
    blocks = (length + size - 1) // size
    padded = torch.cat([values, torch.zeros(1, size, values.shape[2])], 1)[:, : blocks * size]
    return padded.reshape(-1, size, values.shape[2])


class GraniteHearing(torch.nn.Module):
    """Pairs of frames → the vectors of their windows. As transformers does it."""

    def __init__(self, model):
        super().__init__()
        self.encoder, self.projector = model.encoder, model.projector

    def forward(self, input_features):
        encoder, projector = self.encoder, self.projector
        hidden = encoder.input_linear(input_features)
        for index, layer in enumerate(encoder.layers, 1):
            hidden = 0.5 * layer.ff1(hidden) + hidden
            hidden = self.attended(layer.attn, hidden) + hidden
            hidden = layer.conv(hidden) + hidden
            hidden = layer.post_norm(0.5 * layer.ff2(hidden) + hidden)
            if index == encoder.num_layers // 2:
                hidden = hidden + encoder.out_mid(encoder.out(hidden).softmax(-1))
        windows = filled_up(hidden, projector.window_size)
        queries = projector.query.expand(windows.shape[0], -1, -1)
        found = projector.qformer(query_embeds=queries, encoder_hidden_states=windows, encoder_attention_mask=None, return_dict=True).last_hidden_state
        return projector.linear(found).reshape(1, -1, projector.linear.out_features)

    def attended(self, attention, hidden):
        size, length = attention.context_size, hidden.shape[1]
        blocks = filled_up(attention.pre_norm(hidden), size)
        heads = lambda one: one.reshape(-1, size, attention.num_heads, attention.dim_head).transpose(1, 2)
        keys, values = attention.to_kv(blocks).chunk(2, -1)
        query, key, value = heads(attention.to_q(blocks)), heads(keys), heads(values)
        places = attention.rel_pos_emb(self.encoder.attention_dists)
        scores = (query @ key.transpose(2, 3) + (query.unsqueeze(-2) * places).sum(-1)) * attention.scale
        counts = torch.arange(blocks.shape[0] * size).reshape(-1, 1, 1, size) < length
        weights = scores.masked_fill(~counts, torch.finfo(torch.float32).min).softmax(-1)
        return attention.to_out((weights @ value).transpose(1, 2).reshape(1, -1, attention.num_heads * attention.dim_head)[:, :length])


class Norm(torch.nn.Module):
    """RMSNorm, in steps that opset 17 has."""

    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    def forward(self, one):
        return one * torch.rsqrt(one.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class UltravoxHearing(torch.nn.Module):
    """A spectrogram of any length → the vectors of its tokens: Whisper's encoder, positions stacked, and two layers."""

    def __init__(self, encoder, size, stack):
        super().__init__()
        self.encoder, self.stack = encoder, stack
        width = encoder.config.d_model * stack
        self.before, self.first = Norm(width), torch.nn.Linear(width, 2 * width, bias=False)
        self.second, self.after = torch.nn.Linear(width, size, bias=False), Norm(size)

    def forward(self, audio_values):
        encoder = self.encoder
        hidden = torch.nn.functional.gelu(encoder.conv2(torch.nn.functional.gelu(encoder.conv1(audio_values)))).transpose(1, 2)
        hidden = hidden + encoder.embed_positions.weight[: hidden.shape[1]]
        for layer in encoder.layers:
            found = layer(hidden, None)
            hidden = found[0] if isinstance(found, tuple) else found
        hidden = encoder.layer_norm(hidden)
        # As Ultravox fills up: to whole tokens, and one more.
        tokens = (hidden.shape[1] + self.stack - 1) // self.stack + 1
        padded = torch.cat([hidden, torch.zeros(1, 2 * self.stack, hidden.shape[2])], 1)[:, : tokens * self.stack]
        gate, values = self.first(self.before(padded.reshape(1, -1, self.stack * hidden.shape[2]))).chunk(2, -1)
        return self.after(self.second(silu(values) * gate))
