"""Encoder–decoder models of texts, of many families: greedy texts of transformers' `generate`. `test/models/generation` has more of four."""
import pathlib

import torch
import transformers
from optimum.exporters.onnx import main_export
from optimum.exporters.onnx.model_configs import BartOnnxConfig, PegasusOnnxConfig, T5OnnxConfig
from optimum.exporters.tasks import TasksManager
from optimum.utils import NormalizedSeq2SeqConfig
from transformers import GenerationConfig

from common import answers, kebab, save, spread, tokenizer_of
from families import BART, NEWEST, T5, wrapped

PROMPTS = ["Tell me a story about the sea", "naïve café, 東京!"]
TOKENS = 12
# Between the two likeliest tokens; with less, float32 decides.
MIN_GAP = 2e-3
MIN_KINDS = 5
SIZES = {**BART, "max_position_embeddings": 160}
T5_SIZES = {**T5, "feed_forward_proj": "gated-gelu"}


class T5GemmaOnnxConfig(T5OnnxConfig):
    """Two halves, each with a config of its own, and fewer keys than queries."""

    NORMALIZED_CONFIG_CLASS = NormalizedSeq2SeqConfig.with_args(
        hidden_size="decoder.hidden_size", vocab_size="decoder.vocab_size", encoder_num_layers="encoder.num_hidden_layers", decoder_num_layers="decoder.num_hidden_layers",
        encoder_num_attention_heads="decoder.num_key_value_heads", decoder_num_attention_heads="decoder.num_key_value_heads", key_value_dim="decoder.head_dim", allow_new=True)


# The class, the fields of its config, and the exporter's config of a family like it, where Optimum has none.
CLASSES = {
    "BigBirdPegasusForConditionalGeneration": ({**SIZES, "attention_type": "original_full"}, None),
    "BlenderbotForConditionalGeneration": (SIZES, None),
    "BlenderbotSmallForConditionalGeneration": (SIZES, None),
    "LongT5ForConditionalGeneration": ({**T5_SIZES, "local_radius": 8}, None),
    "MBartForConditionalGeneration": (SIZES, None),
    "MT5ForConditionalGeneration": (T5_SIZES, None),
    "MvpForConditionalGeneration": (SIZES, BartOnnxConfig),
    "PLBartForConditionalGeneration": (SIZES, BartOnnxConfig),
    "PegasusForConditionalGeneration": (SIZES, None),
    "PegasusXForConditionalGeneration": ({**SIZES, "block_size": 12, "num_global_tokens": 2}, PegasusOnnxConfig),
    "T5GemmaForConditionalGeneration": ({"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "tie_word_embeddings": False, **NEWEST["T5Gemma"][1]}, T5GemmaOnnxConfig),
    "UMT5ForConditionalGeneration": (T5_SIZES, T5OnnxConfig),
}


def export(source, target):
    main_export(source, target, task="text2text-generation-with-past", do_validation=False, device="cpu")
    for file in pathlib.Path(target).glob("decoder*.onnx"):
        if file.stem != "decoder_model_merged":
            file.unlink()


def asked(model, tokenizer):
    """The greedy answers, or None where they are of few kinds of tokens, or float32 decides."""
    requests = []
    for prompt in PROMPTS:
        inputs = tokenizer(prompt, return_tensors="pt")
        found = model.generate(**inputs, do_sample=False, max_new_tokens=TOKENS, output_logits=True, return_dict_in_generate=True)
        best = [logits[0].topk(2).values for logits in found.logits]
        tokens = found.sequences[0, 1:].tolist()
        if len(set(tokens)) < MIN_KINDS or any(one - other < MIN_GAP for one, other in best):
            return None
        requests.append({"input": prompt, "params": {"maxNewTokens": TOKENS}, "answer": {
            "text": tokenizer.decode(tokens, skip_special_tokens=True), "finishReason": "stop" if tokens[-1] == tokenizer.eos_token_id else "length"}})
    return requests if requests[0]["answer"]["text"] != requests[1]["answer"]["text"] else None


def row(name, fields, like):
    model_class = getattr(transformers, name)
    tokenizer = tokenizer_of("unigram")
    ids = {f"{one}_token_id": getattr(tokenizer, f"{one}_token_id") for one in ("pad", "bos", "eos")}
    start = {"decoder_start_token_id": tokenizer.eos_token_id}
    config = wrapped(name.removesuffix("ForConditionalGeneration"), model_class.config_class)(vocab_size=len(tokenizer), **{**fields, **ids, **start, "forced_eos_token_id": None, "forced_bos_token_id": None})
    if like:
        TasksManager.create_register("onnx", overwrite_existing=True)(config.model_type, "text2text-generation", "text2text-generation-with-past")(like)
    for seed in range(80):
        torch.manual_seed(seed)
        model = spread(model_class._from_config(config, attn_implementation="eager"), seed, scale=[0.3, 0.6, 1, 0.15][seed % 4])
        model.generation_config = GenerationConfig(**ids, **start)
        requests = asked(model, tokenizer)
        if requests:
            break
    else:
        raise SystemExit(f"{name}: no weights write several tokens.")
    repository = f"rewrite-{kebab(name.removesuffix('ForConditionalGeneration').removesuffix('MTModel'))}"
    save(repository, model, [tokenizer], export)
    return {"architecture": name, "repository": repository, "requests": requests}


def make():
    for name, one in CLASSES.items():
        answers("text_to_text", [row(name, *one)])
