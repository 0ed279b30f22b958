from transformers import (
    AutoModelForMaskedLM, BertConfig, CamembertConfig, DistilBertConfig, ModernBertConfig, RobertaConfig, XLMRobertaConfig, pipeline,
)

from common import answers, export, named_by_class, small, spread, tokenizer_of
from families import family_models

CONFIGS = [
    ("fill-mask-bert", BertConfig, "word_piece", {}),
    ("fill-mask-distilbert", DistilBertConfig, "word_piece", {"dim": 16, "hidden_dim": 24, "n_layers": 2, "n_heads": 2}),
    ("fill-mask-roberta", RobertaConfig, "byte_level", {"type_vocab_size": 1}),
    ("fill-mask-modernbert", ModernBertConfig, "byte_level", {"local_attention": 8}),
    ("fill-mask-xlm-roberta", XLMRobertaConfig, "unigram", {"type_vocab_size": 1}),
    ("fill-mask-camembert", CamembertConfig, "unigram", {"type_vocab_size": 1}),
    ("fill-mask-xlm-roberta-bare", XLMRobertaConfig, "unigram", {"type_vocab_size": 1}),
]


def make():
    rows = []
    for repository, config_class, kind, fields in CONFIGS:
        tokenizer = tokenizer_of(kind, has_types=config_class is BertConfig)
        model = spread(AutoModelForMaskedLM.from_config(small(config_class, kind, **fields), attn_implementation="eager"))
        export(repository, model, "fill-mask", [tokenizer])
        if repository.endswith("-bare"):
            tokenizer = named_by_class(repository, model_max_length=128)
        rows.append(row(repository, model, tokenizer, [
            ("The cat sat on the {} and the dog lay by the door.", {}),
            ("Tell me a {} about {}, please.", {"topK": 2}),
            ("The {} in London", {"topK": 2, "targets": True}),
        ]))
    answers("fill_mask", rows)
    answers("fill_mask", family_rows(rows))


def row(repository, model, tokenizer, asked):
    pipe = pipeline("fill-mask", model=model, tokenizer=tokenizer)
    requests = []
    for text, params in asked:
        text = text.replace("{}", tokenizer.mask_token)
        if "targets" in params:
            # Words of one token each, as they stand within a text.
            params = {**params, "targets": [tokenizer.decode([id]) for id in tokenizer(" the and", add_special_tokens=False).input_ids]}
        options = {"top_k": params.get("topK"), **({"targets": params["targets"]} if "targets" in params else {})}
        found = pipe(text, **{key: value for key, value in options.items() if value is not None})
        masks = found if isinstance(found[0], list) else [found]
        answer = [[{"label": one["token_str"], "score": one["score"], "token": one["token"], "sequence": one["sequence"]} for one in best] for best in masks]
        requests.append({"input": text, "params": params, "answer": answer})
    return {"architecture": type(model).__name__, "repository": repository, "requests": requests}


def family_rows(rows=()):
    for repository, model, tokenizer in family_models("fill-mask", ["logits"], {one["architecture"] for one in rows}):
        yield row(repository, model, tokenizer, [("Tell me a {} about {}, please.", {"topK": 2})])
