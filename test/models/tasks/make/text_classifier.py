from transformers import (
    AlbertConfig, AutoModelForSequenceClassification, BertConfig, CamembertConfig, DebertaConfig, DebertaV2Config, DistilBertConfig, ElectraConfig,
    MobileBertConfig, ModernBertConfig, MPNetConfig, RobertaConfig, XLMRobertaConfig, pipeline,
)

from common import answers, export, small, spread, tokenizer_of

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
]
WITH_TYPES = {BertConfig, AlbertConfig, ElectraConfig, MobileBertConfig}
PAIR = {"text": "What is the time in London?", "textPair": "Once upon a time there was a small island."}


def make():
    rows = []
    for repository, config_class, kind, fields in CONFIGS:
        tokenizer = tokenizer_of(kind, has_types=config_class in WITH_TYPES)
        model = spread(AutoModelForSequenceClassification.from_config(small(config_class, kind, **fields), attn_implementation="eager"))
        export(repository, model, "text-classification", [tokenizer])
        pipe = pipeline("text-classification", model=model, tokenizer=tokenizer, top_k=None)
        requests = []
        for text in ["The cat sat on the mat and the dog lay by the door.", "naïve café, 東京!", PAIR]:
            found = pipe({"text": text["text"], "text_pair": text["textPair"]} if isinstance(text, dict) else text)
            found = found[0] if isinstance(found[0], list) else found
            # transformers gives all labels; ours leaves out those below 0.5 where several may be right.
            if model.config.problem_type == "multi_label_classification":
                found = [one for one in found if one["score"] >= 0.5]
            requests.append({"input": text, "answer": found})
        rows.append({"architecture": type(model).__name__, "repository": repository, "requests": requests})
    answers("text_classifier", rows)
