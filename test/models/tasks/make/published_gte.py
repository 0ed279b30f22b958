"""Rows of GTE as Alibaba publishes it: the classes `New…` of its repositories' own code, which transformers 5.24 has as `Gte…`. Part of `newest.py`."""
import json

import transformers

import fill_mask
import text_classifier
import token_classifier
from bare_texts import TEXTS, vector
from common import HERE, answers, small, spread, tokenizer_of
from families import NEWEST, check_sees, export_text
from jina_bert import ranked_row

CODE = "Alibaba-NLP/new-impl--"
HEADS = ["ForMaskedLM", "ForMultipleChoice", "ForQuestionAnswering", "ForSequenceClassification", "ForTokenClassification"]
# As in config.json of gte-multilingual-base, and of what is converted from it.
FIELDS = {
    "_name_or_path": "Alibaba-NLP/gte-multilingual-base", "model_type": "new", "auto_map": {
        "AutoConfig": f"{CODE}configuration.NewConfig", "AutoModel": f"{CODE}modeling.NewModel", **{f"AutoModel{head}": f"{CODE}modeling.New{head}" for head in HEADS}},
    "layer_norm_type": "layer_norm", "logn_attention_clip1": False, "logn_attention_scale": False, "pack_qkv": True, "position_embedding_type": "rope",
    "rope_scaling": {"factor": 8.0, "type": "ntk"}, "rope_theta": 20000, "unpad_inputs": False, "use_memory_efficient_attention": False,
}


def exported(repository, ending, output, **fields):
    """Writes a repository. @param ending of the class"""
    kind, own = NEWEST["Gte"]
    tokenizer = tokenizer_of(kind)
    model = spread(getattr(transformers, f"Gte{ending}")._from_config(small(transformers.GteConfig, kind, **own, **fields), attn_implementation="eager"))
    export_text(repository, model, tokenizer, [output])
    path = HERE / repository / "config.json"
    saved = json.loads(path.read_text())
    # transformers 5 alone has it.
    del saved["rope_parameters"]
    # The published one of vectors names a second class, without its weights.
    architectures = [f"New{ending}", *(["NewForTokenClassification"] if ending == "Model" else [])]
    path.write_text(json.dumps({**saved, **FIELDS, "architectures": architectures}, indent=2) + "\n")
    return repository, model, tokenizer


def vector_row():
    # The name says how the tokens' vectors become one.
    repository, model, tokenizer = exported("gte-multilingual-base", "Model", "last_hidden_state")
    requests = [{"input": text, "params": {}, "answer": vector(model, tokenizer, text, "cls")} for text in TEXTS]
    check_sees(model, *(request["answer"] for request in requests))
    return {"repository": repository, "requests": requests}


def make_rows():
    rows = {
        "text_feature_extractor": ("Model", vector_row()),
        "text_reranker": ("ForSequenceClassification", ranked_row(*exported("gte-multilingual-reranker-base", "ForSequenceClassification", "logits", num_labels=1))),
        "text_classifier": ("ForSequenceClassification", text_classifier.row(*exported("classify-new", "ForSequenceClassification", "logits", **text_classifier.NAMES), ["naïve café, 東京!", text_classifier.PAIR])),
        "token_classifier": ("ForTokenClassification", token_classifier.row(*exported("tokens-new", "ForTokenClassification", "logits", **token_classifier.NAMES), [("Curie was born in Warsaw.", "simple", None, [])])),
        "fill_mask": ("ForMaskedLM", fill_mask.row(*exported("fill-mask-new", "ForMaskedLM", "logits"), [("Tell me a {} about {}, please.", {"topK": 2})])),
    }
    for task, (ending, row) in rows.items():
        answers(task, [{"architecture": f"New{ending}", **{key: value for key, value in row.items() if key != "architecture"}}])
