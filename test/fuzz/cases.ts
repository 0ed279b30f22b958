import { readFileSync } from 'node:fs';
import { random } from '../random.ts';
import { mutateBytes, mutateJson } from './mutate.ts';

/** `npm run fuzz -- --seed N --count N --kind K --only CASE` sets these; `npm test` runs a slice. */
export const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const KIND = process.env['FUZZ_KIND'];
const ONLY = process.env['FUZZ_ONLY'];

/** One damaged file: `kind:number`, and its bytes. */
export interface Case {
  readonly name: string;
  readonly seed: string;
  readonly bytes: Uint8Array;
}

/** The seeds of a kind: committed files, by their path in the repository. */
export interface Kind {
  readonly files: readonly string[];
  /** Returns what is damaged of a seed; the file itself if it is missing. */
  readonly open?: (bytes: Uint8Array) => Uint8Array;
  /** Changes the damaged bytes so that readers get further into them, as sums of bytes that are right. */
  readonly repair?: (bytes: Uint8Array) => Uint8Array;
  readonly mutate: 'json' | 'bytes';
}

const read = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(`../../${path}`, import.meta.url)));

/**
 * Yields `count` damaged files of a kind. Each depends on the seed, the kind and its number only, so that one can be
 * run again alone.
 */
export function* casesOf(kind: string, { files, mutate, open, repair }: Kind, count: number): Generator<Case> {
  if (KIND !== undefined && KIND !== kind) return;
  const originals = files.map((path) => ({ path, bytes: open ? open(read(path)) : read(path) }));
  for (let number = 0; number < count; number++) {
    const name = `${kind}:${number}`;
    if (ONLY !== undefined && ONLY !== name) continue;
    const hash = [...`${SEED} ${name}`].reduce(
      (sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193),
      0x811c9dc5,
    );
    const next = random(hash);
    const { path, bytes } = originals[Math.floor(next() * originals.length)]!;
    const damaged = (mutate === 'json' ? mutateJson : mutateBytes)(bytes, next);
    yield { name, seed: path, bytes: repair && next() < 0.7 ? repair(damaged) : damaged };
  }
}

/** Outcomes by kind and code, and the cases that broke a promise. */
export class Outcomes {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly broken: string[] = [];

  add(kind: string, code: string): void {
    const codes = this.#counts.get(kind) ?? new Map<string, number>();
    codes.set(code, (codes.get(code) ?? 0) + 1);
    this.#counts.set(kind, codes);
  }

  /** Returns one line for each kind. */
  table(): string {
    return [...this.#counts]
      .map(([kind, codes]) => {
        const total = [...codes.values()].reduce((sum, count) => sum + count, 0);
        const list = [...codes].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`);
        return `  ${kind.padEnd(14)} ${String(total).padStart(6)}  ${list.join(', ')}`;
      })
      .join('\n');
  }
}
