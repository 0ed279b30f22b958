import type { Node, YAMLMap } from 'yaml';
import { shorten } from '../contract/describe-value.js';
import { isError, messageOf, TabServeError } from '../contract/errors.js';
import { MOST_TOKENS, MOST_VALUES } from '../contract/limits.js';
import type { Yaml } from '../libraries/yaml.js';

/** The most levels of nesting. */
const MAX_DEPTH = 64;
/** The most characters. */
const MAX_LENGTH = 2 ** 19;
const MAX_ALIASES = 100;
/** Lists that begin on one line, one in the other. */
const NESTED_ON_ONE_LINE = new RegExp(`([-?:][ \\t]+){${MAX_DEPTH}}`);

/**
 * Parses YAML 1.2 with merge keys (`<<`), which TorchServe's configs may have. Aliases may repeat what they name, up to 100 times and `MOST_VALUES`
 * values; tags of other types than JSON's are refused, since no config needs them.
 * @param yaml the parser
 * @throws `model-config` if it is not YAML, or hostile
 */
export function parseYaml(text: string, file: string, yaml: Yaml): unknown {
  const wrong = (why: string, cause?: unknown): TabServeError =>
    new TabServeError('model-config', `${file} is not YAML that a config can be: ${why}`, { cause });
  const tooDeep = (): TabServeError => wrong(`it is nested more than ${MAX_DEPTH} levels deep.`);
  if (text.length > MAX_LENGTH) throw wrong(`it has ${text.length} characters, and may have ${MAX_LENGTH}.`);
  // The parser recurses, and a stack that overflows can end the worker.
  if (NESTED_ON_ONE_LINE.test(text) || bracketDepth(text) > MAX_DEPTH) throw tooDeep();
  if (hasTooManyTokens(yaml, text))
    throw wrong(
      `it has more than ${MOST_TOKENS} tokens (keys, values, punctuation and line breaks), which is the limit. Remove what no handler reads; many labels belong into index_to_name.json.`,
    );
  try {
    // The parser's own search for duplicate keys takes the square of their number.
    const document = yaml.parseDocument(text, {
      uniqueKeys: false,
      merge: true,
      resolveKnownTags: false,
      logLevel: 'error',
    });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw wrong(problem.message, problem);
    let [aliases, repeated] = [0, 0];
    const anchors = new Map<string, Node>();
    const sizes = new Map<unknown, number>();
    yaml.visit(document, {
      Node: (_, node, path) => {
        if (path.length > 2 * MAX_DEPTH) throw tooDeep();
        if (yaml.isMap(node)) checkKeys(yaml, node, wrong);
        if (!yaml.isAlias(node)) {
          if (node.anchor !== undefined) anchors.set(node.anchor, node);
          return;
        }
        const named = anchors.get(node.source);
        if (++aliases > MAX_ALIASES) throw wrong(`it has more than ${MAX_ALIASES} aliases.`);
        if (path.includes(named!)) throw wrong(`*${shorten(node.source)} contains itself.`);
        const size = sizeOf(yaml, named, sizes);
        sizes.set(node, size);
        repeated += size;
        if (repeated > MOST_VALUES) throw wrong(`its aliases repeat more than ${MOST_VALUES} values.`);
      },
    });
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch (cause) {
    if (isError(cause) && cause instanceof TabServeError) throw cause;
    throw wrong(messageOf(cause), cause);
  }
}

/** Returns how many values a node has, with those that its aliases name. `sizes` has what is known, and gets what is found. */
function sizeOf(yaml: Yaml, node: unknown, sizes: Map<unknown, number>): number {
  const known = sizes.get(node);
  if (known !== undefined) return known;
  const items: readonly unknown[] = yaml.isCollection(node) ? node.items : [];
  const size = items.reduce<number>((sum, item) => sum + sizeOf(yaml, yaml.isPair(item) ? item.value : item, sizes), 1);
  sizes.set(node, size);
  return size;
}

/** Splitting a text into tokens is much faster than parsing it, and stops at the limit. */
function hasTooManyTokens({ Lexer }: Yaml, text: string): boolean {
  let count = 0;
  for (const _ of new Lexer().lex(text)) if (++count > MOST_TOKENS) return true;
  return false;
}

/** A key that JavaScript gives a meaning of its own is refused too: no config needs it. */
function checkKeys({ isScalar }: Yaml, { items }: YAMLMap, wrong: (why: string) => TabServeError): void {
  const keys = new Set<string>();
  for (const { key } of items) {
    if (!isScalar(key)) throw wrong('a key is no text.');
    const name = String(key.value);
    if (name === '__proto__') throw wrong('no key may be __proto__.');
    if (keys.has(name) && name !== '<<') throw wrong(`the key ${shorten(name)} is there twice.`);
    keys.add(name);
  }
}

/** Returns how deep brackets are nested. Brackets in texts count too: no text has so many that are open. */
function bracketDepth(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
