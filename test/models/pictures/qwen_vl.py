"""Qwen2-VL, Qwen2.5-VL and Qwen3-VL: patches of a grid, and positions on three axes."""
import tempfile
import pathlib

import onnx
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import DynamicCache, Qwen2TokenizerFast
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextModel

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
OF_PICTURES = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
# In our own words, with what Qwen's have.
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}"
    "{% endif %}{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
# The name of the input that says the grids, the side of a patch, and the encoder. The pictures are one window.
FAMILIES = {
    "qwen2-vl": ("grid_thw", 4, {"depth": 2, "embed_dim": 32, "num_heads": 2, "mlp_ratio": 2, "hidden_size": 32}),
    "qwen2.5-vl": ("image_grid_thw", 4, {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32, "window_size": 320, "fullatt_block_indexes": [1]}),
    # The exports have no inputs for what some layers of the encoder add to the decoder's.
    "qwen3-vl": ("image_grid_thw", 6, {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32, "num_position_embeddings": 16, "deepstack_visual_indexes": []}),
}


def tokenizer_of(folder, texts):
    if (folder / "tokenizer.json").exists():
        return Qwen2TokenizerFast.from_pretrained(folder)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=330, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(one, special=True, normalized=False) for one in OF_PICTURES])
    return Qwen2TokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=TEMPLATE, additional_special_tokens=OF_PICTURES,
        extra_special_tokens={"image_token": "<|image_pad|>", "video_token": "<|video_pad|>", "vision_start_token": "<|vision_start|>", "vision_end_token": "<|vision_end|>"})


def build(name, tokenizer):
    _, patch, vision = FAMILIES[name]
    ids = {key: tokenizer.convert_tokens_to_ids(token) for key, token in (
        ("image_token_id", "<|image_pad|>"), ("video_token_id", "<|video_pad|>"), ("vision_start_token_id", "<|vision_start|>"), ("vision_end_token_id", "<|vision_end|>"))}
    text = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512, "vocab_size": len(tokenizer),
        "rope_scaling": {"rope_type": "default", "mrope_section": [2, 1, 1], **({"mrope_interleaved": True} if name == "qwen3-vl" else {"type": "mrope"})}, "tie_word_embeddings": False,
        "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    kind = {"qwen2-vl": "Qwen2VL", "qwen2.5-vl": "Qwen2_5_VL", "qwen3-vl": "Qwen3VL"}[name]
    config = getattr(transformers, f"{kind}Config")(text_config=text, vision_config={**vision, "patch_size": patch, "spatial_merge_size": 2, "temporal_patch_size": 2}, tie_word_embeddings=False, **ids)
    config._attn_implementation = "eager"
    model = getattr(transformers, f"{kind}ForConditionalGeneration")(config).eval()
    own = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3} if name == "qwen3-vl" else {}
    images = transformers.Qwen2VLImageProcessor(patch_size=patch, merge_size=2, temporal_patch_size=2, min_pixels=(3 * patch) ** 2, max_pixels=(8 * patch) ** 2, **own)
    if name == "qwen3-vl":
        processor = transformers.Qwen3VLProcessor(image_processor=images, tokenizer=tokenizer, video_processor=transformers.Qwen3VLVideoProcessor(), chat_template=TEMPLATE)
    else:
        processor = getattr(transformers, f"{kind}Processor")(image_processor=images, tokenizer=tokenizer, video_processor=transformers.Qwen2VLVideoProcessor(), chat_template=TEMPLATE)
    return model, processor


class Vision(torch.nn.Module):
    """The patches of one picture, and its grid → the vectors of its tokens. As transformers does it, without loops over pictures."""

    def __init__(self, visual):
        super().__init__()
        self.visual = visual
        self.merge = visual.spatial_merge_size

    def forward(self, pixel_values, grid):
        visual, merge = self.visual, self.merge
        height, width = grid[0, 1], grid[0, 2]
        hidden = visual.patch_embed(pixel_values)
        index = torch.arange(hidden.shape[0])
        block = index // (merge * merge)
        rows = block // (width // merge) * merge + index // merge % merge
        columns = block % (width // merge) * merge + index % merge
        if hasattr(visual, "pos_embed"):
            side = visual.num_grid_per_side
            y, x = rows * (side - 1) / (height - 1), columns * (side - 1) / (width - 1)
            top, left = y.floor().long(), x.floor().long()
            bottom, right = (top + 1).clamp(max=side - 1), (left + 1).clamp(max=side - 1)
            down, along = (y - top)[:, None], (x - left)[:, None]
            at = lambda row, column: visual.pos_embed(row * side + column)
            hidden = hidden + at(top, left) * (1 - down) * (1 - along) + at(top, right) * (1 - down) * along + at(bottom, left) * down * (1 - along) + at(bottom, right) * down * along
        frequencies = visual.rotary_pos_emb.inv_freq
        angles = torch.cat([rows[:, None] * frequencies, columns[:, None] * frequencies], -1)
        angles = torch.cat([angles, angles], -1)[:, None]
        cos, sin = angles.cos(), angles.sin()

        def turned(one):
            first, second = one.chunk(2, -1)
            return one * cos + torch.cat([-second, first], -1) * sin

        for layer in visual.blocks:
            attention = layer.attn
            query, key, value = attention.qkv(layer.norm1(hidden)).reshape(hidden.shape[0], 3, attention.num_heads, -1).unbind(1)
            query, key, value = turned(query).transpose(0, 1), turned(key).transpose(0, 1), value.transpose(0, 1)
            weights = (query @ key.transpose(1, 2) * attention.scaling).softmax(-1)
            hidden = hidden + attention.proj((weights @ value).transpose(0, 1).flatten(1))
            hidden = hidden + layer.mlp(layer.norm2(hidden))
        return visual.merger(hidden)


class Text(torch.nn.Module):
    """The vectors of tokens, the mask, positions on three axes and the cache → logits, and the cache after them."""

    def __init__(self, model):
        super().__init__()
        self.decoder, self.head = model.model.language_model, model.lm_head

    def forward(self, inputs_embeds, attention_mask, position_ids, *past):
        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        length, total = inputs_embeds.shape[1], attention_mask.shape[1]
        seen = torch.arange(total)[None] <= torch.arange(total - length, total)[:, None]
        allowed = seen[None, None] & (attention_mask[:, None, None] > 0)
        mask = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)
        hidden = self.decoder(inputs_embeds=inputs_embeds, attention_mask=mask if isinstance(self.decoder, Qwen3VLTextModel) else {"full_attention": mask}, position_ids=position_ids, past_key_values=cache, use_cache=True, cache_position=torch.arange(total - length, total)).last_hidden_state
        present = [one for layer in cache.layers for one in (layer.keys, layer.values)]
        return (self.head(hidden), *present)


def export(name, model, folder, clean):
    grid = FAMILIES[name][0]
    patch = model.config.vision_config.patch_size
    with tempfile.TemporaryDirectory() as target:
        path = pathlib.Path(target) / "model.onnx"
        torch.onnx.export(
            Vision(model.model.visual).eval(), (torch.rand(24, 3 * 2 * patch * patch), torch.tensor([[1, 4, 6]])), str(path), input_names=["pixel_values", grid], output_names=["image_features"],
            dynamo=False, opset_version=17, dynamic_axes={"pixel_values": {0: "num_patches"}, grid: {0: "num_images"}, "image_features": {0: "num_tokens"}})
        onnx.save(clean(onnx.load(path)), folder / "vision_encoder.onnx")
        config = model.config.text_config
        layers, heads, size = config.num_hidden_layers, config.num_key_value_heads, config.head_dim
        names = [f"{layer}.{part}" for layer in range(layers) for part in ("key", "value")]
        past = [torch.rand(2, heads, 3, size) for _ in names]
        axes = {"inputs_embeds": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length"}, "position_ids": {1: "batch_size", 2: "sequence_length"}, "logits": {0: "batch_size", 1: "sequence_length"}}
        for one in names:
            axes[f"past_key_values.{one}"] = {0: "batch_size", 2: "past_sequence_length"}
            axes[f"present.{one}"] = {0: "batch_size", 2: "total_sequence_length"}
        torch.onnx.export(
            Text(model).eval(), (torch.rand(2, 4, config.hidden_size), torch.ones(2, 7, dtype=torch.int64), torch.arange(4).expand(3, 2, 4).contiguous(), *past), str(path),
            input_names=["inputs_embeds", "attention_mask", "position_ids", *[f"past_key_values.{one}" for one in names]], output_names=["logits", *[f"present.{one}" for one in names]],
            dynamo=False, opset_version=17, dynamic_axes=axes)
        onnx.save(clean(onnx.load(path)), folder / "decoder_model_merged.onnx")
    return model.model.language_model.embed_tokens.weight.detach().numpy()
