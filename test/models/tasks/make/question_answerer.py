from transformers import (
    AutoModelForQuestionAnswering, BertConfig, DebertaV2Config, DistilBertConfig, ElectraConfig, ModernBertConfig, MPNetConfig, RobertaConfig, XLMRobertaConfig,
    pipeline,
)

from common import TEXTS, answers, export, named_by_class, small, spread, tokenizer_of, units
from families import family_models

DEBERTA = {"type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": -1, "position_biased_input": False}
CONFIGS = [
    ("answer-bert", BertConfig, "word_piece", {}),
    ("answer-distilbert", DistilBertConfig, "word_piece", {"dim": 16, "hidden_dim": 24, "n_layers": 2, "n_heads": 2}),
    ("answer-roberta", RobertaConfig, "byte_level", {"type_vocab_size": 1}),
    ("answer-mpnet", MPNetConfig, "unigram", {}),
    ("answer-xlm-roberta", XLMRobertaConfig, "unigram", {"type_vocab_size": 1}),
    ("answer-modernbert", ModernBertConfig, "byte_level", {"local_attention": 8}),
    ("answer-electra", ElectraConfig, "word_piece", {"embedding_size": 16}),
    ("answer-deberta-v2", DebertaV2Config, "unigram", {**DEBERTA, "position_buckets": 32, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
    ("answer-bert-bare", BertConfig, "word_piece", {}),
]
GPU = {"answer-bert": ["webgpu"]}
SHORT = {"question": "Where was Marie Curie born?", "context": "👩🏽‍🔬 Marie Curie was born in Warsaw, naïve café; 東京 and the Brücke."}
LONG = {"question": "What stood on the island 👍🏽?", "context": " ".join([*TEXTS, "👍🏽", *TEXTS[:3]])}
NAMES = {"topK": "top_k", "maxAnswerLength": "max_answer_len", "stride": "doc_stride", "maxLength": "max_seq_len", "handleImpossibleAnswer": "handle_impossible_answer", "alignToWords": "align_to_words"}


def make():
    from optimum.exporters.onnx.model_configs import ModernBertOnnxConfig
    from optimum.exporters.tasks import TasksManager

    # Optimum exports ModernBERT, but does not list this task of it.
    TasksManager.create_register("onnx", overwrite_existing=True)("modernbert", "question-answering")(ModernBertOnnxConfig)
    rows = []
    for repository, config_class, kind, fields in CONFIGS:
        tokenizer = tokenizer_of(kind, has_types=config_class in (BertConfig, ElectraConfig))
        model = spread(AutoModelForQuestionAnswering.from_config(small(config_class, kind, **fields), attn_implementation="eager"))
        export(repository, model, "question-answering", [tokenizer])
        if repository.endswith("-bare"):
            tokenizer = named_by_class(repository, do_lower_case=True, model_max_length=128)
        rows.append(row(repository, model, tokenizer, [
            (SHORT, {}), (SHORT, {"topK": 4}), (SHORT, {"topK": 4, "alignToWords": False, "maxAnswerLength": 3}), (SHORT, {"topK": 6, "handleImpossibleAnswer": True}),
            (LONG, {"topK": 3}), (LONG, {"topK": 5, "maxLength": 80, "stride": 16, "maxAnswerLength": 6}),
        ]))
    answers("question_answerer", rows)
    answers("question_answerer", family_rows(rows))


def row(repository, model, tokenizer, asked):
    pipe = pipeline("question-answering", model=model, tokenizer=tokenizer)
    requests = []
    for input, params in asked:
        found = pipe(**input, **{NAMES[key]: value for key, value in params.items()})
        context = input["context"]
        answer = [{"answer": one["answer"], "score": one["score"], "start": units(context, one["start"]), "end": units(context, one["end"])} for one in (found if isinstance(found, list) else [found])]
        requests.append({"input": input, "params": params, "answer": answer})
    return {"architecture": type(model).__name__, "repository": repository, **({"gpu": GPU[repository]} if repository in GPU else {}), "requests": requests}


def family_rows(rows=()):
    for repository, model, tokenizer in family_models("answer", ["start_logits", "end_logits"], {one["architecture"] for one in rows}):
        yield row(repository, model, tokenizer, [(SHORT, {"topK": 3})])
