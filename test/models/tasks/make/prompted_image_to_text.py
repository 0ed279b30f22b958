"""Florence-2, which writes what a prompt asks of an image: beams of transformers' `generate`, read by its processor. The
files are those of the published exports: `vision_encoder`, `embed_tokens`, `encoder_model` and `decoder_model_merged`."""
import json
import pathlib

import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from optimum.exporters.onnx import main_export
from optimum.onnx import merge_decoders
from tokenizers import AddedToken
from transformers import (
    BartConfig, BartForConditionalGeneration, BartTokenizerFast, CLIPImageProcessor, Florence2Config, Florence2ForConditionalGeneration, Florence2Processor, GenerationConfig,
)

from common import HERE, answers, photo, save, spread, tokenizer_of

REPOSITORY = "prompted-florence2"
SIDE = 32
# 4 × 4 places, and their mean.
IMAGE_TOKENS = 17
NEW_TOKENS = 40
WORDS = ["<od>", "</od>", "<ocr>", "</ocr>", "<cap>", "</cap>", "<grounding>", "</grounding>", "<seg>", "</seg>", "<sep>", "<poly>", "</poly>", "<and>"]
LOCATIONS = [f"<loc_{at}>" for at in range(1000)]
BANNED = ["it", "the image", "they"]
POST = {kind: {} for kind in ("ocr", "pure_text", "description_with_bboxes", "description_with_polygons", "polygons", "bboxes", "description_with_bboxes_or_polygons")}
POST["phrase_grounding"] = {"banned_grounding_tokens": BANNED}


def processor_of():
    tokenizer_of("byte_level")
    tokenizer = BartTokenizerFast.from_pretrained(HERE / "tokenizers" / "byte_level")
    tokenizer.add_special_tokens({"additional_special_tokens": [AddedToken(one, special=True, normalized=False) for one in ("<image>", *WORDS, *LOCATIONS)]})
    tokenizer.image_token = "<image>"
    tokenizer.image_token_id = tokenizer.convert_tokens_to_ids("<image>")
    images = CLIPImageProcessor(
        size={"height": SIDE, "width": SIDE}, do_center_crop=False, crop_size={"height": SIDE, "width": SIDE}, image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225],
        image_seq_length=IMAGE_TOKENS)
    return tokenizer, images


def config_of(tokenizer):
    ids = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    text = BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24,
        max_position_embeddings=128, decoder_start_token_id=tokenizer.eos_token_id, forced_bos_token_id=tokenizer.bos_token_id, forced_eos_token_id=tokenizer.eos_token_id, **ids)
    vision = {
        "depths": [1, 1], "patch_size": [7, 3], "patch_stride": [4, 2], "patch_padding": [3, 1], "patch_prenorm": [False, True], "embed_dim": [8, 16], "num_heads": [2, 4], "num_groups": [2, 4],
        "window_size": 4, "projection_dim": 16, "max_position_embeddings": 8, "max_temporal_embeddings": 4}
    config = Florence2Config(text_config=text.to_dict(), vision_config=vision, image_token_id=tokenizer.image_token_id, **ids)
    config._attn_implementation = "eager"
    return config


def generation_of(tokenizer):
    # As the published file has them.
    return GenerationConfig(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, decoder_start_token_id=tokenizer.eos_token_id,
        forced_bos_token_id=tokenizer.bos_token_id, forced_eos_token_id=tokenizer.eos_token_id, num_beams=3, early_stopping=True, no_repeat_ngram_size=3)


# A size of the photo, the prompt, and what else the request has.
ASKED = [
    ((61, 47), "<CAPTION>", {}),
    ((40, 80), "<CAPTION>", {"numBeams": 1}),
    ((61, 47), "<OD>", {}),
    ((40, 80), "<DENSE_REGION_CAPTION>", {"numBeams": 1}),
    ((40, 80), "<REGION_PROPOSAL>", {}),
    ((61, 47), "<OCR_WITH_REGION>", {}),
    ((61, 47), "<CAPTION_TO_PHRASE_GROUNDING>A cat on the mat", {}),
    ((40, 80), "<REFERRING_EXPRESSION_SEGMENTATION>the dog by the door", {}),
    ((40, 80), "<REGION_TO_SEGMENTATION><loc_100><loc_200><loc_300><loc_400>", {}),
    ((61, 47), "<OPEN_VOCABULARY_DETECTION>cat", {}),
    ((61, 47), "What is in this image?", {}),
]
# transformers' processor quantizes it.
BOX = [10, 5, 50.5, 40]


def without_table(graph, hidden):
    """Makes a graph of tokens one of their vectors. Returns the table."""
    [node] = [one for one in graph.graph.node if one.op_type == "Gather" and list(one.input)[1] in ids_of(graph)]
    table = next(numpy_helper.to_array(one) for one in graph.graph.initializer if one.name == node.input[0])
    graph.graph.node.remove(node)
    names = {node.output[0], *ids_of(graph)}
    for other in graph.graph.node:
        for index, name in enumerate(other.input):
            if name in names:
                # What is left of the tokens is their number.
                assert name == node.output[0] or other.op_type in ("Shape", "Reshape"), (other.op_type, name)
                other.input[index] = "inputs_embeds"
    ids = next(one for one in graph.graph.input if one.name in ("input_ids", "decoder_input_ids"))
    dims = [one.dim_param or one.dim_value for one in ids.type.tensor_type.shape.dim]
    at = list(graph.graph.input).index(ids)
    graph.graph.input.remove(ids)
    graph.graph.input.insert(at, helper.make_tensor_value_info("inputs_embeds", TensorProto.FLOAT, [*dims, hidden]))
    return table


def ids_of(graph):
    """The names of the tokens, also where they were given another shape."""
    names = {"input_ids", "decoder_input_ids"}
    for node in graph.graph.node:
        if node.op_type == "Reshape" and node.input[0] in names:
            names.add(node.output[0])
    return names


def export(model, source, target):
    target, hidden = pathlib.Path(target), model.config.text_config.d_model
    text = BartForConditionalGeneration(model.config.text_config).eval()
    text.model.load_state_dict(model.model.language_model.state_dict())
    text.lm_head.load_state_dict(model.lm_head.state_dict())
    text.generation_config = GenerationConfig()
    folder = target / "text"
    text.save_pretrained(folder)
    main_export(str(folder), str(folder), task="text2text-generation-with-past", do_validation=False, no_post_process=True, device="cpu")
    table = None
    for name in ("encoder_model", "decoder_model", "decoder_with_past_model"):
        graph = onnx.load(folder / f"{name}.onnx")
        table = without_table(graph, hidden)
        onnx.checker.check_model(graph)
        onnx.save(graph, folder / f"{name}.onnx")
    onnx.save(onnx.load(folder / "encoder_model.onnx"), target / "encoder_model.onnx")
    merge_decoders(folder / "decoder_model.onnx", folder / "decoder_with_past_model.onnx", save_path=target / "decoder_model_merged.onnx", strict=False)
    embed = helper.make_model(
        helper.make_graph(
            [helper.make_node("Gather", ["table", "input_ids"], ["inputs_embeds"])], "embed_tokens",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])],
            [helper.make_tensor_value_info("inputs_embeds", TensorProto.FLOAT, ["batch_size", "sequence_length", hidden])],
            [numpy_helper.from_array(table, "table")]),
        opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(embed, target / "embed_tokens.onnx")
    with torch.no_grad():
        torch.onnx.export(
            Vision(model).eval(), (torch.rand(1, 3, SIDE, SIDE),), target / "vision_encoder.onnx", input_names=["pixel_values"], output_names=["image_features"],
            dynamic_axes={"pixel_values": {0: "batch_size"}, "image_features": {0: "batch_size"}}, opset_version=17, dynamo=False)


class Vision(torch.nn.Module):
    """Pixels → the vectors that stand before the prompt's."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return self.model.get_image_features(pixel_values)


def points(flat):
    return [[int(x), int(y)] for x, y in zip(flat[::2], flat[1::2])]


def box_of(corners):
    return dict(zip(("xmin", "ymin", "xmax", "ymax"), (int(one) for one in corners)))


def regions_of(found):
    """What transformers' processor answers, as TabServe does; None for a text."""
    if isinstance(found, str):
        return None
    boxes = [{"label": label, "box": box_of(box)} for label, box in zip(found.get("bboxes_labels", found.get("labels")), found.get("bboxes", []))]
    quads = [{"label": label, "quad": points(quad)} for label, quad in zip(found.get("labels", []), found.get("quad_boxes", []))]
    shapes = [{"label": label, "polygons": [points(one) for one in polygons]} for label, polygons in zip(found.get("polygons_labels", found.get("labels")), found.get("polygons", []))]
    return [*boxes, *quads, *shapes]


def asked_of(processor, size, prompt, extra):
    return {"input": {"image": {"photo": list(size)}, "prompt": prompt}, "params": {"maxNewTokens": NEW_TOKENS, **extra}}


def answer_of(model, processor, size, prompt, extra):
    inputs = processor(text=prompt, images=photo(*size), return_tensors="pt")
    beams = extra.get("numBeams", 3)
    with torch.no_grad():
        [ids] = model.generate(**inputs, max_new_tokens=NEW_TOKENS, do_sample=False, **({"num_beams": beams} if beams > 1 else {"num_beams": 1, "early_stopping": False})).tolist()
    text = processor.tokenizer.decode(ids, skip_special_tokens=False)
    task = prompt[: prompt.index(">") + 1] if prompt.startswith("<") else prompt
    found = processor.post_process_generation(text, task=task, image_size=size)[task]
    regions = regions_of(found)
    raw = text.replace("<s>", "").replace("</s>", "").replace("<pad>", "").strip()
    assert regions is not None or raw == found, (raw, found)
    # Without the token that the decoder begins with.
    return {"text": raw, **({} if regions is None else {"regions": regions}), "usage": {"promptTokens": inputs["input_ids"].shape[1], "completionTokens": len(ids) - 1}}


def make():
    tokenizer, images = processor_of()
    processor = Florence2Processor(images, tokenizer, post_processor_config=POST)
    config = config_of(tokenizer)
    region = "".join(f"<loc_{one}>" for one in processor.post_processor.quantize(torch.tensor([BOX]), (61, 47))[0].tolist())
    for seed in range(500):
        torch.manual_seed(seed)
        model = spread(Florence2ForConditionalGeneration(config), seed, scale=0.5)
        model.generation_config = generation_of(tokenizer)
        found = [answer_of(model, processor, *one) for one in ASKED]
        if varied(found):
            break
    else:
        raise SystemExit("No weights give answers with regions.")
    print("seed", seed)
    save(REPOSITORY, model, [tokenizer, images], lambda source, target: export(model, source, target))
    requests = [{**asked_of(processor, *one), "answer": answer} for one, answer in zip(ASKED, found)]
    about = answer_of(model, processor, (61, 47), f"<REGION_TO_CATEGORY>{region}", {})
    requests.append({**asked_of(processor, (61, 47), "<REGION_TO_CATEGORY>", {}), "answer": about})
    requests[-1]["input"]["box"] = BOX
    for one in requests:
        print(one["input"], one["answer"])
    finish()
    answers("prompted_image_to_text", [{"architecture": "Florence2ForConditionalGeneration", "repository": REPOSITORY, "gpu": ["webgpu"], "requests": requests}])


def varied(found):
    """Whether answers differ, and tasks of regions find some, with words."""
    texts = [one["text"] for one in found]
    regions = [one["regions"] for one in found if "regions" in one]
    named = [one for each in regions for one in each if one["label"]]
    return len(set(texts)) >= len(texts) - 1 and sum(map(bool, regions)) >= len(regions) - 2 and len(named) >= 5


def finish():
    """Makes the files what the published exports have; the added tokens are in tokenizer.json alone."""
    folder = HERE / REPOSITORY
    (folder / "processor_config.json").write_text(json.dumps({"processor_class": "Florence2Processor", "post_processor_config": POST}, indent=2) + "\n")
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in config.items() if key not in ("added_tokens_decoder", "additional_special_tokens", "extra_special_tokens")}, indent=2) + "\n")
