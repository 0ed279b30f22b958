// `npm run soak -- --seconds N`: `tabserve serve` under a mixed load, for minutes, with flat memory.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import sharp from 'sharp';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 0);

/** Before it, caches fill and V8 compiles: nothing is measured. */
const WARM_UP_SECONDS = 30;
/** Memory is measured so often. The first minute is compared with the last. */
const SAMPLE_SECONDS = 5;
const SAMPLES_OF_A_MINUTE = 60 / SAMPLE_SECONDS;

/** Bytes by which the heap of the server's main thread may grow, after a garbage collection. */
const MAX_HEAP_GROWTH = 3_000_000;
/** Bytes by which the server's process may grow: its threads collect garbage when V8 sees fit. */
const MAX_PROCESS_GROWTH = 50_000_000;

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const MODELS = ['../../public/models/digits', '../models/generation/llama'].map(at);
const SMALL = new Uint8Array(readFileSync(at('../../public/models/digits/samples/digit-4.png')));

test('soak: a server under a mixed load', async () => {
  test.skip(SECONDS === 0, 'takes minutes: npm run soak has this one');
  test.setTimeout((WARM_UP_SECONDS + SECONDS + 60) * 1000);
  // Noise hardly compresses: larger than what is read whole.
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const picture = sharp({ create: { width: 800, height: 600, channels: 3, background: 'white', noise } });
  const large = new Uint8Array(await picture.png().toBuffer());
  const child = fork(
    at('support/server-in-process.mjs'),
    ['serve', '--port', '0', '--max-request-size', '4000000', ...MODELS],
    { silent: true },
  );
  const url = await listening(child);
  const end = Date.now() + (WARM_UP_SECONDS + SECONDS) * 1000;
  const answered = Promise.all(
    Object.entries(callers(url, large)).map(async ([name, [expected, call]]) => {
      let count = 0;
      while (Date.now() < end) {
        const status = await call();
        expect(status, name).toBe(expected);
        count += 1;
      }
      return [name, count] as const;
    }),
  );
  await Promise.race([wait(WARM_UP_SECONDS * 1000), answered]);
  const samples: NodeJS.MemoryUsage[] = [];
  while (Date.now() < end) {
    await Promise.race([wait(SAMPLE_SECONDS * 1000), answered]);
    child.send('memory');
    samples.push(((await once(child, 'message')) as [NodeJS.MemoryUsage])[0]);
  }
  console.log(Object.fromEntries(await answered));
  const [first, last] = [samples.slice(0, SAMPLES_OF_A_MINUTE), samples.slice(-SAMPLES_OF_A_MINUTE)].map((minute) => ({
    heap: median(minute.map(({ heapUsed, external }) => heapUsed + external)),
    process: median(minute.map(({ rss }) => rss)),
  }));
  console.log({ first, last });
  expect(last!.heap - first!.heap).toBeLessThan(MAX_HEAP_GROWTH);
  expect(last!.process - first!.process).toBeLessThan(MAX_PROCESS_GROWTH);
  child.disconnect();
  child.kill();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

async function listening(child: ChildProcess): Promise<string> {
  let output = '';
  return await new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += String(chunk);
      const [, url] = /Listening on (\S+)/.exec(output) ?? [];
      if (url !== undefined) resolve(url);
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    child.once('exit', () => reject(new Error(`The server has ended: ${output}`)));
  });
}

/** Returns what is asked again and again, each with the status of its answer. */
function callers(
  url: string,
  large: Uint8Array<ArrayBuffer>,
): Readonly<Record<string, readonly [number, () => Promise<number>]>> {
  const ask = async (path: string, init?: RequestInit): Promise<number> => {
    const response = await fetch(`${url}${path}`, init);
    await response.arrayBuffer();
    return response.status;
  };
  const digit = (body: BodyInit, init?: RequestInit): Promise<number> =>
    ask('/predictions/digits', { method: 'POST', body, ...init });
  const json = (path: string, body: object): RequestInit & { readonly path: string } => ({
    path,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const story = json('/v1/completions', { model: 'llama', prompt: 'Once upon a time', max_tokens: 16, stream: true });
  const read = (): Promise<number> => ask(story.path, story);
  return {
    small: [200, () => digit(SMALL)],
    'small, by another': [200, () => digit(SMALL)],
    large: [200, () => digit(large)],
    damaged: [400, () => digit(large.subarray(0, large.length / 2))],
    'no image': [400, () => digit('text')],
    'too large': [413, () => digit(new Uint8Array(4_000_001))],
    'of no model': [404, () => ask('/predictions/none', { method: 'POST', body: SMALL })],
    metrics: [200, () => ask('/metrics')],
    aborted: [0, () => leave((signal) => digit(large, { signal }))],
    'cut off': [0, () => cutOff(url)],
    streamed: [200, read],
    'stream that is left': [200, () => leaveStream(`${url}${story.path}`, story)],
  };
}

/** Leaves a request after some milliseconds. */
async function leave(call: (signal: AbortSignal) => Promise<unknown>): Promise<0> {
  const leaving = new AbortController();
  const called = call(leaving.signal).catch(() => {});
  await wait(Math.random() * 20);
  leaving.abort();
  await called;
  return 0;
}

/** Reads the first part of an answer, and leaves. */
async function leaveStream(url: string, init: RequestInit): Promise<number> {
  const { status, body } = await fetch(url, init);
  const reader = body!.getReader();
  await reader.read();
  await reader.cancel();
  return status;
}

/** Announces a body, sends a part of it, and closes the connection. */
async function cutOff(url: string): Promise<0> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`POST /predictions/digits HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 1000000\r\n\r\n`);
  socket.write(new Uint8Array(100_000));
  await wait(Math.random() * 20);
  socket.destroy();
  await once(socket, 'close');
  return 0;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!;
}
