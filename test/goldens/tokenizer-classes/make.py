"""Writes `src/worker/text/tokenizer-classes.ts`: the special tokens that transformers' classes of tokenizers have by
default, and which classes add tokens at the ends of a text.

    python test/goldens/tokenizer-classes/make.py

Needs transformers 4.57.
"""
import inspect
import json
import pathlib

import transformers
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

OUTPUT = pathlib.Path(__file__).resolve().parents[3] / "src/worker/text/tokenizer-classes.ts"
NAMES = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"]

found = {}
for slow, fast in TOKENIZER_MAPPING_NAMES.values():
    if fast is None:
        continue
    parameters = inspect.signature(getattr(transformers, fast).__init__).parameters
    defaults = [parameters[f"{name}_token"].default if f"{name}_token" in parameters else None for name in NAMES]
    tokens = [None if value is inspect.Parameter.empty or value is None else str(value) for value in defaults]
    if any(tokens):
        found.setdefault(tuple(tokens), set()).add(fast.removesuffix("TokenizerFast"))

rows = sorted((sorted(classes), tokens) for tokens, classes in found.items())
lines = "".join(
    f"  [{json.dumps(' '.join(classes))}, {json.dumps(' '.join(token or '-' for token in tokens))}],\n" for classes, tokens in rows
)
OUTPUT.write_text(f"""/** Made by test/goldens/tokenizer-classes/make.py. */

/** The names of the tokens of each row, in their order. */
const NAMES = {json.dumps([name + '_token' for name in NAMES])} as const;

/** Classes of tokenizers, without `TokenizerFast`, and their special tokens; `-` for none. */
const CLASSES: readonly (readonly [classes: string, tokens: string])[] = [
{lines}];

/**
 * Returns the special tokens of a tokenizer class of transformers, which count where `tokenizer_config.json` says nothing.
 */
export function defaultTokens(tokenizerClass: string): Readonly<Record<string, string>> {{
  const name = tokenizerClass.replace(/Tokenizer(Fast)?$/, '');
  const [, tokens = ''] = CLASSES.find(([classes]) => classes.split(' ').includes(name)) ?? [];
  const named = tokens.split(' ').map((token, at) => [NAMES[at]!, token] as const);
  return Object.fromEntries(named.filter(([, token]) => token !== '-' && token !== ''));
}}
""")
