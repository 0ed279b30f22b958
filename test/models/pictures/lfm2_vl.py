"""LFM2-VL: tiles of patches with their own shapes, and a decoder with convolutions."""
import pathlib
import sys
import tempfile
import unittest.mock

import onnx
import torch
import transformers
from PIL import Image
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from torchvision.transforms.v2 import functional as F
from transformers import PreTrainedTokenizerFast
from transformers.models.lfm2.modeling_lfm2 import Lfm2ShortConv

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tasks/make"))
import text_generator

PATCH, FACTOR, TILE, TILES = 4, 2, 24, 4
SPECIAL = ["<|pad|>", "<|startoftext|>", "<|im_start|>", "<|im_end|>"]
OF_PICTURES = ["<image>", "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>", *[f"<|img_row_{row}_col_{column}|>" for row in range(1, TILES + 1) for column in range(1, TILES + 1)]]
# In our own words, with what LFM2-VL's has.
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}{{ '<image>' }}{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}"
    "{% endif %}{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def tokenizer_of(folder, texts):
    if (folder / "tokenizer.json").exists():
        return PreTrainedTokenizerFast.from_pretrained(folder)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=330, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(one, special=True, normalized=False) for one in OF_PICTURES])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|startoftext|>", eos_token="<|im_end|>", pad_token="<|pad|>", chat_template=TEMPLATE, additional_special_tokens=OF_PICTURES,
        extra_special_tokens={"image_token": "<image>", "image_start_token": "<|image_start|>", "image_end_token": "<|image_end|>", "image_thumbnail": "<|img_thumbnail|>"})


def resize(image, size, interpolation=None, antialias=True):
    """Pillow's, which torchvision's comes near to."""
    made = [F.pil_to_tensor(F.to_pil_image(one).resize((size[1], size[0]), Image.Resampling.BILINEAR)) for one in image]
    return torch.stack(made)


def rows_first(crop):
    """Transformers 4.57 takes rows for columns; later ones do not."""
    def cropped(*args, **kwargs):
        images, columns, rows = crop(*args, **kwargs)
        return images, rows, columns
    return cropped


def once(expand):
    """Transformers 4.57 writes the text between two pictures twice; later ones do not."""
    def expanded(self, text, images, image_rows, image_cols, image_sizes, **given):
        [whole], [pictures] = text, images
        first, *others = whole.split(self.image_token)
        of = lambda at: expand(self, [self.image_token], [[pictures[at]]], image_rows=image_rows[at : at + 1], image_cols=image_cols[at : at + 1], image_sizes=image_sizes[at : at + 1], **given)[0]
        return [first + "".join(of(at) + part for at, part in enumerate(others))]
    return expanded


def build(tokenizer):
    text = {
        "model_type": "lfm2", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512, "vocab_size": len(tokenizer),
        "conv_L_cache": 3, "layer_types": ["conv", "full_attention", "conv"], "block_auto_adjust_ff_dim": False, "block_ff_dim": 48, "tie_word_embeddings": False,
        "pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    # As few places that no picture has fewer: so each is between two of them.
    vision = {"model_type": "siglip2_vision_model", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "patch_size": PATCH, "num_patches": 4, "vision_use_head": False}
    config = transformers.Lfm2VlConfig(text_config=text, vision_config=vision, image_token_id=tokenizer.convert_tokens_to_ids("<image>"), projector_hidden_size=24, downsample_factor=FACTOR, tie_word_embeddings=False)
    config._attn_implementation = config.text_config._attn_implementation = config.vision_config._attn_implementation = "eager"
    model = transformers.Lfm2VlForConditionalGeneration(config).eval()
    images = transformers.Lfm2VlImageProcessorFast(
        encoder_patch_size=PATCH, downsample_factor=FACTOR, tile_size=TILE, min_tiles=2, max_tiles=TILES, min_image_tokens=4, max_image_tokens=9, max_pixels_tolerance=2.0, use_thumbnail=True, do_image_splitting=True)
    processor = transformers.Lfm2VlProcessor(image_processor=images, tokenizer=tokenizer, chat_template=TEMPLATE)
    unittest.mock.patch.object(type(processor), "expand_text_with_placeholders", once(type(processor).expand_text_with_placeholders)).start()
    unittest.mock.patch.object(sys.modules[type(images).__module__].F, "resize", resize).start()
    unittest.mock.patch.object(type(images), "crop_image_to_patches", rows_first(type(images).crop_image_to_patches)).start()
    return model, processor


class Vision(torch.nn.Module):
    """Tiles of patches, which of these count, and the shapes of the tiles → the vectors of all tiles, one after the other."""

    def __init__(self, model):
        super().__init__()
        self.tower, self.projector = model.vision_tower.vision_model, model.multi_modal_projector

    def forward(self, pixel_values, pixel_attention_mask, spatial_shapes):
        embeddings = self.tower.embeddings
        side = embeddings.position_embedding_size
        index = torch.arange(pixel_values.shape[1])[None]
        height, width = spatial_shapes[:, :1], spatial_shapes[:, 1:]
        place = lambda at, size: ((at + 0.5) * side / size - 0.5).clamp(0, side - 1)
        y, x = place((index // width).clamp(max=height - 1), height), place(index % width, width)
        top, left = y.floor().long(), x.floor().long()
        bottom, right = (top + 1).clamp(max=side - 1), (left + 1).clamp(max=side - 1)
        down, along = (y - top)[..., None], (x - left)[..., None]
        at = lambda row, column: embeddings.position_embedding(row * side + column)
        places = at(top, left) * (1 - down) * (1 - along) + at(top, right) * (1 - down) * along + at(bottom, left) * down * (1 - along) + at(bottom, right) * down * along
        mask = (1.0 - pixel_attention_mask[:, None, None].float()) * torch.finfo(torch.float32).min
        hidden = embeddings.patch_embedding(pixel_values) + places
        for layer in self.tower.encoder.layers:
            hidden = layer(hidden, mask)
        hidden = self.tower.post_layernorm(hidden)
        # Two by two patches are one token.
        token = torch.arange(pixel_values.shape[1] // FACTOR**2)[None]
        across = width // FACTOR
        row, column = token // across * FACTOR, token % across * FACTOR
        parts = [((row + down) * width + column + along).clamp(max=pixel_values.shape[1] - 1) for down in range(FACTOR) for along in range(FACTOR)]
        joined = torch.cat([torch.gather(hidden, 1, part[..., None].expand(-1, -1, hidden.shape[-1])) for part in parts], -1)
        projector = self.projector
        found = projector.linear_2(projector.act(projector.linear_1(projector.layer_norm(joined))))
        return found[token < height * width // FACTOR**2]


class Text(text_generator.Lfm2Step):
    def forward(self, embeds, mask, positions, *past):
        cache = self.cache(past)
        cache.mask = mask
        found = self.model(inputs_embeds=embeds, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True)
        return (found.logits, *self.states(cache))


def export(model, folder, clean):
    patches = max(9 * FACTOR**2, (TILE // PATCH) ** 2)
    text_model = transformers.Lfm2ForCausalLM(model.config.text_config).eval()
    text_model.model.load_state_dict(model.model.language_model.state_dict())
    text_model.lm_head.load_state_dict(model.lm_head.state_dict())
    with tempfile.TemporaryDirectory() as target, torch.no_grad():
        path = pathlib.Path(target) / "model.onnx"
        example = (torch.rand(2, patches, 3 * PATCH * PATCH), torch.ones(2, patches, dtype=torch.int64), torch.tensor([[6, 6], [4, 8]]))
        names = ["pixel_values", "pixel_attention_mask", "spatial_shapes"]
        torch.onnx.export(
            Vision(model.model).eval(), example, path, input_names=names, output_names=["image_features"], dynamo=False, opset_version=17,
            dynamic_axes={**{name: {0: "batch_size"} for name in names}, "image_features": {0: "num_tokens"}})
        onnx.save(clean(onnx.load(path)), folder / "vision_encoder.onnx")
        step, states = text_generator.first_cache(text_model)
        step = Text(text_model, step.names)
        inputs = {
            "inputs_embeds": torch.rand(2, 2, text_model.config.hidden_size), "attention_mask": torch.ones(2, 5, dtype=torch.int64), "position_ids": torch.tensor([[3, 4], [3, 4]]),
            **{f"past_{name}": state for name, state in zip(step.names, states)}}
        presents = [f"present_{name}" if name.startswith("conv") else name.replace("key_values", "present") for name in step.names]
        axes_of = lambda name, total: {0: "batch_size"} if "conv" in name else {0: "batch_size", 2: total}
        axes = {
            "inputs_embeds": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length"}, "position_ids": {0: "batch_size", 1: "sequence_length"}, "logits": {0: "batch_size", 1: "sequence_length"},
            **{f"past_{name}": axes_of(name, "past_sequence_length") for name in step.names}, **{name: axes_of(name, "total_sequence_length") for name in presents}}
        with unittest.mock.patch.object(Lfm2ShortConv, "forward", text_generator.short_conv):
            torch.onnx.export(step.eval(), tuple(inputs.values()), path, input_names=list(inputs), output_names=["logits", *presents], dynamic_axes=axes, opset_version=17, dynamo=False)
        onnx.save(clean(onnx.load(path)), folder / "decoder_model_merged.onnx")
    return model.model.language_model.embed_tokens.weight.detach().numpy()
