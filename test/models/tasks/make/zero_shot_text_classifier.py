from transformers import (
    AutoModelForSequenceClassification, BartConfig, BertConfig, DebertaV2Config, XLMRobertaConfig, pipeline,
)

from common import answers, export, small, spread, tokenizer_of

LABELS = {"id2label": {0: "contradiction", 1: "neutral", 2: "entailment"}, "label2id": {"contradiction": 0, "neutral": 1, "entailment": 2}}
FIRST = {"id2label": {0: "ENTAILMENT", 1: "neutral", 2: "contradiction"}, "label2id": {"ENTAILMENT": 0, "neutral": 1, "contradiction": 2}}
BART = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "decoder_start_token_id": 2, "forced_eos_token_id": 2}
CONFIGS = [
    ("zero-shot-bart", BartConfig, "byte_level", {**LABELS, **BART}),
    ("zero-shot-deberta-v2", DebertaV2Config, "unigram", {**FIRST, "type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 32, "norm_rel_ebd": "layer_norm", "share_att_key": True, "max_relative_positions": -1, "position_biased_input": False}),
    ("zero-shot-xlm-roberta", XLMRobertaConfig, "unigram", {**LABELS, "type_vocab_size": 1}),
    ("zero-shot-bert", BertConfig, "word_piece", LABELS),
]


def make():
    rows = []
    for repository, config_class, kind, fields in CONFIGS:
        tokenizer = tokenizer_of(kind, has_types=config_class is BertConfig)
        model = spread(AutoModelForSequenceClassification.from_config(small(config_class, kind, **fields), attn_implementation="eager"))
        export(repository, model, "text-classification", [tokenizer])
        pipe = pipeline("zero-shot-classification", model=model, tokenizer=tokenizer)
        requests = []
        labels = ["a story", "science", "the weather in the north"]
        for text, params in [
            ("Once upon a time there was a small island in the northern sea.", {"labels": labels}),
            ("Marie Curie was born in Warsaw and worked in Paris.", {"labels": labels, "multiLabel": True}),
            ("What is the time in London?", {"labels": ["time"], "hypothesisTemplate": "This is about {}, please."}),
        ]:
            found = pipe(
                text, params["labels"], multi_label=params.get("multiLabel", False),
                **({"hypothesis_template": params["hypothesisTemplate"]} if "hypothesisTemplate" in params else {}))
            answer = [{"label": label, "score": score} for label, score in zip(found["labels"], found["scores"])]
            requests.append({"input": text, "params": params, "answer": answer})
        rows.append({"architecture": type(model).__name__, "repository": repository, "requests": requests})
    answers("zero_shot_text_classifier", rows)
