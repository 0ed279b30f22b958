"""PaliGemma 2: one message, whose pictures and text see each other in both directions."""
import torch
import transformers
from transformers.models.paligemma import processing_paligemma

from fixed_size import Text, cached, states_of

NAME = "paligemma"
# A picture has 144 tokens: more than the part of a prompt that causal models run at once.
SIDE, PATCH = 96, 8
TOKENS = (SIDE // PATCH) ** 2


def build(tokenizer):
    # The first of the 1,152 tokens of places and shapes, which the processor adds.
    processing_paligemma.EXTRA_TOKENS = processing_paligemma.EXTRA_TOKENS[:8]
    images = transformers.SiglipImageProcessor(size={"height": SIDE, "width": SIDE})
    images.image_seq_length = TOKENS
    processor = transformers.PaliGemmaProcessor(images, tokenizer)
    ids = {key: getattr(tokenizer, key) for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    text = {
        "model_type": "gemma2", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512,
        "vocab_size": len(tokenizer), "query_pre_attn_scalar": 8, "sliding_window": 512, "tie_word_embeddings": False, **ids}
    vision = {
        "model_type": "siglip_vision_model", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": SIDE, "patch_size": PATCH, "projection_dim": 32,
        "vision_use_head": False}
    config = transformers.PaliGemmaConfig(
        text_config=text, vision_config=vision, image_token_index=tokenizer.convert_tokens_to_ids("<image>"), projection_dim=32, hidden_size=32, tie_word_embeddings=False, **ids)
    config._attn_implementation = "eager"
    return transformers.PaliGemmaForConditionalGeneration(config).eval(), processor


def inputs(processor, images, messages):
    """What the processor makes of a message; of one without pictures, what it would, if it took one."""
    parts = messages[0]["content"]
    text = "".join("<image>" if part["type"] == "image" else part["text"] for part in parts)
    if images:
        return processor(text=[text], images=[images], return_tensors="pt")
    return processor.tokenizer(f"{processor.tokenizer.bos_token}{text}\n", return_tensors="pt", return_token_type_ids=False)


class OpenText(Text):
    """Without a mask: each token of a run sees all of them, and all before them, as the Hub's exports have it."""

    INPUTS = ("inputs_embeds", "position_ids")

    def forward(self, inputs_embeds, position_ids, *past):
        cache = cached(past)
        mask = torch.zeros(1, 1, 1, 1)
        hidden = self.decoder(
            inputs_embeds=inputs_embeds, attention_mask={"full_attention": mask, "sliding_attention": mask}, position_ids=position_ids, past_key_values=cache, use_cache=True).last_hidden_state
        return (self.head(hidden), *states_of(cache))
