"""Writes files.json: what transformers makes of tokenizers whose special tokens are in several files, for
`test/unit/worker/text/tokenizer-config.spec.ts`.

    python test/goldens/tokenizer-classes/files.py

Needs transformers 4.57.
"""
import json
import pathlib
import tempfile

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import AutoTokenizer

HERE = pathlib.Path(__file__).resolve().parent
WORDS = ["<unk>", "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<|endoftext|>", "a", "b", "<x>", "<y>", "<", ">", "x", "y", "s", "/", "pad", "|", "unk", "endoftext", "bos", "eos"]
FAST = "PreTrainedTokenizerFast"
CASES = {
    "nothing": ({"tokenizer_class": FAST}, {}),
    "in the config": ({"tokenizer_class": FAST, "bos_token": "<s>", "eos_token": {"content": "</s>", "__type": "AddedToken", "lstrip": False, "rstrip": True, "normalized": False, "single_word": False}}, {}),
    "in the map": ({"tokenizer_class": FAST}, {"special_tokens_map.json": {"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}, "additional_special_tokens": ["<x>", "<y>"]}}),
    "the map wins": ({"tokenizer_class": FAST, "bos_token": "<bos>"}, {"special_tokens_map.json": {"bos_token": "<s>"}}),
    "the map does not count": ({"tokenizer_class": FAST, "bos_token": "<bos>", "added_tokens_decoder": {"4": {"content": "<bos>", "special": True, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}}}, {"special_tokens_map.json": {"bos_token": "<s>"}}),
    "added_tokens.json": ({"tokenizer_class": FAST}, {"added_tokens.json": {"<x>": 9, "<new>": 23}}),
    "added_tokens_decoder": ({"tokenizer_class": FAST, "eos_token": "<y>", "added_tokens_decoder": {"9": {"content": "<x>", "special": False, "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}, "10": {"content": "<y>", "special": True, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}}}, {}),
    "Llama": ({"tokenizer_class": "LlamaTokenizer"}, {}),
    "Llama without bos": ({"tokenizer_class": "LlamaTokenizer", "add_bos_token": False, "add_eos_token": True}, {}),
    "Gemma": ({"tokenizer_class": "GemmaTokenizerFast", "add_eos_token": True}, {}),
    "GPTNeoX": ({"tokenizer_class": "GPTNeoXTokenizer"}, {}),
    "GPTNeoX with bos": ({"tokenizer_class": "GPTNeoXTokenizerFast", "add_bos_token": True, "bos_token": "<s>"}, {}),
    "Qwen2": ({"tokenizer_class": "Qwen2Tokenizer", "pad_token": "<pad>"}, {}),
    "null": ({"tokenizer_class": "LlamaTokenizerFast", "unk_token": None, "pad_token": "<pad>"}, {}),
    "extra": ({"tokenizer_class": FAST, "extra_special_tokens": {"image_token": "<x>"}, "eos_token": "</s>"}, {}),
}
TEXTS = ["a b", "a<x> b", "a <s>b</s> a", "<y><x><new>"]


def tokenizer():
    made = Tokenizer(models.WordPiece({word: id for id, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.WordPiece(cleanup=False)
    made.add_special_tokens(["<unk>"])
    made.post_processor = processors.TemplateProcessing(single="$A b", pair="$A b $B b", special_tokens=[("b", 8)])
    return json.loads(made.to_str())


def main():
    base, cases = tokenizer(), []
    for name, (config, files) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            all_files = {"tokenizer.json": base, "tokenizer_config.json": config, **files}
            for path, value in all_files.items():
                (pathlib.Path(folder) / path).write_text(json.dumps(value))
            made = AutoTokenizer.from_pretrained(folder)
            special = {key: value for key, value in made.special_tokens_map.items()}
            texts = [{"text": text, "ids": made(text)["input_ids"], "decoded": made.decode(made(text)["input_ids"], skip_special_tokens=True)} for text in TEXTS]
            cases.append({"name": name, "files": {"tokenizer_config.json": config, **files}, "special": special, "texts": texts})
    (HERE / "files.json").write_text(json.dumps({"tokenizer": base, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
