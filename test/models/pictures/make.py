"""Makes language models that read pictures, of real architectures with random weights, in the layout of Hugging Face's
repositories: `embed_tokens`, `decoder_model_merged` and `vision_encoder`. `expected.json` has what transformers itself
answers with them.

    python test/models/pictures/make.py [NAME ...]

Needs torch, transformers 4.57, optimum-onnx, onnx, onnxruntime, tokenizers, num2words and Pillow 12. The decoder is exported by
optimum as a model of texts with the same weights, and its table of embeddings is cut off, as the exports on the Hub have
it. The weights come from a fixed seed.
"""
import hashlib
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
import transformers
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

import fixed_size
import paligemma

HERE = pathlib.Path(__file__).resolve().parent
NEW_TOKENS = 16
TEXTS = [
    "What is in this picture? Describe the image, please.", "A cat sits on a mat beside a door.", "User: Assistant: one two three",
    "der Hund läuft über die Brücke", "1 2 3 4 5 6 7 8 9 10 100 2026", "naïve café 東京 👋🏽",
]
# In our own words, with what SmolVLM's has: parts of pictures and texts in their order, the end of an utterance.
TEMPLATE = (
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}{% if message['content'][0]['type'] == 'image' %}{{ ':' }}{% else %}{{ ': ' }}{% endif %}"
    "{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}{% elif part['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}"
    "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
SPLITS = 4
SMOL = ("smolvlm", "granite-docling")
# What granite-docling writes pages in, and its template in our own words.
DOCTAGS = [f"<{slash}{name}>" for name in ("doctag", "text", "otsl", "section_header_level_1") for slash in ("", "/")] + ["<fcel>", "<nl>"] + [f"<loc_{at}>" for at in range(16)]
ROLES = ["<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"]
DOCLING_TEMPLATE = (
    "{% for message in messages %}{{ '<|start_of_role|>' + message['role'] + '<|end_of_role|>' }}{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}{{ '<image>' }}{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{ '<|end_of_text|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_of_role|>assistant<|end_of_role|>' }}{% endif %}"
)


def tokenizer_of(name):
    if (HERE / name / "tokenizer.json").exists():
        return PreTrainedTokenizerFast.from_pretrained(HERE / name)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    is_docling = name == "granite-docling"
    first = ROLES if is_docling else ["<|endoftext|>", "<|im_start|>", "<end_of_utterance>"]
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=330, special_tokens=first, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    places = [f"<row_{row}_col_{column}>" for row in range(1, SPLITS + 1) for column in range(1, SPLITS + 1)]
    tokenizer.add_special_tokens([AddedToken(one, special=True, normalized=False) for one in ("<fake_token_around_image>", "<image>", "<global-img>", *places, *(["<end_of_utterance>", *DOCTAGS] if is_docling else []))])
    if is_docling:
        return PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token="<|end_of_text|>", eos_token="<|end_of_text|>", pad_token="<|end_of_text|>", unk_token="<|end_of_text|>",
            chat_template=DOCLING_TEMPLATE, additional_special_tokens=["<fake_token_around_image>", "<image>"],
            extra_special_tokens={"fake_image_token": "<fake_token_around_image>", "image_token": "<image>", "end_of_utterance_token": "<end_of_utterance>", "global_image_token": "<global-img>"})
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|im_start|>", eos_token="<end_of_utterance>", pad_token="<|endoftext|>", unk_token="<|endoftext|>",
        chat_template=TEMPLATE, additional_special_tokens=["<fake_token_around_image>", "<image>", "<end_of_utterance>"],
        extra_special_tokens={"fake_image_token": "<fake_token_around_image>", "image_token": "<image>", "end_of_utterance_token": "<end_of_utterance>", "global_image_token": "<global-img>"})


def picture(width, height, seed):
    """Smooth waves and edges, the same for each seed. Returned as it is stored: pixels of RGB."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    rows = [np.sin(x / (5 + 3 * channel + seed)) * np.cos(y / (7 + seed + channel)) + (x > width / 2) * 0.5 - (y > height / 3) * 0.3 for channel in range(3)]
    values = np.stack(rows, -1)
    values = (values - values.min()) / (values.max() - values.min())
    return Image.fromarray(np.round(values * 255).astype(np.uint8))


PICTURES = {"wide.png": picture(50, 32, 1), "tall.png": picture(23, 61, 2), "small.png": picture(9, 8, 3), "narrow.png": picture(200, 2, 4)}


def spread(model, seed):
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.ndim < 2:
                continue
            value.normal_(0, 0.1 if any(part in name for part in ("embed_tokens", "lm_head")) else 0.3)


class Vision(torch.nn.Module):
    """Tiles [pictures, tiles, 3, side, side], all of whose pixels count → features [tiles, tokens, size]."""

    def __init__(self, model):
        super().__init__()
        self.tower, self.connector = model.model.vision_model, model.model.connector
        side = model.config.vision_config.image_size // model.config.vision_config.patch_size
        # As transformers counts them: 1e-6 below a boundary is the place before it.
        coordinates = torch.bucketize(torch.arange(side) / side * (1 - 1e-6), torch.arange(1 / side, 1.0, 1 / side), right=True)
        self.register_buffer("places", (coordinates[:, None] * side + coordinates).flatten()[None])

    def forward(self, pixel_values, pixel_attention_mask):
        pixels = pixel_values.flatten(0, 1) * pixel_attention_mask.flatten(0, 1)[:, None].to(pixel_values.dtype)
        embedded = self.tower.embeddings.patch_embedding(pixels).flatten(2).transpose(1, 2) + self.tower.embeddings.position_embedding(self.places)
        hidden = self.tower.post_layernorm(self.tower.encoder(inputs_embeds=embedded).last_hidden_state)
        return self.connector(hidden)


def clean(graph):
    for node in graph.graph.node:
        node.doc_string = ""
    graph.doc_string = ""
    return graph


def export_vision(model, folder, side):
    example = (torch.rand(1, 2, 3, side, side), torch.ones(1, 2, side, side, dtype=torch.bool))
    with tempfile.TemporaryDirectory() as target:
        path = pathlib.Path(target) / "vision.onnx"
        torch.onnx.export(
            Vision(model).eval(), example, str(path), input_names=["pixel_values", "pixel_attention_mask"], output_names=["image_features"], dynamo=False, opset_version=17,
            dynamic_axes={"pixel_values": {0: "batch_size", 1: "num_images", 2: "channels", 3: "height", 4: "width"}, "pixel_attention_mask": {0: "batch_size", 1: "num_images", 2: "height", 3: "width"}, "image_features": {0: "num_patches"}})
        onnx.save(clean(onnx.load(path)), folder / "vision_encoder.onnx")


def export_text(text_model, folder):
    """The decoder without its table, which is returned."""
    # It needs transformers 4, and fastvlm.py, which uses the rest of this file, 5.
    from optimum.exporters.onnx import main_export

    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
        text_model.save_pretrained(source)
        main_export(source, target, task="text-generation-with-past", do_validation=False, no_dynamic_axes=False, device="cpu")
        graph = clean(onnx.load(pathlib.Path(target) / "model.onnx"))
    hidden = text_model.config.hidden_size
    embedded = [node for node in graph.graph.node if node.op_type == "Gather" and list(node.input)[1] == "input_ids"]
    assert len(embedded) == 1, [node.name for node in embedded]
    [node] = embedded
    table = next(one for one in graph.graph.initializer if one.name == node.input[0])
    for other in graph.graph.node:
        for index, name in enumerate(other.input):
            if name == node.output[0]:
                other.input[index] = "inputs_embeds"
    graph.graph.node.remove(node)
    ids = next(one for one in graph.graph.input if one.name == "input_ids")
    # What is left of the tokens is their number.
    for other in graph.graph.node:
        for index, name in enumerate(other.input):
            if name == "input_ids":
                assert other.op_type == "Shape", other.op_type
                other.input[index] = "inputs_embeds"
    at = list(graph.graph.input).index(ids)
    graph.graph.input.remove(ids)
    graph.graph.input.insert(at, helper.make_tensor_value_info("inputs_embeds", TensorProto.FLOAT, ["batch_size", "sequence_length", hidden]))
    onnx.checker.check_model(graph)
    onnx.save(graph, folder / "decoder_model_merged.onnx")
    return numpy_helper.to_array(table)


def export_table(table, folder):
    embed = helper.make_model(
        helper.make_graph(
            [helper.make_node("Gather", ["table", "input_ids"], ["inputs_embeds"])], "embed_tokens",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])],
            [helper.make_tensor_value_info("inputs_embeds", TensorProto.FLOAT, ["batch_size", "sequence_length", table.shape[1]])],
            [numpy_helper.from_array(table, "table")]),
        opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(embed, folder / "embed_tokens.onnx")


def make_smolvlm(name):
    """SmolVLM, or granite-docling, which is an Idefics 3."""
    tokenizer = tokenizer_of(name)
    ids = {"image_token_id": tokenizer.convert_tokens_to_ids("<image>"), **{key: getattr(tokenizer, key) for key in ("pad_token_id", "bos_token_id", "eos_token_id")}}
    side, patch, scale = 32, 8, 2
    text = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 512, "vocab_size": len(tokenizer), "tie_word_embeddings": False, **{key: ids[key] for key in ("pad_token_id", "bos_token_id", "eos_token_id")}}
    vision = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": side, "patch_size": patch}
    kind = "Idefics3" if name == "granite-docling" else "SmolVLM"
    config = getattr(transformers, f"{kind}Config")(text_config=text, vision_config=vision, scale_factor=scale, image_token_id=ids["image_token_id"], pad_token_id=ids["pad_token_id"], tie_word_embeddings=False)
    config._attn_implementation = "eager"
    model = getattr(transformers, f"{kind}ForConditionalGeneration")(config).eval()
    processor = getattr(transformers, f"{kind}Processor")(
        image_processor=getattr(transformers, f"{kind}ImageProcessor")(size={"longest_edge": 4 * side}, max_image_size={"longest_edge": side}, image_mean=[0.5] * 3, image_std=[0.5] * 3),
        tokenizer=tokenizer, image_seq_len=(side // patch // scale) ** 2, chat_template=tokenizer.chat_template, **({"video_processor": transformers.SmolVLMVideoProcessor()} if kind == "SmolVLM" else {}))
    return model, processor, side


def asked(name=None):
    """Conversations: a picture and a question; two pictures; a picture in an earlier message; none."""
    image, text = {"type": "image"}, lambda words: {"type": "text", "text": words}
    user, said = (lambda *parts: {"role": "user", "content": list(parts)}), (lambda words: {"role": "assistant", "content": [text(words)]})
    if name == paligemma.NAME:
        # It answers one message. The first two begin with the same picture.
        return [
            (["wide.png"], [user(image, text("What is in this picture?"))]),
            (["wide.png"], [user(image, text("A cat on a mat? Describe it."))]),
            (["tall.png", "small.png"], [user(text("Describe "), image, text(" and "), image, text(", please."))]),
            ([], [user(text("Describe a cat."))]),
        ]
    return [
        (["wide.png"], [user(image, text("What is in this picture?"))]),
        (["tall.png", "small.png"], [user(text("Describe "), image, text(" and "), image, text(", please."))]),
        (["small.png"], [user(image, text("What is it?")), said("A cat."), user(text("And beside it?"))]),
        ([], [user(text("Describe a cat."))]),
    ]


def is_decided(found):
    best = [logits[0].topk(2).values for logits in found.logits]
    return all(first - second > 1e-3 for first, second in best)


def answer(model, processor, images, messages):
    if isinstance(processor, transformers.PaliGemmaProcessor):
        inputs = paligemma.inputs(processor, [PICTURES[one] for one in images], messages)
        return inputs, generated(model, inputs)
    text = processor.apply_chat_template(messages, add_generation_prompt=True)
    # Its processor has defaults of its own, which win over the image processor's.
    more = fixed_size.PAN_AND_SCAN if isinstance(processor, transformers.Gemma3Processor) else {}
    inputs = processor(text=text, images=[PICTURES[one] for one in images] or None, return_tensors="pt", **more)
    inputs.pop("token_type_ids", None)
    return inputs, generated(model, inputs)


def generated(model, inputs):
    with torch.no_grad():
        return model.generate(**inputs, do_sample=False, max_new_tokens=NEW_TOKENS, output_logits=True, return_dict_in_generate=True)


def export_smolvlm(model, folder, side):
    export_vision(model, folder, side)
    text_model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**{key: value for key, value in model.config.text_config.to_dict().items() if key not in ("model_type", "architectures")})).eval()
    text_model.model.load_state_dict(model.model.text_model.state_dict())
    text_model.lm_head.load_state_dict(model.lm_head.state_dict())
    return export_text(text_model, folder)


def make(name):
    # As optimum, they need transformers 4.
    import lfm2_vl
    import qwen_vl

    folder = HERE / name
    # What `spread` leaves as it is.
    torch.manual_seed(0)
    if name in SMOL:
        model, processor, side = make_smolvlm(name)
    elif name == "lfm2-vl":
        model, processor = lfm2_vl.build(lfm2_vl.tokenizer_of(folder, TEXTS))
    elif name == paligemma.NAME:
        model, processor = paligemma.build(fixed_size.tokenizer_of(name, folder, TEXTS, transformers.GemmaTokenizerFast))
    elif name in fixed_size.FAMILIES:
        model, processor = fixed_size.build(name, fixed_size.tokenizer_of(name, folder, TEXTS))
    else:
        model, processor = qwen_vl.build(name, qwen_vl.tokenizer_of(folder, TEXTS))
    for seed in range(200):
        spread(model, seed)
        answers = [answer(model, processor, *one) for one in asked(name)]
        if all(is_decided(found) and len(set(found.sequences[0, inputs["input_ids"].shape[1]:].tolist())) >= 8 for inputs, found in answers) and (name != "granite-docling" or is_tagged(processor, answers)):
            break
    else:
        raise SystemExit("no seed gives answers that are decided")
    shutil.rmtree(folder / "onnx", ignore_errors=True)
    (folder / "onnx").mkdir(parents=True)
    processor.save_pretrained(folder)
    for file in ("special_tokens_map.json", "video_preprocessor_config.json", "added_tokens.json", "merges.txt", "vocab.json"):
        (folder / file).unlink(missing_ok=True)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    # Qwen's writes it for its half of texts alone.
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "architectures": model.config.architectures}, indent=2) + "\n")
    text = model.config.text_config
    transformers.GenerationConfig(max_new_tokens=NEW_TOKENS, eos_token_id=text.eos_token_id, bos_token_id=text.bos_token_id, pad_token_id=text.pad_token_id).save_pretrained(folder)
    if name in SMOL:
        table = export_smolvlm(model, folder / "onnx", side)
    elif name == "lfm2-vl":
        table = lfm2_vl.export(model, folder / "onnx", clean)
    elif name == paligemma.NAME:
        table = fixed_size.export(model, folder / "onnx", clean, side=paligemma.SIDE, text=paligemma.OpenText(model))
    elif name in fixed_size.FAMILIES:
        table = fixed_size.export(model, folder / "onnx", clean)
    else:
        table = qwen_vl.export(name, model, folder / "onnx", clean)
    export_table(table, folder / "onnx")
    rows = rows_of(processor, answers, asked(name))
    check(folder / "onnx", model, rows, answers)
    return rows


def is_tagged(processor, answers):
    """Whether every answer has a tag in it."""
    tags = set(processor.tokenizer.convert_tokens_to_ids(DOCTAGS))
    return all(tags & set(found.sequences[0, inputs["input_ids"].shape[1]:].tolist()) for inputs, found in answers)


def rows_of(processor, answers, questions=None):
    rows = []
    for (images, messages), (inputs, found) in zip(questions or asked(), answers):
        start = inputs["input_ids"].shape[1]
        tokens = found.sequences[0, start:].tolist()
        # Tags are special tokens, as Docling's own samples read them.
        has_tags = "<doctag>" in processor.tokenizer.get_vocab()
        text = processor.tokenizer.decode([one for one in tokens if one != processor.tokenizer.eos_token_id] if has_tags else tokens, skip_special_tokens=not has_tags)
        rows.append({"images": images, "messages": messages, "inputIds": inputs["input_ids"][0].tolist(), "tiles": tiles_of(inputs), "tokens": tokens, "text": text})
    return rows


def tiles_of(inputs):
    """Every 97th value of each tile, or of each grid of patches, in the order of the tensor."""
    pixels = inputs.get("pixel_values")
    if pixels is None:
        return []
    if "image_sizes" in inputs:
        return [every_97th(one) for one in cut(inputs)]
    tiles = pixels.split([int(grid.prod()) for grid in inputs["image_grid_thw"]]) if "image_grid_thw" in inputs else pixels if pixels.ndim < 5 else pixels[0]
    return [every_97th(tile) for tile in tiles]


def every_97th(tile):
    return [round(value, 6) for value in tile.flatten()[::97].tolist()]


def cut(inputs):
    """Pictures without what makes them as large as the largest."""
    return [one[:, : int(height), : int(width)] for one, (height, width) in zip(inputs["pixel_values"], inputs["image_sizes"])]


def features_of(encoder, inputs):
    """What the encoder makes of the pictures."""
    pixels, names = inputs["pixel_values"].numpy(), [one.name for one in encoder.get_inputs()]
    if "spatial_shapes" in inputs:
        return encoder.run(None, {"pixel_values": pixels, "pixel_attention_mask": inputs["pixel_attention_mask"].numpy().astype(np.int64), "spatial_shapes": inputs["spatial_shapes"].numpy()})[0]
    if "image_sizes" in inputs:
        return np.concatenate([encoder.run(None, {"pixel_values": one[None].numpy()})[0] for one in cut(inputs)])
    if names == ["pixel_values"]:
        return encoder.run(None, {"pixel_values": pixels})[0]
    if "image_grid_thw" not in inputs:
        return encoder.run(None, {"pixel_values": pixels, "pixel_attention_mask": inputs["pixel_attention_mask"].numpy().astype(bool)})[0]
    grids = inputs["image_grid_thw"].numpy()
    parts = np.split(pixels, np.cumsum(grids.prod(1))[:-1])
    return np.concatenate([encoder.run(None, {"pixel_values": part, names[1]: grid[None]})[0] for part, grid in zip(parts, grids)])


def check(folder, model, rows, answers):
    """ONNX Runtime in Python gives the first token of transformers, before anything is compared in a browser."""
    parts = {part: onnxruntime.InferenceSession(folder / f"{part}.onnx") for part in ("embed_tokens", "decoder_model_merged", "vision_encoder")}
    for row, (inputs, _) in zip(rows, answers):
        ids = inputs["input_ids"].numpy()
        embeds = parts["embed_tokens"].run(None, {"input_ids": ids})[0]
        positions = np.arange(ids.shape[1])[None]
        if "pixel_values" in inputs:
            features = features_of(parts["vision_encoder"], inputs)
            embeds[ids == (getattr(model.config, "image_token_id", None) or model.config.image_token_index)] = features.reshape(-1, features.shape[-1])
        if hasattr(model.model, "get_rope_index"):
            # Those of transformers 5 read the kinds of tokens, too.
            kinds = {"mm_token_type_ids": inputs["mm_token_type_ids"]} if "mm_token_type_ids" in inputs else {}
            positions = model.model.get_rope_index(inputs["input_ids"], image_grid_thw=inputs.get("image_grid_thw"), **kinds)[0].numpy()
        decoder = parts["decoder_model_merged"]
        feeds = {"inputs_embeds": embeds, "attention_mask": np.ones_like(ids), "position_ids": positions}
        for one in decoder.get_inputs():
            if one.name.startswith("past"):
                feeds[one.name] = np.zeros([1, *[size if isinstance(size, int) else 0 for size in one.shape[1:]]], np.float32)
        logits = decoder.run(["logits"], {one.name: feeds[one.name] for one in decoder.get_inputs()})[0]
        assert int(logits[0, -1].argmax()) == row["tokens"][0], row


def write(made):
    """Adds rows to expected.json, by the model's name."""
    path = HERE / "expected.json"
    known = {**(json.loads(path.read_text()) if path.exists() else {}), **made}
    for name in made:
        print(name, [row["text"] for row in made[name]])
    lines = lambda rows: ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_text("{\n" + ",\n".join(f'"{name}": [\n{lines(rows)}\n]' for name, rows in known.items()) + "\n}\n")


if __name__ == "__main__":
    for file, image in PICTURES.items():
        image.save(HERE / file)
    for name in sys.argv[1:] or [*SMOL, "qwen2-vl", "qwen2.5-vl", "qwen3-vl", "lfm2-vl", *fixed_size.FAMILIES, paligemma.NAME]:
        write({name: make(name)})
