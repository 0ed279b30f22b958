from transformers import (
    AlbertConfig, AutoModelForSequenceClassification, BertConfig, CamembertConfig, DebertaConfig, DebertaV2Config, DistilBertConfig, ElectraConfig,
    MobileBertConfig, ModernBertConfig, MPNetConfig, RobertaConfig, XLMRobertaConfig, XLNetConfig, PreTrainedTokenizerFast, pipeline,
)

import pathlib

import torch
from tokenizers import processors

from common import answers, export, save, small, spread, tokenizer_of, trace
from families import check_sees, family_models

DEBERTA = {"type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": -1, "position_biased_input": False}
NAMES = {"id2label": {0: "sad", 1: "glad", 2: "neither"}, "label2id": {"sad": 0, "glad": 1, "neither": 2}}
ONE = {"num_labels": 1, "problem_type": "regression"}
CONFIGS = [
    ("classify-bert", BertConfig, "word_piece", NAMES),
    ("classify-distilbert", DistilBertConfig, "word_piece", {**NAMES, "dim": 16, "hidden_dim": 24, "n_layers": 2, "n_heads": 2}),
    ("classify-roberta", RobertaConfig, "byte_level", {**NAMES, "type_vocab_size": 1, "problem_type": "multi_label_classification"}),
    ("classify-xlm-roberta", XLMRobertaConfig, "unigram", {**NAMES, "type_vocab_size": 1}),
    ("classify-camembert", CamembertConfig, "unigram", {**NAMES, "type_vocab_size": 1}),
    ("classify-deberta", DebertaConfig, "byte_level", {**NAMES, **DEBERTA}),
    ("classify-deberta-v2", DebertaV2Config, "unigram", {**NAMES, **DEBERTA, "position_buckets": 32, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
    ("classify-albert", AlbertConfig, "unigram", {**NAMES, "embedding_size": 16}),
    ("classify-electra", ElectraConfig, "word_piece", {**NAMES, "embedding_size": 16}),
    ("classify-mpnet", MPNetConfig, "unigram", NAMES),
    ("classify-mobilebert", MobileBertConfig, "word_piece", {**NAMES, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16, "num_feedforward_networks": 1}),
    ("classify-modernbert", ModernBertConfig, "byte_level", {**NAMES, "local_attention": 8}),
    ("classify-regression", BertConfig, "word_piece", ONE),
    ("classify-xlnet", XLNetConfig, "unigram", {**NAMES, "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24}),
]
WITH_TYPES = {BertConfig, AlbertConfig, ElectraConfig, MobileBertConfig}
PAIR = {"text": "What is the time in London?", "textPair": "Once upon a time there was a small island."}


def xlnet_tokenizer():
    """XLNet's: what marks the class ends the text, and padding is on the left."""
    tokenizer = tokenizer_of("unigram")
    sep, cls = tokenizer.sep_token_id, tokenizer.cls_token_id
    backend = tokenizer.backend_tokenizer
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s> <s>:2", pair="$A </s> $B:1 </s>:1 <s>:2", special_tokens=[("</s>", sep), ("<s>", cls)])
    names = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, padding_side="left", pad_token="<pad>", sep_token="</s>", cls_token="<s>", unk_token="<unk>", model_max_length=128, model_input_names=names)


def export_xlnet(repository, model, tokenizer):
    """Optimum does not know it."""
    ids = torch.tensor([[5, 6, 7, 2, 0], [5, 6, 8, 2, 0]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    axes = {**{name: {0: "batch_size", 1: "sequence_length"} for name in inputs}, "logits": {0: "batch_size"}}
    save(repository, model, [tokenizer], lambda _, target: trace(model, inputs, ["logits"], axes, pathlib.Path(target) / "model.onnx"))


def make():
    rows = []
    for repository, config_class, kind, fields in CONFIGS:
        is_xlnet = config_class is XLNetConfig
        tokenizer = xlnet_tokenizer() if is_xlnet else tokenizer_of(kind, has_types=config_class in WITH_TYPES)
        # It has no limit of positions, and no other attention.
        config = XLNetConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **fields) if is_xlnet else small(config_class, kind, **fields)
        model = spread(AutoModelForSequenceClassification.from_config(config, **({} if is_xlnet else {"attn_implementation": "eager"})))
        if is_xlnet:
            export_xlnet(repository, model, tokenizer)
        else:
            export(repository, model, "text-classification", [tokenizer])
        rows.append(row(repository, model, tokenizer, ["The cat sat on the mat and the dog lay by the door.", "naïve café, 東京!", PAIR]))
    answers("text_classifier", rows)
    answers("text_classifier", family_rows(rows))


def row(repository, model, tokenizer, texts):
    pipe = pipeline("text-classification", model=model, tokenizer=tokenizer, top_k=None)
    requests = []
    for text in texts:
        found = pipe({"text": text["text"], "text_pair": text["textPair"]} if isinstance(text, dict) else text)
        found = found[0] if isinstance(found[0], list) else found
        # transformers gives all labels; ours leaves out those below 0.5 where several may be right.
        if model.config.problem_type == "multi_label_classification":
            found = [one for one in found if one["score"] >= 0.5]
        requests.append({"input": text, "answer": found})
    return {"architecture": type(model).__name__, "repository": repository, "requests": requests}


def family_rows(rows=()):
    for repository, model, tokenizer in family_models("classify", ["logits"], {one["architecture"] for one in rows}, NAMES):
        made = row(repository, model, tokenizer, ["naïve café, 東京!", PAIR])
        one, other = ({found["label"]: found["score"] for found in request["answer"]} for request in made["requests"])
        check_sees(model, [one[label] for label in other], [*other.values()])
        yield made
