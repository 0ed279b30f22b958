/** Asks a repository, as `window.answers`, and returns its answers as data that a test can read. */
import { load } from '../../../src/index.js';
import type { CandidateName } from '../../../src/contract/backends.js';
import { soundOf } from '../../models/tasks/sound.js';

interface Request {
  readonly input: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

async function ask(url: string, backend: CandidateName, requests: readonly Request[], handler?: string) {
  const client = await load(url, { backends: [backend], handler: handler as never });
  try {
    const { handler } = await client.describe();
    const answers: unknown[] = [];
    for (const { input, params = {} } of requests)
      answers.push(plain(await client.predict(inputOf(input) as never, { params: params as never })));
    return { handler, answers };
  } finally {
    await client.dispose();
  }
}

/**
 * Returns an input in which `{ photo: [width, height] }` is the photo of `make.py` of that size, and `{ sound: length }`
 * its sound of this many samples.
 */
function inputOf(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  if ('photo' in input) return photo(...(input.photo as [number, number]));
  if ('sound' in input) return { samples: soundOf(input.sound as number), sampleRate: 16_000 };
  if (Array.isArray(input)) return input.map(inputOf);
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, inputOf(value)]));
}

function photo(width: number, height: number): ImageData {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let at = 0, y = 0; y < height; y++)
    for (let x = 0; x < width; x++, at += 4)
      data.set(
        [Math.floor((x * 255) / (width - 1)), Math.floor((y * 255) / (height - 1)), (x * 3 + y * 5) % 256, 255],
        at,
      );
  return new ImageData(data, width, height);
}

/** Returns a result as JSON has it: lists of numbers, and pixels as four numbers each. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, Number);
  if (value instanceof ImageData) return { width: value.width, height: value.height, data: plain(value.data) };
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

export const answers = { ask };
Object.assign(window, { answers });
