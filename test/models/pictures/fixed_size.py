"""Gemma 3 and Llava: pictures of one size, each of which becomes a fixed number of vectors."""
import pathlib
import tempfile

import onnx
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import DynamicCache, PreTrainedTokenizerFast

FAMILIES = ("gemma3", "llava")
SIDE, PATCH = 32, 8
PAN_AND_SCAN = {"do_pan_and_scan": True, "pan_and_scan_min_crop_size": 16, "pan_and_scan_max_num_crops": 3, "pan_and_scan_min_ratio_to_activate": 1.2}
SPECIAL = {"paligemma": ["<pad>", "<bos>", "<eos>"], "gemma3": ["<pad>", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"], "llava": ["<pad>", "<s>", "</s>"], "fastvlm": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]}
OF_PICTURES = {"paligemma": ["<image>"], "gemma3": ["<start_of_image>", "<end_of_image>", "<image_soft_token>"], "llava": ["<image>"], "fastvlm": ["<image>"]}
# In our own words, with what theirs have.
PARTS = "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}{% if part['type'] == 'image' %}{{ 'IMAGE' }}{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}"
TEMPLATES = {
    "gemma3": "{{ bos_token }}{% for message in messages %}{{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' }}" + PARTS.replace("IMAGE", "<start_of_image>") + "{{ '<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}",
    "llava": "{% for message in messages %}{{ message['role'] | upper + ': ' }}" + PARTS.replace("IMAGE", "<image>\\n") + "{{ '</s>' if message['role'] == 'assistant' else ' ' }}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}",
    "fastvlm": "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}" + PARTS.replace("IMAGE", "<image>\\n") + "{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
}


def tokenizer_of(name, folder, texts, kind=PreTrainedTokenizerFast):
    if (folder / "tokenizer.json").exists():
        return kind.from_pretrained(folder)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=330, special_tokens=SPECIAL[name], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(one, special=True, normalized=False) for one in OF_PICTURES[name]])
    pad, bos, eos = SPECIAL[name][:3]
    extra = {"image_token": "<image>"} if name != "gemma3" else {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
    return kind(
        tokenizer_object=tokenizer, bos_token=bos, eos_token="<end_of_turn>" if name == "gemma3" else eos, pad_token=pad, chat_template=TEMPLATES.get(name), additional_special_tokens=OF_PICTURES[name], extra_special_tokens=extra)


def build(name, tokenizer):
    ids = {key: getattr(tokenizer, key) for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    text = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512, "vocab_size": len(tokenizer),
        "tie_word_embeddings": False, **ids}
    vision = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": SIDE, "patch_size": PATCH}
    if name == "gemma3":
        text |= {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 512, "query_pre_attn_scalar": 8}
        config = transformers.Gemma3Config(
            text_config=text, vision_config={**vision, "vision_use_head": False}, mm_tokens_per_image=4, tie_word_embeddings=False, **ids, eoi_token_index=tokenizer.convert_tokens_to_ids("<end_of_image>"),
            boi_token_index=tokenizer.convert_tokens_to_ids("<start_of_image>"), image_token_index=tokenizer.convert_tokens_to_ids("<image_soft_token>"))
        config._attn_implementation = "eager"
        images = transformers.Gemma3ImageProcessor(
            size={"height": SIDE, "width": SIDE}, **PAN_AND_SCAN)
        processor = transformers.Gemma3Processor(images, tokenizer, chat_template=TEMPLATES[name], image_seq_length=4)
        return transformers.Gemma3ForConditionalGeneration(config).eval(), processor
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", **text}, vision_config={"model_type": "clip_vision_model", "projection_dim": 16, **vision}, image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2, vision_feature_select_strategy="default", tie_word_embeddings=False)
    config._attn_implementation = "eager"
    images = transformers.CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    # One token of CLIP's is left out, and counted here.
    processor = transformers.LlavaProcessor(images, tokenizer, patch_size=PATCH, vision_feature_select_strategy="default", chat_template=TEMPLATES[name], num_additional_image_tokens=1)
    return transformers.LlavaForConditionalGeneration(config).eval(), processor


class Vision(torch.nn.Module):
    """Pictures of one size → the vectors of their tokens."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        inner = self.model.model
        if isinstance(self.model, (transformers.Gemma3ForConditionalGeneration, transformers.PaliGemmaForConditionalGeneration)):
            return inner.get_image_features(pixel_values)
        # Without transformers' list of a part for each picture, whose length would be a constant.
        hidden = inner.vision_tower(pixel_values, output_hidden_states=True).hidden_states[self.model.config.vision_feature_layer]
        return inner.multi_modal_projector(hidden[:, 1:])


def cached(past):
    cache = DynamicCache()
    for layer in range(len(past) // 2):
        cache.update(past[2 * layer], past[2 * layer + 1], layer)
    return cache


def states_of(cache):
    return [one for layer in cache.layers for one in (layer.keys, layer.values)]


class Text(torch.nn.Module):
    """The vectors of tokens, the mask, positions and the cache → logits, and the cache after them."""

    INPUTS = ("inputs_embeds", "attention_mask", "position_ids")

    def __init__(self, model):
        super().__init__()
        self.decoder, self.head = model.model.language_model, model.lm_head

    def forward(self, inputs_embeds, attention_mask, position_ids, *past):
        cache = cached(past)
        length, total = inputs_embeds.shape[1], attention_mask.shape[1]
        seen = torch.arange(total)[None] <= torch.arange(total - length, total)[:, None]
        allowed = seen[None, None] & (attention_mask[:, None, None] > 0)
        mask = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)
        # Gemma's windows are larger than any prompt here.
        masks = {"full_attention": mask, "sliding_attention": mask} if hasattr(self.decoder.config, "layer_types") and self.decoder.config.layer_types else mask
        hidden = self.decoder(inputs_embeds=inputs_embeds, attention_mask=masks, position_ids=position_ids, past_key_values=cache, use_cache=True, cache_position=torch.arange(total - length, total)).last_hidden_state
        return (self.head(hidden), *states_of(cache))


def export(model, folder, clean, vision=None, side=SIDE, text=None):
    """Writes encoder and decoder. Returns the table of the tokens' vectors."""
    with tempfile.TemporaryDirectory() as target, torch.no_grad():
        path = pathlib.Path(target) / "model.onnx"
        torch.onnx.export(
            (vision or Vision(model)).eval(), (torch.rand(2, 3, side, side),), path, input_names=["pixel_values"], output_names=["image_features"], dynamo=False, opset_version=17,
            dynamic_axes={"pixel_values": {0: "batch_size"}, "image_features": {0: "batch_size"}})
        onnx.save(clean(onnx.load(path)), folder / "vision_encoder.onnx")
        config = model.config.text_config
        names = [f"{layer}.{part}" for layer in range(config.num_hidden_layers) for part in ("key", "value")]
        past = [torch.rand(2, config.num_key_value_heads, 3, config.head_dim) for _ in names]
        axes = {"inputs_embeds": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length"}, "position_ids": {0: "batch_size", 1: "sequence_length"}, "logits": {0: "batch_size", 1: "sequence_length"}}
        given = {"inputs_embeds": torch.rand(2, 4, config.hidden_size), "attention_mask": torch.ones(2, 7, dtype=torch.int64), "position_ids": torch.arange(3, 7).expand(2, 4).contiguous()}
        text = text or Text(model)
        for one in names:
            axes[f"past_key_values.{one}"] = {0: "batch_size", 2: "past_sequence_length"}
            axes[f"present.{one}"] = {0: "batch_size", 2: "total_sequence_length"}
        torch.onnx.export(
            text.eval(), (*[given[one] for one in text.INPUTS], *past), path,
            input_names=[*text.INPUTS, *[f"past_key_values.{one}" for one in names]], output_names=["logits", *[f"present.{one}" for one in names]],
            dynamo=False, opset_version=17, dynamic_axes=axes)
        onnx.save(clean(onnx.load(path)), folder / "decoder_model_merged.onnx")
        # Gemma's are scaled, and its pictures' are not.
        return model.get_input_embeddings()(torch.arange(config.vocab_size)[None])[0].detach().numpy()
