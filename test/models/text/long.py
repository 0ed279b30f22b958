"""Long texts that are cut before they are tokenized: what Hugging Face's tokenizers, which see them whole, return. Writes long.json. Needs: pip install tokenizers."""

import hashlib
import json
from pathlib import Path

from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent

# Each text is its parts, repeated. Their lengths are coprime to the length of the pieces, so that cuts fall everywhere.
TEXTS = {
    "words": ["The quick brown fox jumps over the lazy dog. ", 211],
    "spaces": ["a  b   c \t d\n\ne f ", 431],
    "accents": ["naïve café cafe\u0301 déjà vu Ångström ", 263],
    "greek": ["ΟΔΥΣΣΕΥΣ Οδυσσεύς και ΣΑΣ ", 311],
    "russian": ["Доброе утро, как дела? ", 331],
    "chinese": ["今天天气很好。火车站在哪里？", 467],
    "contractions": ["don't can't I'm they've y'all ", 257],
    "numbers": ["1,234.56 or 1.300,00 in 2024 ", 271],
    "special": ["[CLS] in the text [SEP] and <s> here </s> too ", 173],
    "unknown": ["only😀emoji😀between words ☃ snow ", 223],
    "long words": ["supercalifragilisticexpialidocious" * 4 + " short ", 59],
    # NFKC makes 18 characters of it.
    "ligatures": ["ﷺ", 12000],
    "no spaces": ["one,two;three.four-", 367],
}

SEQUENCE = [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}]
def split_and_bytes(expression):
    """As Llama 3, Qwen and GPT-4o have it."""
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}}


CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DIGITS = [{"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]
# Other steps in the place of the tokenizer's own.
VARIANTS = {
    "word-piece": {"as it is": {}, "cased": {"normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": False, "strip_accents": None, "lowercase": False}}},
    "byte-level-bpe": {"as it is": {}, "prefix": {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}}, "NFC": {"normalizer": {"type": "NFC"}},
        "digits": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": DIGITS}},
        "llama 3": split_and_bytes(rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}"),
        "qwen": split_and_bytes(rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{REST}") | {"normalizer": {"type": "NFC"}},
        "gpt-4o": split_and_bytes(O200K)},
    "unigram": {"as it is": {}, "split": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": SEQUENCE}}, "one word": {"pre_tokenizer": None}},
}


def main():
    cases = []
    for kind, variants in VARIANTS.items():
        for variant, steps in variants.items():
            tokenizer = Tokenizer.from_str(json.dumps(json.loads((HERE / kind / "tokenizer.json").read_text()) | steps))
            for name, (part, count) in TEXTS.items():
                ids = tokenizer.encode(part * count, add_special_tokens=False).ids
                digest = hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()
                cases.append({"kind": kind, "variant": variant, "text": name, "tokens": len(ids), "sha256": digest, "first": ids[:8], "last": ids[-8:]})
    head = {"texts": {name: {"part": part, "count": count} for name, (part, count) in TEXTS.items()}, "variants": VARIANTS}
    text = json.dumps(head, ensure_ascii=False, indent=2)[:-2] + ',\n  "cases": [\n' + ",\n".join(f"    {json.dumps(case)}" for case in cases) + "\n  ]\n}\n"
    (HERE / "long.json").write_text(text)


if __name__ == "__main__":
    main()
