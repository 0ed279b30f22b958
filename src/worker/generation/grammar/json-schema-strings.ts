/** What JSON Schema says of strings. */
import { invalidInput } from '../../../contract/errors.js';
import { CHARACTER } from './characters.js';
import { repeat, type Grammar } from './grammar.js';
import { string, stringOf } from './json.js';
import { matchingTexts } from './pattern.js';
import type { Budget } from './regular.js';
import type { Schema } from './schema-dialects.js';
import { countsOf } from './schema-values.js';

/**
 * Returns the grammar of the strings that fit a schema.
 * @throws `invalid-input` for a pattern that is not supported, and if no string fits
 */
export function stringGrammar(schema: Schema, path: string, budget: Budget): Grammar {
  if (schema['patterns'] === undefined) return string(...countsOf(schema, 'minLength', 'maxLength', path));
  return stringOf(contentOf(schema, path, budget)!);
}

/**
 * Returns the content of the strings that fit a schema, each character in one form; undefined if any does.
 * @throws as `stringGrammar` does
 */
export function contentOf(schema: Schema, path: string, budget: Budget): Grammar | undefined {
  const lengths = countsOf(schema, 'minLength', 'maxLength', path);
  const patterns = (schema['patterns'] ?? []) as readonly string[];
  if (patterns.length === 0)
    return lengths[0] === 0 && lengths[1] === Infinity ? undefined : repeat(CHARACTER, ...lengths);
  const content = matchingTexts(patterns, lengths, `${path}.pattern`, budget);
  if (content) return content;
  throw invalidInput(`${path}: no text fits its pattern, format and length.`);
}
