"""Models of texts without a head, as exporters write them: rows of text_feature_extractor for classes that no repository of sentence-transformers stands for."""
import functools

import numpy as np
import torch

import transformers

from common import IS_NEWEST, kebab, small, spread, tokenizer_of
from families import GROUPED, MOE, NEWEST, REFUSED, ROUTED, SEES, T5, check_sees, export_text, family_models, without
from text_generator import families
from writers import NEWEST_MORE

TEXTS = ["The cat sat on the mat.", "What is the time in London? Once upon a time there was a small island."]
# By the name of the class without `Model`: what `families.py` does not have.
OTHERS = {
    "DistilBert": ("word_piece", {"dim": 16, "hidden_dim": 24, "n_layers": 2, "n_heads": 2}),
    "MT5Encoder": ("unigram", T5),
    "Roberta": ("byte_level", {"type_vocab_size": 1}),
    "T5Encoder": ("unigram", T5),
    "UMT5Encoder": ("unigram", T5),
    "Granite": ("byte_level", {"num_key_value_heads": 1}),
    "Olmo": ("byte_level", {"num_key_value_heads": 1}),
    "Olmo2": ("byte_level", {"num_key_value_heads": 1}),
}
# Of transformers 5.24: the halves of texts of models of images.
AXES = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}}
HALF_AXES = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 0], "partial_rotary_factor": 0.5}}
NEWEST_OTHERS = {
    "Cosmos3EdgeText": ("byte_level", {**GROUPED, **AXES}),
    "EmbeddingGemma2Text": ("byte_level", {**GROUPED, "global_head_dim": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"], "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 420}),
    "Glm4vText": ("byte_level", {"num_key_value_heads": 1, **AXES}),
    "Glm4vMoeText": ("byte_level", {**ROUTED, **HALF_AXES}),
    "GlmImageText": ("byte_level", {"num_key_value_heads": 1, **HALF_AXES}),
    "GlmOcrText": ("byte_level", {**GROUPED, **HALF_AXES}),
    "GraniteDoclingText": ("byte_level", {"num_key_value_heads": 1}),
    "HYV4VLText": ("byte_level", {**NEWEST_MORE["HYV4"][1], "rope_parameters": {**AXES["rope_parameters"], "mrope_section": [1, 1, 0]}}),
    "HunYuanVLText": ("byte_level", {**GROUPED, "rope_parameters": {**AXES["rope_parameters"], "mrope_section": [1, 1, 1, 1]}}),
    "MuseGlimmerText": ("byte_level", {**GROUPED, "sliding_window": 8}),
    "MuseSparkText": ("byte_level", {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "moe_hidden_size": 16, "sliding_window": 8}),
    "Qwen2VLText": ("byte_level", {"num_key_value_heads": 1, **AXES}),
    "Qwen2_5_VLText": ("byte_level", {"num_key_value_heads": 1, **AXES}),
    "Qwen3VLText": ("byte_level", {**GROUPED, **AXES}),
    "Qwen3VLMoeText": ("byte_level", {**MOE, **AXES}),
    "T5GemmaEncoder": NEWEST["T5Gemma"],
    "Tipsv2Text": ("word_piece", {}),
}
# With the usual scale the sums of these states are too large for float32.
SCALES = {"NemotronH": 0.2, "Zamba2": 0.2}
# The half of texts of a model of images and texts: its vector is that of the text's end.
PAIRED = [("CLIPTextModel", "CLIPTextConfig", "pooler_output"), ("CLIPTextModelWithProjection", "CLIPTextConfig", "text_embeds"), ("MetaClip2TextModelWithProjection", "MetaClip2TextConfig", "text_embeds"), ("ClapTextModelWithProjection", "ClapTextConfig", "text_embeds")]


def unit(vector):
    return vector / np.linalg.norm(vector)


def vector(model, tokenizer, text, pooling):
    encoded = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        tokens = model(**encoded).last_hidden_state[0].numpy()
    return unit({"mean": tokens.mean(0), "cls": tokens[0], "last-token": tokens[-1]}[pooling])


def bare_rows(compared=()):
    """@param compared the classes that have a row"""
    for repository, model, tokenizer in family_models("vectors", ["last_hidden_state"], compared, more=NEWEST_OTHERS if IS_NEWEST else OTHERS):
        yield row(repository, model, tokenizer)


def row(repository, model, tokenizer):
    # Models that write read from left to right: their last token has seen the text.
    other = "last-token" if tokenizer.name_or_path.endswith("byte_level") else "cls"
    requests = [
        {"input": text, "params": {} if pooling == "mean" else {"pooling": pooling}, "answer": vector(model, tokenizer, text, pooling)} for text, pooling in zip(TEXTS, ["mean", other])]
    check_sees(model, *(vector(model, tokenizer, text, "mean") for text in TEXTS))
    return {"architecture": type(model).__name__, "repository": repository, "requests": requests}


def writer_rows(compared):
    """The models that write of `text_generator.py`, without their heads. @param compared the classes that have a row"""
    for name, kind, fields in families():
        name = name.split(" ")[0]
        model_class = next((found for ending in ("TextModel", "Model") if (found := getattr(transformers, name + ending, None))), None)
        if "is_decoder" not in fields and model_class and model_class.__name__ not in compared:
            yield writer_row(name, model_class, kind, fields)


def writer_row(name, model_class, kind, fields):
    tokenizer = tokenizer_of(kind)
    config_class = getattr(transformers, model_class.__name__.replace("Model", "Config"))
    config = small(functools.partial(without, config_class, REFUSED.get(name, [])), kind, **fields)
    model = spread(model_class._from_config(config, attn_implementation="eager"), scale=SCALES.get(name, 0.3))
    repository = f"vectors-{kebab(name)}"
    export_text(repository, model, tokenizer, ["last_hidden_state"])
    return row(repository, model, tokenizer)


def positions_row():
    """Exported with its positions, which are counted from the padding's id on."""
    tokenizer = tokenizer_of("unigram")
    model = spread(transformers.XLMRobertaXLModel._from_config(small(transformers.XLMRobertaXLConfig, "unigram", type_vocab_size=1), attn_implementation="eager"))
    repository = "vectors-xlm-roberta-xl-positions"
    export_text(repository, model, tokenizer, ["last_hidden_state"], has_positions=True)
    return row(repository, model, tokenizer)


def paired_rows():
    for name, config_name, output in PAIRED:
        kind = "byte_level" if "Clap" in name else "clip"
        tokenizer = tokenizer_of(kind)
        model = spread(getattr(transformers, name)._from_config(small(getattr(transformers, config_name), kind, projection_dim=12), attn_implementation="eager"))
        repository = f"vectors-{kebab(name)}"
        export_text(repository, model, tokenizer, ["last_hidden_state", output] if output == "pooler_output" else [output, "last_hidden_state"])
        requests = []
        for text in TEXTS:
            with torch.no_grad():
                requests.append({"input": text, "params": {}, "answer": unit(model(**tokenizer(text, return_tensors="pt"))[output][0].numpy())})
        check_sees(model, *(request["answer"] for request in requests))
        yield {"architecture": name, "repository": repository, "requests": requests}


def query_row():
    """BLIP-2's texts: each token has a vector, and the first one is compared with images."""
    tokenizer = tokenizer_of("word_piece")
    queries = small(dict, "word_piece", encoder_hidden_size=16, use_qformer_text_input=True)
    config = transformers.Blip2Config(vision_config=SEES, qformer_config=queries, image_text_hidden_size=12, num_query_tokens=4)
    model = spread(transformers.Blip2TextModelWithProjection._from_config(config, attn_implementation="eager"))
    repository = "vectors-blip2-text-model-with-projection"
    export_text(repository, model, tokenizer, ["text_embeds", "last_hidden_state"])
    requests = []
    for text in TEXTS:
        with torch.no_grad():
            requests.append({"input": text, "params": {}, "answer": unit(model(**tokenizer(text, return_tensors="pt")).text_embeds[0, 0].numpy())})
    check_sees(model, *(request["answer"] for request in requests))
    return {"architecture": type(model).__name__, "repository": repository, "requests": requests}
