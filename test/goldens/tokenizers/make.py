"""What Hugging Face's decoders and patterns do, in Python, for `test/unit/worker/text/decoders.spec.ts` and
`patterns.spec.ts` there.

    python test/goldens/tokenizers/make.py

Needs tokenizers 0.22.
"""
import json
import pathlib
import random

from tokenizers import Regex, decoders, normalizers

HERE = pathlib.Path(__file__).resolve().parent

BYTES = [f"<0x{byte:02X}>" for byte in [0xC3, 0xA9, 0xFF, 0xE2, 0x82, 0xAC, 0xEF, 0xBB, 0xBF, 0x41, 0x20]]
TOKENS = [
    "a", "b", "▁the", "▁", "▁▁", "▁▁x▁y", "Ġsea", "Ġ", "Ã", "©", "âĤ¬", "ï»¿", "naïve", "東京", "😀", "new\nline", "##ing", "##", "x##y",
    "un</w>", "</w>", "o</w>n</w>", " ", "  two  ", "", ".", " .", "n't", "'", " ' ", "do not", "|", "a|b", "<pad>", "<pad>x", "s", "s",
    "$&", "$1", "<0xZZ>", "<0x4>", "<0xe9>", *BYTES,
]


def some_decoders():
    d = decoders
    return [
        d.ByteLevel(), d.ByteFallback(), d.Fuse(), d.Metaspace(), d.Metaspace(prepend_scheme="first"), d.Metaspace(prepend_scheme="never"),
        d.Metaspace(replacement="$"), d.WordPiece(), d.WordPiece(cleanup=False), d.WordPiece(prefix="x"), d.BPEDecoder(), d.BPEDecoder(suffix="s"),
        d.CTC(), d.CTC(cleanup=False), d.CTC(pad_token="s", word_delimiter_token="a"), d.Strip(" ", 1, 0), d.Strip(" ", 1, 2), d.Strip("s", 3, 3),
        d.Replace("▁", " "), d.Replace("a", "$&"), d.Replace(Regex(r"\s+|[^\p{L}]"), "-"), d.Sequence([]),
        d.Sequence([d.Replace("▁", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)]), d.Sequence([d.ByteFallback(), d.Metaspace()]),
        d.Sequence([d.Fuse(), d.Metaspace()]), d.Sequence([d.CTC(), d.Fuse(), d.Replace("s", "")]), d.Sequence([d.ByteLevel(), d.Strip("a", 1, 1)]),
    ]


def decoded(decoder, rng):
    """Rows of tokens and their text. Python fails for a token that has fewer characters than are to be removed: left out."""
    rows = []
    lists = [[token] for token in rng.sample(TOKENS, 12)] + [rng.choices(TOKENS, k=rng.randint(2, 10)) for _ in range(16)] + [rng.choices(BYTES, k=6) for _ in range(4)]
    for tokens in lists:
        try:
            rows.append([tokens, decoder.decode(tokens)])
        except BaseException:  # A panic of Rust's.
            pass
    return rows


TEXTS = [
    "a\nb\n", "aab abc aaa", "AB aBc ABc", "it's IT'S 'ſ 'LL a.b a]b }{ a{b -é x abB [\n", "aa", "abab", "a b", "axb",
    "Die Straße, 東京 2024! ²½ naïve_x\r\n\t 12345 K k €+=~ ١٢ \u00a0\u2028e\u0301 😀‍👩 Ελλάδα don't I'VE", "a" * 5 + "b" + "-" * 3,
]
# What tokenizers of language models split at, and each part of the syntax.
PATTERNS = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+", r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", r"[一-龥ࠀ-一가-퟿]+", r"\d+", r"\w+|[^\w\s]+", r" {2,}", r"[0-9][0-9][0-9]",
    r"\w", r"\W", r"[\w]", r"[\W]", r"\d", r"\D", r"\s", r"\S", r"\h", r"\H", r"[\h]", r".", r"\b", r"^a", r"^", r"$", r"b$", r"\Aa", r"b\z", r"b\Z",
    r"[[:alpha:]]", r"[[:alnum:]]+", r"[[:digit:]]", r"[[:lower:]]", r"[[:upper:]]", r"[[:space:]]", r"[[:blank:]]", r"[[:punct:]]", r"[[:^punct:]]",
    r"[[:cntrl:]]", r"[[:word:]]", r"[[:xdigit:]]", r"\p{Word}", r"\P{Word}", r"\p{Punct}", r"\p{Alpha}", r"\p{han}", r"\p{Latin}+", r"\p{^L}", r"\P{L}", r"\p{Letter}",
    r"a++a", r"(?>a+)a", r"(?>a|ab)c", r"a{2}+", r"a{2}?b", r"a{,2}b", r"a{1,2}?", r"a+?", r"(?:ab)+", r"(a|ab)++c", r"{", r"a{b", r"}", r"]", r"[]a]", r"[a\-z]", r"[a-]",
    r"[-a]", r"[a-c-e]", r"[^a&&[ab]]", r"[a-z&&[^aeiou]&&[b-y]]", r"[a&b]", r"(?i:AB)c", r"(?i:a(?:b))B", r"(?i:[a-b])", r"(?i:[^a-b])", r"(?i:s)", r"(?i:k)", r"(?i:É)",
    r"(?#a comment)a", r"(?<name>a)b", r"a(?=b)", r"a(?!b)", r"(?<=a)b", r"(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", r"\x61", r"\x{1F600}", r"[\x00-\x1F]", r"\u00e9", r"\t", r"\/", r"\é",
]


def replaced(pattern):
    normalizer = normalizers.Replace(Regex(pattern), "<$&>")
    return [normalizer.normalize_str(text) for text in TEXTS]


if __name__ == "__main__":
    random_ = random.Random(11)
    made = {
        "decoders": [{"decoder": json.loads(one.__getstate__()), "rows": decoded(one, random_)} for one in some_decoders()],
        "texts": TEXTS,
        "patterns": {pattern: replaced(pattern) for pattern in PATTERNS},
    }
    path = HERE / "expected.json"
    path.write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(path.stat().st_size)
