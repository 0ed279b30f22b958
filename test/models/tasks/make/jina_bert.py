"""JinaBERT, whose code is in its repositories, and not in transformers.

The model is that of https://arxiv.org/abs/2310.19923, section 3: BERT without positions, whose attention has ALiBi's bias in both
directions, and whose feed-forward layer is a GEGLU. The heads are BERT's.
"""
import json

import torch
from torch import nn
from torch.nn.functional import gelu, softmax
from transformers import BertConfig, PreTrainedModel

from bare_texts import TEXTS, unit
from common import HERE, answers, small, spread, tokenizer_of
from families import check_sees, export_text
from fill_mask import row as masked_row
from text_classifier import NAMES, PAIR, row as classified_row

CODE = "jinaai/jina-bert-implementation--"
HEADS = {"AutoModel": "Model", "AutoModelForMaskedLM": "ForMaskedLM", "AutoModelForSequenceClassification": "ForSequenceClassification"}
# As in config.json of jina-embeddings-v2-small-en, and of what is converted from it.
FIELDS = {
    "attention_probs_dropout_prob": 0.0, "emb_pooler": "mean", "feed_forward_type": "geglu", "model_max_length": 8192, "position_embedding_type": "alibi", "num_attention_heads": 4,
    "auto_map": {"AutoConfig": f"{CODE}configuration_bert.JinaBertConfig", **{name: f"{CODE}modeling_bert.JinaBert{head}" for name, head in HEADS.items()}},
}
NAME = {"_name_or_path": "jinaai/jina-embeddings-v2-small-en"}
QUERY = "What is the time in London?"
RANKED = ["The cat sat on the mat.", "London has the time of Greenwich.", "Once upon a time there was a small island in the northern sea, and on it stood a lighthouse with a green door."]


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        size, self.heads = config.hidden_size, config.num_attention_heads
        self.query, self.key, self.value, self.output = (nn.Linear(size, size) for _ in range(4))
        self.gated = nn.Linear(size, 2 * config.intermediate_size, bias=False)
        self.narrow = nn.Linear(config.intermediate_size, size)
        self.attended, self.made = (nn.LayerNorm(size, config.layer_norm_eps) for _ in range(2))

    def forward(self, states, bias):
        query, key, value = (one(states).unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in (self.query, self.key, self.value))
        weights = softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5 + bias, -1)
        states = self.attended(states + self.output((weights @ value).transpose(1, 2).flatten(2)))
        gate, linear = self.gated(states).chunk(2, -1)
        return self.made(states + self.narrow(gelu(gate) * linear))


class JinaBert(PreTrainedModel):
    config_class = BertConfig

    def __init__(self, config):
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.types = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))

    def states(self, input_ids, attention_mask, token_type_ids):
        # The slopes of a power of two of heads: https://arxiv.org/abs/2108.12409
        heads = self.config.num_attention_heads
        slopes = torch.tensor([2 ** (-8 * (head + 1) / heads) for head in range(heads)])
        at = torch.arange(input_ids.shape[1])
        distances = (at[:, None] - at[None, :]).abs().to(torch.float32)
        padding = (1 - attention_mask[:, None, None, :].to(torch.float32)) * torch.finfo(torch.float32).min
        bias = padding - slopes[:, None, None] * distances
        states = self.norm(self.words(input_ids) + self.types(token_type_ids))
        for layer in self.layers:
            states = layer(states, bias)
        return states


class JinaBertModel(JinaBert):
    def forward(self, input_ids, attention_mask, token_type_ids, return_dict=True):
        return {"last_hidden_state": self.states(input_ids, attention_mask, token_type_ids)}


class JinaBertForMaskedLM(JinaBert):
    def __init__(self, config):
        super().__init__(config)
        self.transform, self.decoder = nn.Linear(config.hidden_size, config.hidden_size), nn.Linear(config.hidden_size, config.vocab_size)
        self.before = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, input_ids, attention_mask, token_type_ids, return_dict=True):
        return {"logits": self.decoder(self.before(gelu(self.transform(self.states(input_ids, attention_mask, token_type_ids)))))}


class JinaBertForSequenceClassification(JinaBert):
    def __init__(self, config):
        super().__init__(config)
        self.pooler, self.classifier = nn.Linear(config.hidden_size, config.hidden_size), nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask, token_type_ids, return_dict=True):
        return {"logits": self.classifier(torch.tanh(self.pooler(self.states(input_ids, attention_mask, token_type_ids)[:, 0])))}


def exported(repository, model_class, outputs, architecture, **fields):
    """Writes a repository. @param architecture the class that its config.json names"""
    tokenizer = tokenizer_of("word_piece", has_types=True)
    # Of torch's own layers, biases are drawn where they are made.
    torch.manual_seed(0)
    model = spread(model_class(small(BertConfig, "word_piece", **FIELDS, **fields)))
    export_text(repository, model, tokenizer, outputs)
    path = HERE / repository / "config.json"
    path.write_text(json.dumps({**NAME, **json.loads(path.read_text()), "architectures": [architecture]}, indent=2) + "\n")
    return model, tokenizer


def vector_row(repository, architecture):
    model, tokenizer = exported(repository, JinaBertModel, ["last_hidden_state"], architecture)
    requests = []
    for text in TEXTS:
        with torch.no_grad():
            requests.append({"input": text, "params": {}, "answer": unit(model(**tokenizer(text, return_tensors="pt"))["last_hidden_state"][0].mean(0).numpy())})
    check_sees(model, *(request["answer"] for request in requests))
    return {"architecture": architecture, "repository": repository, "requests": requests}


def mask_row(repository):
    model, tokenizer = exported(repository, JinaBertForMaskedLM, ["logits"], "JinaBertForMaskedLM")
    return masked_row(repository, model, tokenizer, [("Tell me a {} about {}, please.", {"topK": 2})])


def label_row(repository):
    model, tokenizer = exported(repository, JinaBertForSequenceClassification, ["logits"], "JinaBertForSequenceClassification", **NAMES)
    return classified_row(repository, model, tokenizer, ["The cat sat on the mat and the dog lay by the door.", PAIR])


def reranker_row(repository):
    # The published ones name the class without its head.
    model, tokenizer = exported(repository, JinaBertForSequenceClassification, ["logits"], "JinaBertModel", num_labels=1)
    return {**ranked_row(repository, model, tokenizer), "architecture": "JinaBertModel"}


def ranked_row(repository, model, tokenizer):
    """A row of text_reranker: the sigmoid of the number of each pair, as of sentence-transformers' `CrossEncoder`."""
    with torch.no_grad():
        scores = torch.sigmoid(model(**tokenizer([QUERY] * len(RANKED), RANKED, padding=True, return_tensors="pt"))["logits"][:, 0]).tolist()
    check_sees(model, scores[:1], scores[1:2])
    best = sorted(({"index": index, "score": score} for index, score in enumerate(scores)), key=lambda one: -one["score"])
    return {"architecture": type(model).__name__, "repository": repository, "requests": [{"input": {"query": QUERY, "texts": RANKED}, "answer": best}]}


def make():
    # Its name says that it makes vectors: the published ones have the class that they were trained as.
    answers("text_feature_extractor", [vector_row("vectors-jina-bert", "JinaBertModel"), vector_row("jina-embeddings-v2-small-en", "JinaBertForMaskedLM")])
    answers("fill_mask", [mask_row("fill-mask-jina-bert")])
    answers("text_classifier", [label_row("classify-jina-bert")])
    answers("text_reranker", [reranker_row("jina-reranker-v1-tiny-en")])
