import tempfile

import torch
from sentence_transformers import CrossEncoder
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, BertConfig, ModernBertConfig, Qwen3Config, XLMRobertaConfig

from common import answers, export, small, spread, tokenizer_of
from text_generator import export as export_with_cache

# What sentence-transformers writes now, and what it wrote before.
NOW = {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity", "version": "5.1.0"}}
BEFORE = {"sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"}
CONFIGS = [
    ("rerank-bert", BertConfig, "word_piece", NOW),
    ("rerank-xlm-roberta", XLMRobertaConfig, "unigram", {**BEFORE, "type_vocab_size": 1}),
    ("rerank-modernbert", ModernBertConfig, "byte_level", {**NOW, "local_attention": 8}),
]
QUERY = "What is the time in London?"
TEXTS = ["The cat sat on the mat.", "London has the time of Greenwich.", "Once upon a time there was a small island in the northern sea, and on it stood a lighthouse with a green door."]

# The card of Qwen3-Reranker: https://huggingface.co/Qwen/Qwen3-Reranker-0.6B
BEFORE = '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
LONG = " ".join(TEXTS * 20)


def judged(model, tokenizer, texts, instruction=INSTRUCTION, max_length=8192):
    """The probabilities of yes, as the card computes them: padded on the left, all texts at once."""
    before, after = (tokenizer.encode(part, add_special_tokens=False) for part in (BEFORE, AFTER))
    pairs = [f"<Instruct>: {instruction}\n<Query>: {QUERY}\n<Document>: {text}" for text in texts]
    inputs = tokenizer(pairs, padding=False, truncation="longest_first", return_attention_mask=False, add_special_tokens=False, max_length=max_length - len(before) - len(after))
    inputs["input_ids"] = [before + ids + after for ids in inputs["input_ids"]]
    with torch.no_grad():
        logits = model(**tokenizer.pad(inputs, padding=True, return_tensors="pt")).logits[:, -1, :]
    no_yes = torch.stack([logits[:, tokenizer.convert_tokens_to_ids(word)] for word in ("no", "yes")], 1)
    return torch.nn.functional.log_softmax(no_yes, 1)[:, 1].exp()


def language_model(repository="qwen3-reranker"):
    tokenizer = tokenizer_of("byte_level")
    # Qwen's adds no special tokens.
    tokenizer.backend_tokenizer.post_processor = None
    tokenizer.add_tokens(["yes", "no", "<think>", "</think>"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.padding_side, tokenizer.model_max_length = "left", 1024
    config = small(Qwen3Config, "byte_level", vocab_size=len(tokenizer), num_key_value_heads=1, head_dim=8)
    model = spread(AutoModelForCausalLM.from_config(config, attn_implementation="eager"))
    export_with_cache(repository, model, tokenizer)
    ranked = lambda texts, **given: sorted(
        ({"index": index, "score": float(score)} for index, score in enumerate(judged(model, tokenizer, texts, **given))), key=lambda one: -one["score"])
    instruction = "Find the sentence about a place"
    return {"architecture": type(model).__name__, "repository": repository, "requests": [
        {"input": {"query": QUERY, "texts": TEXTS}, "answer": ranked(TEXTS)},
        {"input": {"query": QUERY, "texts": TEXTS}, "params": {"instruction": instruction}, "answer": ranked(TEXTS, instruction=instruction)},
        {"input": {"query": QUERY, "texts": [LONG, TEXTS[0]]}, "params": {"maxLength": 400}, "answer": ranked([LONG, TEXTS[0]], max_length=400)},
    ]}


def make():
    rows = [language_model()]
    for repository, config_class, kind, fields in CONFIGS:
        tokenizer = tokenizer_of(kind, has_types=config_class is BertConfig)
        model = spread(AutoModelForSequenceClassification.from_config(small(config_class, kind, num_labels=1, **fields), attn_implementation="eager"))
        export(repository, model, "text-classification", [tokenizer])
        with tempfile.TemporaryDirectory() as source:
            model.save_pretrained(source)
            tokenizer.save_pretrained(source)
            ranked = CrossEncoder(source, device="cpu").rank(QUERY, TEXTS)
        best = [{"index": one["corpus_id"], "score": float(one["score"])} for one in ranked]
        requests = [
            {"input": {"query": QUERY, "texts": TEXTS}, "answer": best},
            {"input": {"query": QUERY, "texts": TEXTS}, "params": {"topK": 1}, "answer": best[:1]},
        ]
        rows.append({"architecture": type(model).__name__, "repository": repository, "requests": requests})
    answers("text_reranker", rows)
