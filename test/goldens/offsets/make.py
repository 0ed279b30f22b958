"""Where in a text each token stands, by Hugging Face's tokenizers in Python: `offset_mapping`, `word_ids` and
`sequence_ids` for 2,000 texts and each kind of tokenizer, for `test/unit/worker/text/offsets.spec.ts`.

    python test/goldens/offsets/make.py

Needs tokenizers 0.22. Of most texts, a tokenizer's answer is kept as eight digits of its SHA-256.
"""
import gzip
import hashlib
import json
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from texts import CORPUS, texts

HERE = pathlib.Path(__file__).resolve().parent
CHARSMAP = gzip.decompress((HERE / "charsmap.gz").read_bytes())
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SENTENCEPIECE = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def template(tokenizer, first, last, between=None):
    ids = [(token, tokenizer.token_to_id(token)) for token in dict.fromkeys([first, last])]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} {between or ''} $B:1 {last}:1".replace("  ", " "), special_tokens=ids)


def word_piece(normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=420, limit_alphabet=300, special_tokens=SPECIALS, show_progress=False))
    template(tokenizer, "[CLS]", "[SEP]")
    return tokenizer


def byte_level(normalizer=None, pre_tokenizer=None, space=False, trim=True):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.ByteLevel(add_prefix_space=space)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=480, special_tokens=SENTENCEPIECE[:4], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0), add_prefix_space=space, trim_offsets=trim)
    return tokenizer


def unigram(normalizer, pre_tokenizer, byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(CORPUS, trainers.UnigramTrainer(vocab_size=420, special_tokens=SENTENCEPIECE, unk_token="<unk>", show_progress=False))
    if byte_fallback:
        json_ = json.loads(tokenizer.to_str())
        json_["model"]["vocab"] += [[f"<0x{byte:02X}>", -12.0] for byte in range(256)]
        json_["model"]["byte_fallback"] = True
        tokenizer = Tokenizer.from_str(json.dumps(json_))
    template(tokenizer, "<s>", "</s>", "</s>")
    return tokenizer


def llama(fuse):
    """Byte-pair encoding as SentencePiece has it: spaces are marked by normalizers, unknown characters are bytes."""
    marked = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=not fuse))
    tokenizer.normalizer = marked
    bytes_ = [] if fuse else [f"<0x{byte:02X}>" for byte in range(256)]
    words = [part for text in CORPUS for part in text.split()]
    tokenizer.train_from_iterator(words, trainers.BpeTrainer(
        vocab_size=420 + len(bytes_), limit_alphabet=90, special_tokens=["<unk>", "<s>", "</s>", *bytes_], show_progress=False))
    json_ = json.loads(tokenizer.to_str())
    # Bytes are in the vocabulary alone: written in a text, they are text.
    json_["added_tokens"] = [one for one in json_["added_tokens"] if not one["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(json_))
    template(tokenizer, "<s>", "</s>")
    return tokenizer


def with_added(tokenizer):
    """Added tokens of all kinds. They are in the texts, too."""
    tokenizer.add_tokens([
        AddedToken("<left>", lstrip=True), AddedToken("<right>", rstrip=True), AddedToken("Lighthouse", normalized=True),
        AddedToken("sea", single_word=True), AddedToken("ÉCOLE", normalized=True), AddedToken("naïve", normalized=False)])
    tokenizer.add_special_tokens([AddedToken("<both>", lstrip=True, rstrip=True)])
    return tokenizer


def kinds():
    n, p = normalizers, pre_tokenizers
    bert = n.BertNormalizer
    precompiled = n.Precompiled(CHARSMAP)
    spaces = n.Replace(Regex(" {2,}"), " ")
    marks = lambda scheme="always", split=True: p.Metaspace(replacement="▁", prepend_scheme=scheme, split=split)
    return {
        "bert": word_piece(bert(lowercase=True), p.BertPreTokenizer()),
        "bert cased": word_piece(bert(lowercase=False), p.BertPreTokenizer()),
        "bert cased without accents": word_piece(bert(lowercase=False, strip_accents=True, clean_text=False, handle_chinese_chars=False), p.BertPreTokenizer()),
        "lowercase, NFD, no accents": word_piece(n.Sequence([n.Lowercase(), n.NFD(), n.StripAccents()]), p.Whitespace()),
        "NFKD, punctuation, digits": word_piece(n.NFKD(), p.Sequence([p.WhitespaceSplit(), p.Punctuation(), p.Digits(individual_digits=True)])),
        "contiguous": word_piece(n.NFKC(), p.Sequence([p.WhitespaceSplit(), p.Punctuation("contiguous"), p.Digits()])),
        "merged with previous": word_piece(n.Strip(), p.Sequence([p.Split(" ", "merged_with_previous"), p.Split(Regex("[a-e]"), "merged_with_next"), p.WhitespaceSplit()])),
        "split, inverted": word_piece(n.Replace(Regex(r"\d+"), "0"), p.Split(Regex(r"\w+|[^\w\s]+"), "removed", invert=True)),
        "roberta": byte_level(),
        "roberta with a space": byte_level(space=True),
        "gpt-2, not trimmed": byte_level(trim=False),
        "gpt-4": byte_level(n.NFC(), p.Sequence([p.Split(Regex(GPT4), "isolated"), p.ByteLevel(add_prefix_space=False, use_regex=False)])),
        "unigram, NFKC": unigram(n.Sequence([n.NFKC(), n.Replace("  ", " ")]), marks()),
        "unigram, bytes": unigram(n.Nmt(), marks("first"), byte_fallback=True),
        "xlm-r": unigram(n.Sequence([precompiled, spaces]), p.Sequence([p.WhitespaceSplit(), marks()])),
        "t5": unigram(precompiled, marks()),
        "deberta-v3": unigram(n.Sequence([n.Strip(), precompiled, spaces]), marks()),
        "albert": unigram(n.Sequence([n.Replace("``", '"'), n.Replace("''", '"'), n.NFKD(), n.StripAccents(), n.Lowercase(), precompiled, spaces]), marks()),
        "not split": unigram(precompiled, marks("first", split=False)),
        "llama": llama(False),
        "llama without bytes": llama(True),
        "bert, added tokens": with_added(word_piece(bert(lowercase=True), p.BertPreTokenizer())),
        "roberta, added tokens": with_added(byte_level()),
        "xlm-r, added tokens": with_added(unigram(n.Sequence([precompiled, spaces]), p.Sequence([p.WhitespaceSplit(), marks()]))),
    }


def answer(encoding):
    """Ids, offsets in code points, words; of a token that the tokenizer has added, -1."""
    return [[id, *((sequence, *offsets, word) if sequence is not None else (-1, -1, -1, -1))] for id, offsets, word, sequence in zip(
        encoding.ids, encoding.offsets, encoding.word_ids, encoding.sequence_ids)]


def digest(encoding):
    text = ";".join(",".join(map(str, token)) for token in answer(encoding))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def windows(tokenizer, rng, all_texts):
    """Long texts and pairs, truncated and in windows that overlap."""
    found = []
    for at in range(12):
        first, second = rng.choice(all_texts), " ".join(rng.sample(all_texts, 4))
        pair = second if at % 3 else None
        text = first if pair else second
        side = "left" if at % 4 == 3 else "right"
        length = (len(tokenizer.encode(first).ids) if pair else 0) + rng.randint(16, 40)
        stride = rng.choice([0, 3, 8])
        tokenizer.enable_truncation(length, stride=stride, strategy="only_second" if pair else "longest_first", direction=side)
        encoding = tokenizer.encode(text, pair) if pair else tokenizer.encode(text)
        tokenizer.no_truncation()
        # Without room, Python makes windows of nothing.
        found.append({"text": text, "pair": pair, "side": side, "length": length, "stride": stride, "windows": [digest(one) for one in [encoding, *encoding.overflowing]]})
    return found


if __name__ == "__main__":
    random_ = random.Random(7)
    all_texts = texts(random_)
    rows = {}
    for name, tokenizer in kinds().items():
        encodings = [tokenizer.encode(text) for text in all_texts]
        json_ = json.loads(tokenizer.to_str().replace(json.loads(normalizers.Precompiled(CHARSMAP).__getstate__())["precompiled_charsmap"], "charsmap"))
        rows[name] = {
            "tokenizer": json_, "digests": "".join(map(digest, encodings)),
            # In words, so to say: what to read when a test fails.
            "examples": {at: answer(encodings[at]) for at in range(0, 40, 8)},
            "windows": windows(tokenizer, random_, [text for text in all_texts if 40 < len(text) < 400]),
        }
        print(name, len(rows[name]["digests"]) // 8)
    path = HERE / "offsets.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"texts": all_texts, "kinds": rows}, ensure_ascii=False).encode(), 9, mtime=0))
    print(path.stat().st_size)
