import json
import pathlib
import shutil
import tempfile

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from transformers import AutoModel, BertConfig, Gemma3TextConfig, ModernBertConfig, MPNetConfig, Qwen3Config, XLMRobertaConfig

from bare_texts import bare_rows, paired_rows, positions_row, query_row, writer_rows
from common import HERE, answers, export, small, spread, tokenizer_of
from families import export_text
from text_generator import export as export_with_cache

# A repository's name, its pooling, whether it normalizes, its prompts, and the class that its config.json names.
KINDS = [
    ("embed-minilm", BertConfig, "word_piece", "mean", True, {}, "BertModel"),
    ("embed-bge", BertConfig, "word_piece", "cls", True, {}, "BertModel"),
    ("embed-mpnet", MPNetConfig, "unigram", "mean", True, {}, "MPNetForMaskedLM"),
    ("embed-e5", XLMRobertaConfig, "unigram", "mean", True, {"query": "query: ", "passage": "passage: "}, "XLMRobertaModel"),
    ("embed-modernbert", ModernBertConfig, "byte_level", "cls", False, {}, "ModernBertModel"),
    ("embed-gemma", Gemma3TextConfig, "byte_level", "mean", True, {"query": "task: search result | query: ", "document": "title: none | text: "}, "Gemma3TextModel"),
    # Exports of Qwen3-Embedding have the cache of the language model that it was.
    ("embed-qwen3", Qwen3Config, "byte_level", "lasttoken", True, {"query": "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"}, "Qwen3ForCausalLM"),
]
FIELDS = {
    Qwen3Config: {"num_key_value_heads": 1, "head_dim": 8},
    XLMRobertaConfig: {"type_vocab_size": 1}, ModernBertConfig: {"local_attention": 8},
    # EmbeddingGemma's: tokens see those after them, too.
    Gemma3TextConfig: {"use_bidirectional_attention": True, "num_key_value_heads": 1, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]},
}
# The features of EmbeddingGemma's two layers after pooling.
DENSE = {Gemma3TextConfig: [(16, 24), (24, 16)]}
TEXTS = ["The cat sat on the mat.", "What is the time in London? Once upon a time there was a small island."]


def dense_layers(sizes):
    for index, (features, own) in enumerate(sizes):
        layer = Dense(features, own, bias=False, activation_function=torch.nn.Identity())
        yield spread(layer, index)


def make():
    rows = []
    for repository, config_class, kind, pooling, normalizes, prompts, architecture in KINDS:
        tokenizer = tokenizer_of(kind, has_types=config_class is BertConfig)
        model = spread(AutoModel.from_config(small(config_class, kind, **FIELDS.get(config_class, {})), attn_implementation="eager"))
        if config_class in DENSE:
            export_text(repository, model, tokenizer, ["last_hidden_state"])
        elif config_class is Qwen3Config:
            tokenizer.padding_side = "left"
            export_with_cache(repository, model, tokenizer, "last_hidden_state")
        else:
            export(repository, model, "feature-extraction", [tokenizer])
        with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
            model.save_pretrained(source)
            if config_class is Gemma3TextConfig:
                # The config halves its window each time it is read.
                for folder in (pathlib.Path(source), HERE / repository):
                    saved = json.loads((folder / "config.json").read_text())
                    (folder / "config.json").write_text(json.dumps({**saved, "sliding_window": FIELDS[config_class]["sliding_window"]}, indent=2) + "\n")
            tokenizer.save_pretrained(source)
            transformer = Transformer(source, max_seq_length=64)
            modules = [transformer, Pooling(transformer.get_word_embedding_dimension(), pooling), *dense_layers(DENSE.get(config_class, [])), *([Normalize()] if normalizes else [])]
            sentences = SentenceTransformer(modules=modules, device="cpu", prompts=prompts or None)
            sentences.save(target)
            parts = [path.relative_to(target) for path in pathlib.Path(target).glob("*_*/*")]
            # Since 5.7, `max_seq_length` is the `model_max_length` of the tokenizer.
            for file in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json", "tokenizer_config.json", *parts):
                (HERE / repository / file).parent.mkdir(exist_ok=True)
                shutil.copy(f"{target}/{file}", HERE / repository / file)
            config = HERE / repository / "config.json"
            config.write_text(json.dumps({**json.loads(config.read_text()), "architectures": [architecture]}, indent=2) + "\n")
            requests = [{"input": text, "params": {}, "answer": sentences.encode(text)} for text in TEXTS]
            for name in prompts:
                requests.append({"input": TEXTS[0], "params": {"prompt": name}, "answer": sentences.encode(TEXTS[0], prompt_name=name)})
            if config_class is Qwen3Config:
                # A part of the vector, as of models that were trained for it, and a text by its tokens.
                requests.append({"input": TEXTS[0], "params": {"dimensions": 6}, "answer": sentences.encode(TEXTS[0], truncate_dim=6, normalize_embeddings=True)})
                requests.append({"input": {"tokens": tokenizer(TEXTS[0])["input_ids"]}, "params": {}, "answer": sentences.encode(TEXTS[0])})
        rows.append({"architecture": architecture, "repository": repository, **({"gpu": ["webgpu"]} if repository == "embed-minilm" else {}), "requests": requests})
    answers("text_feature_extractor", rows)
    rows += bare_rows({one["architecture"] for one in rows})
    rows += writer_rows({one["architecture"] for one in rows})
    answers("text_feature_extractor", [*rows, *paired_rows(), positions_row(), query_row()])
