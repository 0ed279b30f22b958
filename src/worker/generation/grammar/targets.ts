/** What the references of a schema name. */
import { describeValue, shorten } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';

export class Targets {
  readonly #root: unknown;
  /** Made when a reference names one. */
  #anchors?: ReadonlyMap<string, unknown>;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** Returns the part of the schema that a reference names. @throws `invalid-input` if there is none */
  of(ref: unknown, path: string): unknown {
    if (typeof ref !== 'string' || !ref.startsWith('#'))
      throw invalidInput(`${path}: expected a part of this schema, such as "#/$defs/name", got ${describeValue(ref)}.`);
    const missing = invalidInput(`${path}: the schema has no ${shorten(ref)}.`);
    if (ref !== '#' && !ref.startsWith('#/')) {
      this.#anchors ??= anchorsOf(this.#root);
      if (!this.#anchors.has(ref.slice(1))) throw missing;
      return this.#anchors.get(ref.slice(1));
    }
    let target = this.#root;
    for (const part of ref.split('/').slice(1)) {
      const key = unescape(part);
      if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) throw missing;
      target = (target as Readonly<Record<string, unknown>>)[key];
    }
    return target;
  }
}

function anchorsOf(root: unknown): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const left = [root];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const { $anchor: name } = one as { readonly $anchor?: unknown };
    if (typeof name === 'string') found.set(name, one);
    left.push(...Object.values(one));
  }
  return found;
}

/** Returns a part of a JSON Pointer in a URL as it was before it was escaped. */
function unescape(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // A percent sign that escapes nothing stands for itself.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}
