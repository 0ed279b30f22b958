"""Language models of many families: greedy texts of transformers' `generate`. `test/models/generation` has more of fewer."""
import functools
import pathlib

import torch
import transformers
from transformers import GenerationConfig

from common import IS_NEWEST, answers, kebab, save, small, spread, tokenizer_of
from families import FAMILIES, GROUPED, REFUSED, without
from step import Step, new_cache
from traced import patched
from writers import MORE, NEWEST_MORE

if IS_NEWEST:
    import hybrids
else:
    from transformers.models.lfm2.modeling_lfm2 import Lfm2HybridConvCache

PROMPTS = ["Tell me a story about the sea", "naïve café, 東京!"]
TOKENS = 12
# Between the two likeliest tokens; with less, float32 decides.
MIN_GAP = 2e-3
MIN_KINDS = 5
# Those without a class of another task.
OTHERS = {
    "Cohere": ("byte_level", {"num_key_value_heads": 1}),
    "Cohere2": ("byte_level", {"num_key_value_heads": 1, "head_dim": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "Ernie4_5": ("byte_level", GROUPED),
    "GptOss": ("byte_level", {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 2, "sliding_window": 8}),
    "Granite": ("byte_level", {"num_key_value_heads": 1}),
    "GraniteMoeHybrid": ("byte_level", {"num_key_value_heads": 1, "layer_types": ["attention", "attention"], "shared_intermediate_size": 24, "mamba_n_heads": 4, "num_local_experts": 0, "position_embedding_type": "rope"}),
    "Lfm2": ("byte_level", {"num_key_value_heads": 1, "conv_L_cache": 3, "layer_types": ["conv", "full_attention"], "block_auto_adjust_ff_dim": False}),
    "Olmo": ("byte_level", {"num_key_value_heads": 1}),
    "Olmo2": ("byte_level", {"num_key_value_heads": 1}),
    "Olmo3": ("byte_level", {"num_key_value_heads": 1, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    "CodeGen": ("byte_level", {"num_attention_heads": 4, "n_ctx": 160, "n_inner": 24, "rotary_dim": 4}),
    "VaultGemma": ("byte_level", {**GROUPED, "sliding_window": 8, "query_pre_attn_scalar": 8, "layer_types": ["sliding_attention", "full_attention"]}),
}
ENDINGS = ("ForCausalLM", "LMHeadModel", "Decoder")


class Lfm2Step(Step):
    """With the convolutions' states beside keys and values, as the Hub's exports of LFM2 have them."""

    def cache(self, past):
        cache = Lfm2HybridConvCache(self.model.config, past[0].shape[0])
        cache.key_cache, cache.value_cache = [[None] * len(cache.conv_cache) for _ in range(2)]
        for name, value in zip(self.names, past):
            kind, layer, *part = name.split(".")
            lists = cache.conv_cache if kind == "conv" else cache.key_cache if part == ["key"] else cache.value_cache
            lists[int(layer)] = value
        return cache

    def states(self, cache):
        lists = {"key": cache.key_cache, "value": cache.value_cache}
        return [cache.conv_cache[int(layer)] if kind == "conv" else lists[part[0]][int(layer)] for kind, layer, *part in (name.split(".") for name in self.names)]


def first_cache(model, step_class=Step):
    """The names of the states of a model, and examples of them: of two rows and three tokens."""
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
    makes_none = "Granite4Vision" if IS_NEWEST else "Granite"
    with torch.no_grad():
        cache = model(ids, use_cache=True, **({"past_key_values": new_cache()} if makes_none in type(model).__name__ else {})).get("past_key_values")
    if cache is None:
        return Step(model, []), []
    cache = getattr(cache, "self_attention_cache", cache)
    if IS_NEWEST and hybrids.is_hybrid(cache):
        step = hybrids.HybridStep(model, cache)
    elif not IS_NEWEST and isinstance(cache, Lfm2HybridConvCache):
        step = Lfm2Step(model, [
            name for layer, kind in enumerate(model.config.layer_types)
            for name in ([f"conv.{layer}"] if kind == "conv" else [f"key_values.{layer}.key", f"key_values.{layer}.value"])])
    else:
        step = step_class(model, [f"key_values.{layer}.{part}" for layer in range(len(cache.layers)) for part in ("key", "value")])
    return step, step.states(cache)


def names_of(step):
    """The names of the states that a step returns, and a function that names the axes of one: only keys and values grow."""
    presents = [name.replace("key_values", "present") if "key_values" in name else f"present_{name}" for name in step.names]
    return presents, lambda name, of: {0: "batch_size", 2: f"{of}_sequence_length"} if "key_values" in name else {0: "batch_size"}


def export(repository, model, tokenizer, output="logits"):
    if IS_NEWEST and model._can_set_experts_implementation():
        model.set_experts_implementation("batched_mm")
    step, states = first_cache(model)
    inputs = {
        "input_ids": torch.tensor([[11, 12], [13, 14]]), "attention_mask": torch.ones(2, 5 if states else 2, dtype=torch.int64), "position_ids": torch.tensor([[3, 4], [3, 4]]),
        **{f"past_{name}": state for name, state in zip(step.names, states)}}
    presents, grows = names_of(step)
    axes = {
        "input_ids": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_sequence_length" if states else "sequence_length"}, "position_ids": {0: "batch_size", 1: "sequence_length"},
        output: {0: "batch_size", 1: "sequence_length"}, **{f"past_{name}": grows(name, "past") for name in step.names}, **{present: grows(name, "total") for name, present in zip(step.names, presents)}}
    with torch.no_grad(), patched(model):
        save(repository, model, [tokenizer], lambda _, target: torch.onnx.export(
            step.eval(), tuple(inputs.values()), pathlib.Path(target) / "model.onnx", input_names=list(inputs), output_names=[output, *presents],
            dynamic_axes=axes, opset_version=17, dynamo=False))


def asked(model, tokenizer):
    """The greedy answers, or None where they are of few kinds of tokens, or float32 decides."""
    requests = []
    for prompt in PROMPTS:
        inputs = tokenizer(prompt, return_tensors="pt")
        found = model.generate(**inputs, do_sample=False, max_new_tokens=TOKENS, output_logits=True, return_dict_in_generate=True)
        best = [logits[0].topk(2).values for logits in found.logits]
        length = inputs["input_ids"].shape[1]
        tokens = found.sequences[0, length:].tolist()
        if len(set(tokens)) < MIN_KINDS or any(one - other < MIN_GAP for one, other in best):
            return None
        requests.append({"input": prompt, "params": {"maxNewTokens": TOKENS}, "answer": {
            "text": tokenizer.decode(tokens, skip_special_tokens=True), "finishReason": "stop" if len(tokens) < TOKENS else "length",
            "usage": {"promptTokens": length, "completionTokens": len(tokens)}}})
    return requests if requests[0]["answer"]["text"] != requests[1]["answer"]["text"] else None


def row(kind_of_model, kind, fields):
    name = kind_of_model.split(" ")[0]
    tokenizer = tokenizer_of(kind)
    model_class = next(found for ending in ENDINGS if (found := getattr(transformers, f"{name}{ending}", None)))
    config = small(functools.partial(without, model_class.config_class, REFUSED.get(name, [])), kind, **fields)
    for seed in range(60):
        torch.manual_seed(seed)
        model = spread(model_class._from_config(config, attn_implementation="eager"), seed, scale=[0.3, 0.6, 1, 0.15][seed % 4])
        model.generation_config = GenerationConfig(bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
        requests = asked(model, tokenizer)
        if requests:
            break
    else:
        raise SystemExit(f"{name}: no weights write several tokens.")
    repository = f"write-{kebab(kind_of_model).replace(' ', '-')}"
    export(repository, model, tokenizer)
    return {"architecture": model_class.__name__, "repository": repository, "requests": requests}


def families():
    for name, (kind, fields) in (NEWEST_MORE if IS_NEWEST else {**FAMILIES, **OTHERS, **MORE}).items():
        is_causal = any(hasattr(transformers, f"{name.split(' ')[0]}{ending}") for ending in ENDINGS)
        if kind == "byte_level" and is_causal:
            yield name, kind, fields


def make():
    for one in families():
        answers("text_generator", [row(*one)])
