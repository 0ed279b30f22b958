import tempfile

from sentence_transformers import CrossEncoder
from transformers import AutoModelForSequenceClassification, BertConfig, ModernBertConfig, XLMRobertaConfig

from common import answers, export, small, spread, tokenizer_of

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


def make():
    rows = []
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
