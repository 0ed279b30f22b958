/** Damages files: the same damage for the same random numbers. */

type Random = () => number;
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!;

/** Values that break readers which do not expect them. */
const NASTY: readonly (() => Json)[] = [
  () => null,
  () => true,
  () => -1,
  () => 0,
  () => 0.5,
  () => 1e9,
  () => 1e15,
  () => 1e300,
  () => 2 ** 31,
  () => '',
  () => '../../x',
  () => '__proto__',
  () => 'x'.repeat(10_000),
  () => '\u0000\ud800',
  () => [],
  () => ({}),
  () => [[[[]]]],
  () => ({ constructor: 1 }),
  () => Array.from({ length: 2000 }, () => 1),
];

/** Changes one to four values, keys or items of a JSON text; now and then a byte of it, or its depth. */
export function mutateJson(bytes: Uint8Array, random: Random): Uint8Array {
  if (random() < 0.1) return mutateBytes(bytes, random);
  if (random() < 0.02) return new TextEncoder().encode('['.repeat(100_000));
  let root = JSON.parse(new TextDecoder().decode(bytes)) as Json;
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) root = mutateValue(root, random);
  return new TextEncoder().encode(JSON.stringify(root));
}

function mutateValue(root: Json, random: Random): Json {
  // Goes down a random way, so that short lists are reached as often as long ones.
  let parent: Json[] | { [key: string]: Json } | undefined;
  let key = '';
  let value = root;
  while (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && random() < 0.85) {
    parent = value;
    key = pick(random, Object.keys(value));
    value = (value as { [key: string]: Json })[key]!;
  }
  if (!parent) return random() < 0.1 ? pick(random, NASTY)() : root;
  const target = parent as { [key: string]: Json };
  const kind = random();
  if (kind < 0.6) target[key] = pick(random, NASTY)();
  else if (kind < 0.75) delete target[key];
  else if (kind < 0.85) target[key] = structuredClone(pick(random, Object.values(target)));
  else if (Array.isArray(parent)) parent.push(structuredClone(value));
  else
    target[pick(random, ['x', 'name', 'type', 'shape', 'dtype', 'inputs', key.toUpperCase()])] = structuredClone(value);
  return root;
}

/** Flips, overwrites, removes, repeats or inserts bytes, or cuts the file off: one to four times. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  let file = Uint8Array.from(bytes);
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) {
    // The first bytes of a file decide the most.
    const at = Math.floor(random() ** (random() < 0.5 ? 3 : 1) * file.length);
    const length = Math.floor(random() ** 4 * (file.length - at));
    const kind = random();
    if (kind < 0.35 && file.length > 0) file[at]! ^= 1 << Math.floor(random() * 8);
    else if (kind < 0.5 && file.length > 0) file[at] = pick(random, [0, 1, 0x7f, 0x80, 0xff]);
    else if (kind < 0.6) file.fill(pick(random, [0, 0xff]), at, at + Math.min(8, length + 1));
    else if (kind < 0.7) file = file.slice(0, at);
    else if (kind < 0.8) file = join(file.subarray(0, at), file.subarray(at + length));
    else if (kind < 0.9)
      file = join(
        file.subarray(0, at + length),
        file.subarray(at, at + Math.min(length, 1 << 16)),
        file.subarray(at + length),
      );
    else
      file = join(
        file.subarray(0, at),
        Uint8Array.from({ length: 1 + (length % 16) }, () => Math.floor(random() * 256)),
        file.subarray(at),
      );
  }
  return file;
}

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}
