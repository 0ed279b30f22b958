"""Makes logits.json: what transformers' processors of logits make of the same logits. Run with torch and transformers 4.57 at hand:

    python test/goldens/generation/make.py

Each case has a GenerationConfig; its list of processors, in transformers' own order, is applied to the logits of two steps.
A score of minus infinity is null.
"""
import json
import math
import pathlib
import warnings

import numpy as np
import torch
import transformers
from transformers import GenerationConfig

warnings.filterwarnings("ignore")
VOCABULARY, EOS, BOS = 40, 3, 1
PROMPT = [5, 6, 7, 8, 5, 6, 7, 12, 30]
STEPS = [[], [9, 5, 6]]

CASES = {
    "nothing": {},
    "temperature": {"do_sample": True, "temperature": 0.7},
    "a high temperature": {"do_sample": True, "temperature": 3.5},
    "topK": {"do_sample": True, "top_k": 5},
    "topK larger than the vocabulary": {"do_sample": True, "top_k": 500},
    "topP": {"do_sample": True, "top_k": 0, "top_p": 0.6},
    "a small topP keeps one token": {"do_sample": True, "top_k": 0, "top_p": 0.01},
    "minP": {"do_sample": True, "top_k": 0, "min_p": 0.2},
    "all four": {"do_sample": True, "temperature": 1.4, "top_k": 20, "top_p": 0.9, "min_p": 0.05},
    "repetitionPenalty": {"repetition_penalty": 1.3},
    "a repetitionPenalty that rewards": {"repetition_penalty": 0.8},
    "noRepeatNgramSize": {"no_repeat_ngram_size": 3},
    "noRepeatNgramSize of one": {"no_repeat_ngram_size": 1},
    "badWordsIds": {"bad_words_ids": [[12], [5, 6, 20], [30, 31], [6, 7]], "eos_token_id": EOS},
    "minNewTokens": {"min_new_tokens": 2, "eos_token_id": [EOS, 17]},
    "all of them": {"do_sample": True, "temperature": 0.9, "top_k": 12, "top_p": 0.95, "min_p": 0.02, "repetition_penalty": 1.2, "no_repeat_ngram_size": 2, "bad_words_ids": [[33]], "min_new_tokens": 4, "eos_token_id": EOS},
    "suppress_tokens": {"suppress_tokens": [2, 11]},
    "begin_suppress_tokens": {"begin_suppress_tokens": [4, 7]},
    "sequence_bias": {"sequence_bias": [[[12], 2.5], [[30, 31], -4.0], [[5, 6, 20], 10.0], [[12, 30, 31], 1.0], [[6, 9], 3.0]]},
    "sequence_bias and penalty": {"sequence_bias": [[[12], -50.0], [[30], 5.0]], "repetition_penalty": 1.5, "suppress_tokens": [12]},
}


def main():
    config = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, bos_token_id=BOS, eos_token_id=EOS)
    model = transformers.LlamaForCausalLM(config)
    random = np.random.default_rng(20261126)
    cases = []
    for name, fields in CASES.items():
        steps = []
        settings = GenerationConfig(**{"top_k": 0, "max_new_tokens": 20, "eos_token_id": None, "pad_token_id": 0, **fields})
        model._prepare_special_tokens(settings, True, device="cpu")
        processors = model._get_logits_processor(settings, input_ids_seq_length=len(PROMPT), encoder_input_ids=None, prefix_allowed_tokens_fn=None, logits_processor=[], device="cpu", model_kwargs={})
        for new in STEPS:
            logits = random.normal(0, 3, VOCABULARY).astype(np.float32)
            scores = processors(torch.tensor([PROMPT + new]), torch.tensor(logits)[None])[0].tolist()
            steps.append({"tokens": new, "logits": [round(float(one), 7) for one in logits], "scores": [None if math.isinf(one) else round(one, 6) for one in scores]})
        cases.append({"name": name, "config": fields, "steps": steps})
    file = pathlib.Path(__file__).parent / "logits.json"
    file.write_text(json.dumps({"prompt": PROMPT, "cases": cases}, indent=None, separators=(",", ":")) + "\n")
    print(len(cases), "cases,", file.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
