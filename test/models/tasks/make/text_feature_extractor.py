import json
import shutil
import tempfile

from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from transformers import AutoModel, AutoModelForMaskedLM, BertConfig, ModernBertConfig, MPNetConfig, XLMRobertaConfig

from common import HERE, answers, export, small, spread, tokenizer_of

# A repository's name, its pooling, whether it normalizes, its prompts, and the class that its config.json names.
KINDS = [
    ("embed-minilm", BertConfig, "word_piece", "mean", True, {}, "BertModel"),
    ("embed-bge", BertConfig, "word_piece", "cls", True, {}, "BertModel"),
    ("embed-mpnet", MPNetConfig, "unigram", "mean", True, {}, "MPNetForMaskedLM"),
    ("embed-e5", XLMRobertaConfig, "unigram", "mean", True, {"query": "query: ", "passage": "passage: "}, "XLMRobertaModel"),
    ("embed-modernbert", ModernBertConfig, "byte_level", "cls", False, {}, "ModernBertModel"),
]
FIELDS = {XLMRobertaConfig: {"type_vocab_size": 1}, ModernBertConfig: {"local_attention": 8}}
TEXTS = ["The cat sat on the mat.", "What is the time in London? Once upon a time there was a small island."]


def make():
    rows = []
    for repository, config_class, kind, pooling, normalizes, prompts, architecture in KINDS:
        tokenizer = tokenizer_of(kind, has_types=config_class is BertConfig)
        model = spread(AutoModel.from_config(small(config_class, kind, **FIELDS.get(config_class, {})), attn_implementation="eager"))
        export(repository, model, "feature-extraction", [tokenizer])
        with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
            model.save_pretrained(source)
            tokenizer.save_pretrained(source)
            transformer = Transformer(source, max_seq_length=64)
            modules = [transformer, Pooling(transformer.get_word_embedding_dimension(), pooling), *([Normalize()] if normalizes else [])]
            sentences = SentenceTransformer(modules=modules, device="cpu", prompts=prompts or None)
            sentences.save(target)
            for file in ("modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
                (HERE / repository / file).parent.mkdir(exist_ok=True)
                shutil.copy(f"{target}/{file}", HERE / repository / file)
            config = HERE / repository / "config.json"
            config.write_text(json.dumps({**json.loads(config.read_text()), "architectures": [architecture]}, indent=2) + "\n")
            requests = [{"input": text, "params": {}, "answer": sentences.encode(text)} for text in TEXTS]
            for name in prompts:
                requests.append({"input": TEXTS[0], "params": {"prompt": name}, "answer": sentences.encode(TEXTS[0], prompt_name=name)})
        rows.append({"architecture": architecture, "repository": repository, **({"gpu": ["webgpu"]} if repository == "embed-minilm" else {}), "requests": requests})
    answers("text_feature_extractor", rows)
