"""GLM-OCR and LightOnOCR, which write the text of pages, and Mistral 3, which has the pictures of LightOnOCR."""
import torch
import transformers

PATCH = 6
# The smallest picture has two tokens: transformers 5.18 takes no picture of one.
MISTRAL_PATCH = 4


def glm_ocr(tokenizer):
    ids = {key: tokenizer.convert_tokens_to_ids(token) for key, token in (
        ("image_token_id", "<|image|>"), ("video_token_id", "<|video|>"), ("image_start_token_id", "<|begin_of_image|>"), ("image_end_token_id", "<|end_of_image|>"),
        ("video_start_token_id", "<|begin_of_video|>"), ("video_end_token_id", "<|end_of_video|>"))}
    text = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512, "vocab_size": len(tokenizer),
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 2, 1]}, "tie_word_embeddings": False,
        "eos_token_id": [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|user|>")], "pad_token_id": tokenizer.pad_token_id}
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32, "patch_size": PATCH, "spatial_merge_size": 2, "temporal_patch_size": 2}
    config = transformers.GlmOcrConfig(text_config=text, vision_config=vision, tie_word_embeddings=False, **ids)
    config._attn_implementation = "eager"
    # The smallest picture is enlarged first, as its height is below that of a token; the widest one has too many pixels.
    images = transformers.Glm46VImageProcessorPil(patch_size=PATCH, merge_size=2, temporal_patch_size=2, size={"shortest_edge": 2 * 16 * 16, "longest_edge": 2 * 40 * 36})
    processor = transformers.Glm46VProcessor(image_processor=images, tokenizer=tokenizer, video_processor=transformers.Glm46VVideoProcessor(), chat_template=tokenizer.chat_template)
    return transformers.GlmOcrForConditionalGeneration(config).eval(), processor


class GlmVision(torch.nn.Module):
    """The patches of one picture, and its grid → the vectors of its tokens. As transformers does it, without loops over pictures."""

    def __init__(self, model):
        super().__init__()
        self.visual = model.model.visual

    def forward(self, pixel_values, grid):
        visual = self.visual
        merge, width = visual.spatial_merge_size, grid[0, 2]
        hidden = visual.patch_embed(pixel_values)
        index = torch.arange(hidden.shape[0])
        block = index // (merge * merge)
        rows = block // (width // merge) * merge + index // merge % merge
        columns = block % (width // merge) * merge + index % merge
        frequencies = visual.rotary_pos_emb.inv_freq
        turns = turned_by(torch.cat([rows[:, None] * frequencies, columns[:, None] * frequencies], -1))
        for layer in visual.blocks:
            attention = layer.attn
            query, key, value = attention.qkv(layer.norm1(hidden)).reshape(hidden.shape[0], 3, attention.num_heads, -1).unbind(1)
            query, key, value = turns(attention.q_norm(query)).transpose(0, 1), turns(attention.k_norm(key)).transpose(0, 1), value.transpose(0, 1)
            weights = (query @ key.transpose(1, 2) * attention.scaling).softmax(-1)
            hidden = hidden + attention.proj((weights @ value).transpose(0, 1).flatten(1))
            hidden = hidden + layer.mlp(layer.norm2(hidden))
        blocks = visual.post_layernorm(hidden).reshape(-1, merge, merge, hidden.shape[-1]).permute(0, 3, 1, 2)
        return visual.merger(visual.downsample(blocks).flatten(1))


def lighton_ocr(tokenizer):
    text = {
        "model_type": "qwen3", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512, "vocab_size": len(tokenizer),
        "tie_word_embeddings": False, "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    vision = {"model_type": "pixtral", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 48, "patch_size": PATCH}
    config = transformers.LightOnOcrConfig(text_config=text, vision_config=vision, spatial_merge_size=2, image_token_id=tokenizer.convert_tokens_to_ids("<|image_pad|>"), tie_word_embeddings=False)
    config._attn_implementation = "eager"
    # A picture fills whole patches, of which one may be left over: the last row and column of an odd number become no token.
    images = transformers.PixtralImageProcessorPil(patch_size={"height": PATCH, "width": PATCH}, size={"longest_edge": 48})
    processor = transformers.LightOnOcrProcessor(image_processor=images, tokenizer=tokenizer, patch_size=PATCH, spatial_merge_size=2, chat_template=tokenizer.chat_template)
    return transformers.LightOnOcrForConditionalGeneration(config).eval(), processor


def mistral3(tokenizer):
    text = {
        "model_type": "mistral", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512, "vocab_size": len(tokenizer),
        "sliding_window": None, "tie_word_embeddings": False, "bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    vision = {"model_type": "pixtral", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 48, "patch_size": MISTRAL_PATCH}
    config = transformers.Mistral3Config(text_config=text, vision_config=vision, spatial_merge_size=2, image_token_index=tokenizer.convert_tokens_to_ids("[IMG]"), tie_word_embeddings=False)
    config._attn_implementation = "eager"
    # A picture fills whole tokens: the processor says how large they are.
    images = transformers.PixtralImageProcessorPil(patch_size={"height": MISTRAL_PATCH, "width": MISTRAL_PATCH}, size={"longest_edge": 48})
    processor = transformers.PixtralProcessor(image_processor=images, tokenizer=tokenizer, patch_size=MISTRAL_PATCH, spatial_merge_size=2, chat_template=tokenizer.chat_template)
    return transformers.Mistral3ForConditionalGeneration(config).eval(), processor


class PixtralVision(torch.nn.Module):
    """The pixels of one picture → the vectors of its tokens. As transformers does it, without loops over pictures."""

    def __init__(self, model):
        super().__init__()
        inner = model.model
        is_mistral = isinstance(model, transformers.Mistral3ForConditionalGeneration)
        self.encoder, self.projection = (inner.vision_tower, inner.multi_modal_projector) if is_mistral else (inner.vision_encoder, inner.vision_projection)

    def forward(self, pixel_values):
        encoder, projection = self.encoder, self.projection
        patches = encoder.patch_conv(pixel_values)
        rows, columns = patches.shape[2], patches.shape[3]
        hidden = encoder.ln_pre(patches.flatten(2).transpose(1, 2))
        index = torch.arange(rows * columns)
        positions = torch.stack([index // columns, index % columns], -1)
        turns = encoder.patch_positional_embedding(hidden, positions)
        hidden = encoder.transformer(hidden, attention_mask=None, position_embeddings=turns).last_hidden_state
        merge = projection.patch_merger.spatial_merge_size
        whole = projection.norm(hidden)[0].reshape(rows, columns, -1)[: rows // merge * merge, : columns // merge * merge]
        # The patches of a token, channel by channel.
        blocks = whole.reshape(rows // merge, merge, columns // merge, merge, -1).permute(0, 2, 4, 1, 3).flatten(2).flatten(0, 1)
        return projection.linear_2(projection.act(projection.linear_1(projection.patch_merger.merging_layer(blocks))))


def turned_by(angles):
    """Returns what turns heads [patches, heads, size] by angles of half of their size."""
    both = torch.cat([angles, angles], -1)[:, None]
    cos, sin = both.cos(), both.sin()

    def turned(one):
        first, second = one.chunk(2, -1)
        return one * cos + torch.cat([-second, first], -1) * sin
    return turned
