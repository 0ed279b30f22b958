"""Makes the tokenizers and tiny models of this folder, and their expected answers.

    pip install torch onnx onnxruntime tokenizers
    git clone https://github.com/pytorch/serve    # 62c4d6a; only for goldens.json's part "torchserve", which is kept without it
    python test/models/text/make.py [--serve path/to/serve] && python test/models/tfjs/make.py    # which has word-piece's weights too

Reads   training/languages.sentences.json, public/models/languages/
Writes  word-piece/, byte-level-bpe/, unigram/   tokenizer.json of each kind, and weights that take ids, mask and types
        embedding-bag/   TorchServe's vocabulary, and weights that take tokens and offsets
        goldens.json     ids, masks and types by Hugging Face's tokenizers; tokens by TorchServe's functions; logits by ONNX Runtime
"""

import argparse
import json
import re
import runpy
import sys
import unicodedata
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "training"))
from common import write_json  # noqa: E402

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]

TEXTS = [
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog.",
    "",
    " ",
    "a",
    "   leading, trailing and    double spaces   ",
    "tabs\tand\nnew lines\r\n",
    "ALL CAPITALS and CamelCase",
    "naïve café, déjà vu, Ångström, Dvořák",
    "cafe\u0301 with a combining accent",
    "ΟΔΥΣΣΕΥΣ, Οδυσσεύς και ΣΑΣ",
    "İstanbul'da ılık bir gün",
    "Straße, GROẞ, weiß",
    "Доброе утро, как дела?",
    "صباح الخير، كيف حالك؟",
    "בוקר טוב, מה שלומך?",
    "मुझे एक कप कॉफ़ी चाहिए।",
    "สถานีรถไฟอยู่ที่ไหน",
    "今天天气很好。火车站在哪里？",
    "𠀀𠀁 beyond the basic plane, 𪚥 too",
    "今日は天気がいいですね。コーヒー",
    "커피 한 잔 주세요.",
    "😀 😃👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
    "only😀emoji😀between",
    "1,234.56 € = $1.300,00 (½ price)",
    "ﬁne ﬂuﬀy ligatures, ①②③, ｆｕｌｌ width",
    "e-mail@example.com https://example.com/?q=1&r=2#top",
    "don't can't I'm they've y'all",
    "zero\u200bwidth\u00a0no-break\u00adsoft hyphen\ufeff",
    "control\u0000\u0007characters\u007f",
    "replacement \ufffd character",
    "supercalifragilisticexpialidocious" * 4,
    "[CLS] in the text [SEP]",
    "\u202eright to left\u202c mark",
    "नमस्ते สวัสดี 你好 안녕 שלום مرحبا Привет",
    "…“quotes” — dashes – and ‘more’…",
]
PAIRS = [
    ["Where is the train station?", "Der Bahnhof ist dort drüben."],
    ["short", "A second text that is a good deal longer than the first one."],
    ["A first text that is a good deal longer than the second one, and goes on.", "short"],
    ["Two texts of about one length", "that both have to lose some tokens"],
    ["", "only the second"],
    ["only the first", ""],
]
# One batch for the models, its rows of many lengths.
BATCH = [TEXTS[0], TEXTS[1], TEXTS[4], *TEXTS[8:12], TEXTS[18], TEXTS[22], *map(tuple, PAIRS[:4])]


# ── Tokenizers ──────────────────────────────────────────────────────────────────────────────────


def corpus():
    return [text for texts in json.loads((ROOT / "training/languages.sentences.json").read_text()).values() for text in texts] + TEXTS[:2] * 3


def word_piece():
    """BERT's."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(corpus(), trainers.WordPieceTrainer(vocab_size=900, special_tokens=SPECIAL, show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def byte_level_bpe():
    """RoBERTa's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<s>", "<pad>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def unigram():
    """T5's and XLM-RoBERTa's."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=900, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[("</s>", 1)])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


KINDS = {
    "word-piece": (word_piece, {"pad_id": 0, "pad_token": "[PAD]"}),
    "byte-level-bpe": (byte_level_bpe, {"pad_id": 1, "pad_token": "<pad>"}),
    "unigram": (unigram, {"pad_id": 0, "pad_token": "<pad>", "pad_type_id": 1}),
}


def row(encoding):
    mask = {} if all(encoding.attention_mask) else {"mask": encoding.attention_mask}
    return {"ids": encoding.ids, **mask, "types": encoding.type_ids}


def tokens_of(tokenizer, padding):
    """Rows alone, rows cut, and batches filled up, as `tokenizer.encode_batch` gives them."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    inputs = [*TEXTS, *map(tuple, PAIRS)]
    cut = []
    # An even number for the pair: tokenizers 0.23 stops early in a long text, and gives an odd token to the text that it happens to have more of.
    for room in (2, 6, 12, 20):
        max_length = room + tokenizer.num_special_tokens_to_add(True)
        tokenizer.enable_truncation(max_length)
        cut += [{"input": text, "maxLength": max_length, **row(tokenizer.encode(*([text] if isinstance(text, str) else text)))} for text in [TEXTS[1], TEXTS[31], *map(tuple, PAIRS)]]
    files = []
    for name, truncation, fill in [
        ("left", {"max_length": 12, "direction": "left"}, {"direction": "left"}),
        ("only_second", {"max_length": 24, "strategy": "only_second"}, {"pad_to_multiple_of": 8}),
        ("only_first", {"max_length": 28, "strategy": "only_first"}, {"length": 32}),
    ]:
        tokenizer.enable_truncation(**truncation)
        tokenizer.enable_padding(**padding, **fill)
        batch = {"left": [*TEXTS[:9], tuple(PAIRS[3])], "only_second": [tuple(PAIRS[1])], "only_first": [tuple(PAIRS[2])]}[name]
        sections = {key: json.loads(tokenizer.to_str())[key] for key in ("truncation", "padding")}
        try:
            files.append({"name": name, **sections, "inputs": batch, "rows": [row(e) for e in tokenizer.encode_batch(batch)]})
        except Exception as error:
            files.append({"name": name, **sections, "inputs": batch, "error": str(error)})
    tokenizer.no_truncation()
    tokenizer.no_padding()
    alone = [{"input": text, **row(tokenizer.encode(*([text] if isinstance(text, str) else text)))} for text in inputs]
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(**padding)
    batch = [row(e) for e in tokenizer.encode_batch(BATCH)]
    return {"alone": alone, "cut": cut, "files": files, "batch": batch}


# ── Models ──────────────────────────────────────────────────────────────────────────────────────


class Pooled(nn.Module):
    """Embeddings of ids and types, their mean where the mask says so, and a linear layer."""

    def __init__(self, vocabulary):
        super().__init__()
        self.ids, self.types, self.head = nn.Embedding(vocabulary, 8), nn.Embedding(2, 8), nn.Linear(8, 3)

    def forward(self, input_ids, attention_mask, token_type_ids):
        mask = attention_mask.to(torch.float32)[:, :, None]
        return self.head(((self.ids(input_ids) + self.types(token_type_ids)) * mask).sum(1) / mask.sum(1))


class Bag(nn.Module):
    """TorchServe's example of a text classifier: the mean of a row's embeddings, and a linear layer."""

    def __init__(self, vocabulary):
        super().__init__()
        self.embedding, self.head = nn.EmbeddingBag(vocabulary, 8), nn.Linear(8, 4)

    def forward(self, text, offsets):
        return self.head(self.embedding(text, offsets))


def export(model, path, feeds, dynamic):
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"input_names": list(feeds), "output_names": ["logits"], "dynamic_axes": dynamic, "opset_version": 17, "dynamo": False}
    torch.onnx.export(model.eval(), tuple(feeds.values()), str(path), **options)
    return onnxruntime.InferenceSession(str(path))


def manifest(name, extensions):
    model = {"modelName": name, "serializedFile": "model.onnx", "handler": "text_classifier", "configFile": "model-config.yaml", "extensions": extensions}
    return {"createdOn": "2026-11-21T00:00:00Z", "runtime": "tabserve", "archiverVersion": "1.0", "model": model}


def pooled_model(name, tokenizer, batch):
    torch.manual_seed(20261121)
    feeds = {key: torch.tensor([r[field] for r in batch]) for key, field in (("input_ids", "ids"), ("token_type_ids", "types"))}
    feeds["attention_mask"] = torch.tensor([r.get("mask", [1] * len(r["ids"])) for r in batch])
    feeds = {key: feeds[key] for key in ("input_ids", "attention_mask", "token_type_ids")}
    dynamic = {key: {0: "batch", 1: "length"} for key in feeds} | {"logits": {0: "batch"}}
    model = Pooled(tokenizer.get_vocab_size())
    session = export(model, HERE / name / "model.onnx", feeds, dynamic)
    write_json(HERE / name / "MAR-INF/MANIFEST.json", manifest(name, "tokenizer.json"))
    (HERE / name / "model-config.yaml").write_text("handler:\n  labels: [first, second, third]\n")
    return session.run(None, {key: value.numpy() for key, value in feeds.items()})[0].tolist()


def bag_model(vocabulary, cases):
    torch.manual_seed(20261121)
    ids = [[vocabulary.get(token, vocabulary["<unk>"]) for token in case["ngrams"]] for case in cases]
    offsets = np.cumsum([0, *map(len, ids[:-1])])
    feeds = {"text": torch.tensor([i for row in ids for i in row]), "offsets": torch.tensor(offsets)}
    session = export(Bag(len(vocabulary)), HERE / "embedding-bag/model.onnx", feeds, {"text": {0: "tokens"}, "offsets": {0: "batch"}, "logits": {0: "batch"}})
    write_json(HERE / "embedding-bag/MAR-INF/MANIFEST.json", manifest("embedding-bag", "source_vocab.json"))
    write_json(HERE / "embedding-bag/source_vocab.json", vocabulary)
    (HERE / "embedding-bag/model-config.yaml").write_text("handler:\n  tokenizer: torchserve\n  labels: [World, Sports, Business, Sci/Tech]\n")
    return session.run(None, {key: value.numpy() for key, value in feeds.items()})[0].tolist()


# ── TorchServe's pipeline ───────────────────────────────────────────────────────────────────────

NEWS = [
    "The <b>World</b> Cup &amp; more: Brazil won't play, they've said.",
    "Stocks can't've fallen; it's 5 o'clock &#8211; Wall St.",
    "'cause y'all'd've ain't I'd he'll've",
    "Crème brûlée & naïve café — déjà vu",
    "One.Two,three!(four)?five;six:seven \"eight\" nine's",
    "MIXED Case\tand\nlines\x1cof\x1fsorts",
    "日本 news: Tokyo 東京 ½ ﬁne",
    "a",
    "<div class=\n'x'>kept</div> <br/>gone",
    "Don’t expand typographic apostrophes",
]


def torchserve(serve):
    """TorchServe's own table and functions, but the longest contraction wins and is expanded whole, and "he he will have" is "he will have"."""
    table = runpy.run_path(str(serve / "ts/torch_handler/contractions.py"))["CONTRACTION_MAP"]
    table = {key.lower(): value.lower().replace("he he", "he") for key, value in table.items()}
    utils = runpy.run_path(str(serve / "ts/handler_utils/text_utils.py"))
    cleanup = re.compile(re.search(r'CLEANUP_REGEX = re.compile\("(.*)"\)', (serve / "ts/utils/util.py").read_text()).group(1))
    pattern = re.compile("|".join(sorted(map(re.escape, table), key=len, reverse=True)), re.DOTALL)
    punctuation = str.maketrans("", "", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

    def tokens(text):
        text = pattern.sub(lambda match: table[match.group(0)], cleanup.sub("", text).lower())
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("utf-8", "ignore")
        return utils["get_tokenizer"]("basic_english")(text.translate(punctuation))

    def case(text, n=2):
        return {"text": text, "ngrams": list(utils["ngrams_iterator"](tokens(text), n))}

    return {"bigrams": [case(text) for text in NEWS], "trigrams": [case(text, 3) for text in NEWS[:3]], "contractions": [{"text": key, "words": tokens(key)} for key in table]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", type=Path, help="a checkout of pytorch/serve")
    options = parser.parse_args()
    kept = json.loads((HERE / "goldens.json").read_text()) if (HERE / "goldens.json").exists() else {}
    goldens = {"tokenizers": {}, "torchserve": torchserve(options.serve) if options.serve else kept["torchserve"]}
    for name, (make, padding) in KINDS.items():
        path = HERE / name / "tokenizer.json"
        if not path.exists():  # Two trainings may number tokens otherwise.
            path.parent.mkdir(exist_ok=True)
            make().save(str(path), pretty=False)
        tokenizer = Tokenizer.from_file(str(path))
        found = tokens_of(tokenizer, padding)
        goldens["tokenizers"][name] = {**{key: found[key] for key in ("alone", "cut", "files")}, "padded": found["batch"], "logits": pooled_model(name, tokenizer, found["batch"])}
        print(name, tokenizer.get_vocab_size(), "tokens")
    bigrams = goldens["torchserve"]["bigrams"]
    vocabulary = {token: i for i, token in enumerate(["<unk>", *dict.fromkeys(token for case in bigrams[::2] for token in case["ngrams"])])}
    goldens["torchserve"]["logits"] = bag_model(vocabulary, bigrams)
    ours = Tokenizer.from_file(str(ROOT / "public/models/languages/tokenizer.json"))
    batch = ours.encode_batch(TEXTS)
    session = onnxruntime.InferenceSession(str(ROOT / "public/models/languages/languages.onnx"))
    feeds = {"input_ids": np.array([e.ids for e in batch]), "attention_mask": np.array([e.attention_mask for e in batch])}
    goldens["languages"] = {"padded": [row(e) for e in batch], "logits": session.run(None, feeds)[0].tolist()}
    goldens["texts"], goldens["batch"] = TEXTS, BATCH
    write_json(HERE / "goldens.json", goldens)


if __name__ == "__main__":
    main()
