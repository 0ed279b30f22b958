from transformers import (
    AutoModelForTokenClassification, BertConfig, CamembertConfig, DebertaConfig, DebertaV2Config, DistilBertConfig, ElectraConfig, ModernBertConfig,
    RobertaConfig, XLMRobertaConfig, pipeline,
)

from common import TEXTS, answers, export, named_by_class, small, spread, tokenizer_of, units
from families import family_models

DEBERTA = {"type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": -1, "position_biased_input": False}
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "ORG"]
NAMES = {"id2label": dict(enumerate(LABELS)), "label2id": {label: at for at, label in enumerate(LABELS)}}
CONFIGS = [
    ("tokens-bert", BertConfig, "word_piece", {}),
    ("tokens-distilbert", DistilBertConfig, "word_piece", {"dim": 16, "hidden_dim": 24, "n_layers": 2, "n_heads": 2}),
    ("tokens-roberta", RobertaConfig, "byte_level", {"type_vocab_size": 1}),
    ("tokens-xlm-roberta", XLMRobertaConfig, "unigram", {"type_vocab_size": 1}),
    ("tokens-camembert", CamembertConfig, "unigram", {"type_vocab_size": 1}),
    ("tokens-deberta", DebertaConfig, "byte_level", DEBERTA),
    ("tokens-deberta-v2", DebertaV2Config, "unigram", {**DEBERTA, "position_buckets": 32, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
    ("tokens-electra", ElectraConfig, "word_piece", {"embedding_size": 16}),
    ("tokens-modernbert", ModernBertConfig, "byte_level", {"local_attention": 8}),
    ("tokens-bert-bare", BertConfig, "word_piece", {}),
]
FEWER = ["O", "ORG", "LOC"]
GPU = {"tokens-bert": ["webgpu"]}
# With the usual seed, BERT's head finds nothing but O.
SEEDS = {"tokens-bert": 4, "tokens-bert-bare": 4}
SHORT = "Marie Curie 👩🏽‍🔬 was born in Warsaw, naïve café; 東京 and the Brücke."
LONG = " ".join([*TEXTS[:4], "👍🏽", *TEXTS[:2]])


def make():
    rows = []
    for repository, config_class, kind, fields in CONFIGS:
        tokenizer = tokenizer_of(kind, has_types=config_class in (BertConfig, ElectraConfig))
        model = spread(AutoModelForTokenClassification.from_config(small(config_class, kind, **NAMES, **fields), attn_implementation="eager"), SEEDS.get(repository, 0))
        export(repository, model, "token-classification", [tokenizer])
        if repository.endswith("-bare"):
            tokenizer = named_by_class(repository, do_lower_case=True, max_len=128, init_inputs=[])
        asked = [
            (SHORT, "none", None, None), (SHORT, "simple", None, None), (SHORT, "first", None, ["O", "ORG"]), (SHORT, "average", None, None), (SHORT, "max", None, []),
            (LONG, "simple", 16, FEWER), (LONG, "max", 0, FEWER), *([(LONG, "simple", None, FEWER)] if repository == "tokens-bert" else []),
        ]
        rows.append(row(repository, model, tokenizer, asked))
    answers("token_classifier", rows)
    answers("token_classifier", family_rows(rows))


def row(repository, model, tokenizer, asked):
    requests = []
    for text, strategy, stride, ignored in asked:
        options = {"aggregation_strategy": strategy, "stride": stride, "ignore_labels": ignored}
        found = pipeline("token-classification", model=model, tokenizer=tokenizer)(text, **{key: value for key, value in options.items() if value is not None})
        params = {"aggregationStrategy": strategy, "stride": stride, "ignoreLabels": ignored}
        requests.append({
            "input": text, "params": {key: value for key, value in params.items() if value is not None},
            "answer": [{
                "label": one["entity" if strategy == "none" else "entity_group"], "score": round(float(one["score"]), 6), "word": one["word"],
                "start": units(text, one["start"]), "end": units(text, one["end"]), **({"index": one["index"]} if strategy == "none" else {}),
            } for one in found],
        })
    return {"architecture": type(model).__name__, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests}


def family_rows(rows=()):
    for repository, model, tokenizer in family_models("tokens", ["logits"], {one["architecture"] for one in rows}, NAMES):
        yield row(repository, model, tokenizer, [(SHORT, "simple", None, [])])
