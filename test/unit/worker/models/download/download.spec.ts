import { createHash } from 'node:crypto';
import { expect, test } from '@playwright/test';
import type { FilePhase } from '../../../../../src/contract/archive.ts';
import { downloadFile, type DownloadOptions } from '../../../../../src/worker/models/download/download-file.ts';
import type { Clock } from '../../../../../src/shared/clock.ts';
import { BadServer, type BadServerOptions, type Behavior } from '../../../../bad-server.ts';
import { settle } from '../../../support/fake-clock.ts';

/** Three megabytes that no compression makes small. */
const FILE = Buffer.alloc(3 * 2 ** 20);
for (let index = 0, x = 1; index < FILE.length; index++)
  FILE[index] = (x = (Math.imul(x, 1664525) + 1013904223) >>> 0) >>> 24;
const SHA256 = createHash('sha256').update(FILE).digest('hex');
const HALF = FILE.length / 2;

/** Retries come at once, with the time noted. A connection is stalled when the test says so. */
class TestClock implements Clock {
  #now = 0;
  readonly waits: number[] = [];
  readonly #stalls = new Set<() => void>();

  now(): number {
    return this.#now;
  }

  schedule(task: () => void, milliseconds: number): () => void {
    if (milliseconds > 1000) {
      this.#stalls.add(task);
      return () => this.#stalls.delete(task);
    }
    const at = (this.#now += milliseconds);
    this.waits.push(milliseconds);
    const timer = setImmediate(() => this.#now <= at && task());
    return () => clearImmediate(timer);
  }

  get waited(): number {
    return this.waits.reduce((sum, wait) => sum + wait, 0);
  }

  /** Lets the time of a stalled connection pass. */
  stall(): void {
    for (const task of this.#stalls) task();
  }

  get pending(): number {
    return this.#stalls.size;
  }
}

interface Outcome {
  readonly server: BadServer;
  readonly clock: TestClock;
  readonly events: (readonly [loaded: number, total: number | undefined, phase: FilePhase])[];
  readonly blob: Blob | undefined;
  readonly answer: Awaited<ReturnType<typeof downloadFile>>;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** Downloads `/model.onnx` from a server with this plan. */
async function get(
  plan: readonly Behavior[],
  options: Partial<DownloadOptions> = {},
  on: Partial<BadServerOptions> & {
    readonly own?: boolean;
    readonly meanwhile?: (clock: TestClock, server: BadServer, arrived: () => number) => Promise<void>;
  } = {},
): Promise<Outcome> {
  const server = await BadServer.start({ files: { '/model.onnx': FILE }, ...on });
  const clock = new TestClock();
  const events: [number, number | undefined, FilePhase][] = [];
  server.plan('/model.onnx', ...plan);
  let answer: Outcome['answer'];
  let error: Outcome['error'];
  try {
    const running = downloadFile(new URL('/model.onnx', server.origin), {
      fetch,
      clock,
      random: () => 1,
      pageOrigin: on.own === false ? 'https://page.example' : server.origin,
      onProgress: (...event) => events.push(event),
      ...options,
    });
    running.catch(() => {});
    await on.meanwhile?.(clock, server, () => events.at(-1)?.[0] ?? 0);
    answer = await running;
  } catch (thrown) {
    error = thrown as Outcome['error'];
  } finally {
    server.stop();
  }
  expect(clock.pending).toBe(0);
  const loaded = events.map(([bytes]) => bytes);
  expect(loaded, 'the bar never runs backwards').toEqual(loaded.toSorted((a, b) => a - b));
  const blob = typeof answer === 'object' ? answer.blob : undefined;
  if (blob) expect(events.at(-1)!.slice(0, 2)).toEqual([FILE.length, FILE.length]);
  return { server, clock, events, blob, answer, error };
}

async function isWhole({ blob, error }: Outcome): Promise<boolean> {
  if (error) throw error;
  return Buffer.from(await blob!.arrayBuffer()).equals(FILE);
}

const ranges = ({ server }: Outcome): unknown[] =>
  server.requestsFor('/model.onnx').map(({ headers }) => headers['range']);

test('a file, its validators, and its hash', async () => {
  const outcome = await get([{ kind: 'ok' }], { expected: { bytes: FILE.length, sha256: SHA256.toUpperCase() } });
  expect(await isWhole(outcome)).toBe(true);
  expect(outcome.answer).toMatchObject({
    etag: expect.stringMatching(/^"/),
    lastModified: expect.stringContaining('2024'),
  });
  expect(outcome.events.at(-1)).toEqual([FILE.length, FILE.length, 'verify']);
  expect(outcome.server.seen[0]!.headers['referer']).toBeUndefined();
});

test('after a cut, the rest of the same version is asked for', async () => {
  for (const validators of ['both', 'etag', 'last-modified'] as const) {
    const outcome = await get([{ kind: 'cut', at: HALF }, { kind: 'ok' }], {}, { validators });
    expect(await isWhole(outcome)).toBe(true);
    expect(ranges(outcome)).toEqual([undefined, `bytes=${HALF}-`]);
    const sent = outcome.server.seen[1]!.headers['if-range'];
    expect(sent).toMatch(validators === 'last-modified' ? /2024/ : /^"/);
  }
});

test('another origin gets no If-Range, which would need its permission: the validators are compared', async () => {
  const outcome = await get([{ kind: 'cut', at: HALF }, { kind: 'ok' }], {}, { own: false });
  expect(await isWhole(outcome)).toBe(true);
  expect(ranges(outcome)).toEqual([undefined, `bytes=${HALF}-`]);
  expect(outcome.server.seen[1]!.headers['if-range']).toBeUndefined();
});

test('without a validator, or with a weak one, a download begins again', async () => {
  for (const validators of ['none', 'weak-etag'] as const) {
    const outcome = await get([{ kind: 'cut', at: HALF }, { kind: 'ok' }], {}, { validators });
    expect(await isWhole(outcome)).toBe(true);
    expect(ranges(outcome)).toEqual([undefined, undefined]);
  }
});

test('a file that changes in between is downloaded from its beginning: versions are never mixed', async () => {
  for (const own of [true, false]) {
    const plan: Behavior[] = [{ kind: 'cut', at: HALF }, { kind: 'changed' }, { kind: 'changed' }];
    const { blob, server } = await get(plan, {}, { own });
    expect(Buffer.from(await blob!.arrayBuffer()).equals(Buffer.from(FILE.map((byte) => byte ^ 255)))).toBe(true);
    expect(server.seen).toHaveLength(own ? 2 : 3);
  }
});

test('a server that ignores Range, or answers with another range', async () => {
  const whole = await get([{ kind: 'cut', at: HALF }, { kind: 'no-ranges' }]);
  expect(await isWhole(whole)).toBe(true);
  expect(whole.server.seen).toHaveLength(2);
  const other = await get([{ kind: 'cut', at: HALF }, { kind: 'other-range' }, { kind: 'ok' }]);
  expect(await isWhole(other)).toBe(true);
  expect(ranges(other)).toEqual([undefined, `bytes=${HALF}-`, undefined]);
  const refused = await get([{ kind: 'cut', at: HALF }, { kind: 'status', status: 416 }, { kind: 'ok' }]);
  expect(await isWhole(refused)).toBe(true);
  expect(ranges(refused)).toEqual([undefined, `bytes=${HALF}-`, undefined]);
});

test('a length that is too large is a broken connection; one that is too small is found by the size or the hash', async () => {
  const large = await get([{ kind: 'length', length: FILE.length + 9 }, { kind: 'ok' }]);
  expect(await isWhole(large)).toBe(true);
  const never = await get([{ kind: 'length', length: FILE.length + 9 }]);
  expect(never.error?.code).toBe('network');
  const small = await get([{ kind: 'length', length: 100 }], { expected: { sha256: SHA256 } });
  expect(small.error).toMatchObject({ code: 'model-format', message: expect.stringContaining('SHA-256') });
  const sized = await get([{ kind: 'length', length: 100 }], { expected: { bytes: FILE.length } });
  expect(sized.error).toMatchObject({ code: 'model-format', message: expect.stringContaining('100 bytes') });
  const more = await get([{ kind: 'ok' }], { expected: { bytes: 100 } });
  expect(more.error).toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('more than the expected 100'),
  });
});

test('a flipped bit: one more download past the HTTP cache, then an error', async () => {
  const expected = { bytes: FILE.length, sha256: SHA256 };
  const stale = await get([{ kind: 'flip', at: 7 }, { kind: 'ok' }], { expected });
  expect(await isWhole(stale)).toBe(true);
  expect(stale.server.seen[1]!.headers['cache-control']).toBe('no-cache');
  const damaged = await get([{ kind: 'flip', at: 7 }], { expected });
  expect(damaged.error).toMatchObject({ code: 'model-format', message: expect.stringContaining('SHA-256') });
  expect(damaged.server.seen).toHaveLength(2);
});

test('a stalled connection counts as broken, before the first byte too', async () => {
  const outcome = await get(
    [{ kind: 'stall', at: HALF }, { kind: 'ok' }],
    {},
    {
      meanwhile: async (clock, _, arrived) => {
        while (arrived() < HALF) await settle();
        clock.stall();
      },
    },
  );
  expect(await isWhole(outcome)).toBe(true);
  expect(ranges(outcome)).toEqual([undefined, `bytes=${HALF}-`]);
  const silent = await get(
    [{ kind: 'ok' }],
    {
      fetch: (_, init) =>
        new Promise((_, reject) =>
          init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error)),
        ),
    },
    {
      meanwhile: async (clock) => {
        for (let turn = 0; turn < 100; turn++) {
          await settle();
          clock.stall();
        }
      },
    },
  );
  expect(silent.error).toMatchObject({
    code: 'network',
    message: expect.stringMatching(/nothing has arrived for 30 s.*4 retries/),
  });
});

test('408, 429 and 5xx are retried with backoff; other answers are not', async () => {
  for (const status of [408, 429, 500, 503]) {
    const outcome = await get([{ kind: 'status', status }, { kind: 'status', status }, { kind: 'ok' }]);
    expect(await isWhole(outcome)).toBe(true);
    expect(outcome.clock.waited).toBe(500 + 1000);
  }
  const never = await get([{ kind: 'status', status: 503 }]);
  expect(never.error).toMatchObject({ code: 'network', message: expect.stringMatching(/503.*4 retries/) });
  expect(never.server.seen).toHaveLength(5);
  expect(never.clock.waited).toBe(500 + 1000 + 2000 + 4000);
  for (const status of [400, 401, 403, 405, 451]) {
    const outcome = await get([{ kind: 'status', status }, { kind: 'ok' }]);
    expect(outcome.error).toMatchObject({ code: 'network', message: expect.stringContaining(String(status)) });
    expect(outcome.server.seen).toHaveLength(1);
  }
});

test('a missing file: 404, 410 or a page of HTML; not retried', async () => {
  for (const behavior of [
    { kind: 'status', status: 404 },
    { kind: 'status', status: 410 },
    { kind: 'type', type: 'text/html; charset=utf-8' },
  ] as const) {
    const outcome = await get([behavior, { kind: 'ok' }]);
    expect([outcome.answer, outcome.error]).toEqual([undefined, undefined]);
    expect(outcome.server.seen).toHaveLength(1);
  }
  expect(await isWhole(await get([{ kind: 'type', type: 'text/plain' }]))).toBe(true);
});

test('Retry-After: honored in seconds or as a date, up to 30 s', async () => {
  const busy = (after: string): Behavior => ({ kind: 'status', status: 503, headers: { 'Retry-After': after } });
  const seconds = await get([busy('7'), { kind: 'ok' }]);
  expect(await isWhole(seconds)).toBe(true);
  expect(seconds.clock.waited).toBe(7000);
  const date = await get([busy(new Date(Date.now() + 10_000).toUTCString()), { kind: 'ok' }]);
  expect(date.clock.waited).toBeGreaterThan(8000);
  expect(date.clock.waited).toBeLessThanOrEqual(10_000);
  const long = await get([busy('31'), { kind: 'ok' }]);
  expect(long.error).toMatchObject({ code: 'network', message: expect.stringContaining('503') });
  expect(long.server.seen).toHaveLength(1);
});

test('jitter: a retry comes after half of its time at the earliest; a heartbeat each second', async () => {
  let beats = 0;
  const { clock } = await get([{ kind: 'status', status: 500 }], { random: () => 0, onHeartbeat: () => (beats += 1) });
  expect(clock.waited).toBe(250 + 500 + 1000 + 2000);
  expect(beats).toBe(1 + 1 + 1 + 2);
});

test('retries are counted anew when an attempt has brought a megabyte, and never without end', async () => {
  const MB = 2 ** 20;
  // The last bytes before a cut may be lost.
  const [cut, progress]: Behavior[] = [
    { kind: 'cut', at: 0 },
    { kind: 'cut', at: 1.4 * MB },
  ];
  const plan = [
    cut!,
    cut!,
    cut!,
    cut!,
    progress!,
    cut!,
    cut!,
    cut!,
    progress!,
    cut!,
    cut!,
    cut!,
    { kind: 'ok' } as const,
  ];
  const outcome = await get(plan);
  expect(await isWhole(outcome)).toBe(true);
  const crumbs = await get([{ kind: 'cut', at: 1000 }]);
  expect(crumbs.error?.code).toBe('network');
  expect(crumbs.server.seen).toHaveLength(5);
  const again = await get([{ kind: 'cut', at: 2 * MB }], {}, { validators: 'none' });
  expect(again.error?.code).toBe('network');
  expect(again.server.seen.length).toBe(5);
});

test('no server at all', async () => {
  const { error, clock } = await get([], { fetch: () => Promise.reject(new TypeError('Failed to fetch')) });
  expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('Failed to fetch') });
  expect(clock.waited).toBe(7500);
});

test('abort ends a download at any point: in a request, in a body, in a backoff, in a stall', async () => {
  const reason = new Error('the visitor left');
  for (const behavior of [
    { kind: 'slow', pieces: 100, everyMs: 20 },
    { kind: 'stall', at: HALF },
    { kind: 'stall', at: 0 },
    { kind: 'status', status: 503, headers: { 'Retry-After': '29' } },
  ] as Behavior[]) {
    const aborter = new AbortController();
    const { error } = await get(
      [behavior],
      { signal: aborter.signal, onHeartbeat: () => aborter.abort(reason) },
      {
        meanwhile: async (_, server) => {
          while (server.seen.length === 0) await settle();
          if (behavior.kind !== 'status') setTimeout(() => aborter.abort(reason), 50);
        },
      },
    );
    expect(error, behavior.kind).toMatchObject({ code: 'aborted', cause: reason });
  }
  const { error, server } = await get([{ kind: 'ok' }], { signal: AbortSignal.abort(reason) });
  expect(error).toMatchObject({ code: 'aborted', cause: reason });
  expect(server.seen).toHaveLength(0);
});

test('compressed and without Content-Length: the total is that of the file, or unknown', async () => {
  const TEXT = Buffer.from('weights '.repeat(100_000));
  for (const behavior of [
    { kind: 'gzip', length: true },
    { kind: 'gzip', length: false },
    { kind: 'chunked' },
  ] as const) {
    const server = await BadServer.start({ files: { '/model.onnx': TEXT } });
    server.plan('/model.onnx', behavior);
    for (const bytes of [undefined, TEXT.length]) {
      const events: (readonly [number, number | undefined])[] = [];
      await downloadFile(new URL('/model.onnx', server.origin), {
        fetch,
        clock: new TestClock(),
        random: Math.random,
        expected: bytes === undefined ? {} : { bytes },
        onProgress: (loaded, total) => events.push([loaded, total]),
      });
      expect(events[0]).toEqual([0, bytes]);
      expect(events.at(-1)).toEqual([TEXT.length, TEXT.length]);
      for (const [loaded, total] of events) expect(total ?? Infinity).toBeGreaterThanOrEqual(loaded);
      expect(new Set(events.slice(0, -1).map(([, total]) => total))).toEqual(new Set([bytes]));
    }
    server.stop();
  }
});

test('a compressed download that breaks begins again: its bytes are not those of the file', async () => {
  const outcome = await get([{ kind: 'gzip', length: true }]);
  expect(await isWhole(outcome)).toBe(true);
  const broken = await get([{ kind: 'gzip', length: true, cut: HALF }, { kind: 'ok' }]);
  expect(await isWhole(broken)).toBe(true);
  expect(ranges(broken)).toEqual([undefined, undefined]);
});

test('an endless body ends at the limit, with an error and without another attempt', async () => {
  let sent = 0;
  let isCanceled = false;
  const endless = (): Promise<Response> => {
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel: () => void (isCanceled = true),
    });
    return Promise.resolve(new Response(body));
  };
  const { error } = await get([], { fetch: endless, maxBytes: 2 ** 20 });
  expect(error).toMatchObject({ code: 'model-format', message: expect.stringMatching(/more than 1048576 bytes/) });
  expect(sent).toBeLessThan(2 * 2 ** 20);
  expect(isCanceled).toBe(true);
  expect(await isWhole(await get([{ kind: 'ok' }], { maxBytes: FILE.length }))).toBe(true);
});

test('a private file comes past the HTTP cache, which does not know whose it is', async () => {
  const modes = async (options: Partial<DownloadOptions>): Promise<unknown[]> => {
    const seen: unknown[] = [];
    const spy = ((url: URL, init: RequestInit) => (seen.push(init.cache), fetch(url, init))) as typeof fetch;
    await get([{ kind: 'ok' }], { fetch: spy, ...options });
    return seen;
  };
  const validators = { etag: '"other"' };
  expect(await modes({})).toEqual(['default']);
  expect(await modes({ validators })).toEqual(['no-cache']);
  expect(await modes({ validators, headers: { Authorization: 'B' } })).toEqual(['no-store']);
  expect(await modes({ credentials: 'include' })).toEqual(['no-store']);
});

test('a copy that the caller has is not downloaded again while the server has the same version', async () => {
  const first = await get([{ kind: 'ok' }]);
  const { etag, lastModified } = first.answer as { etag: string; lastModified: string };
  for (const own of [true, false])
    for (const validators of [{ etag, lastModified }, { etag }, { lastModified }])
      expect((await get([{ kind: 'ok' }], { validators }, { own })).answer, JSON.stringify({ own, validators })).toBe(
        'not-modified',
      );
  const changed = await get([{ kind: 'changed' }], { validators: { etag, lastModified } });
  expect(changed.blob?.size).toBe(FILE.length);
  const sent = (await get([{ kind: 'ok' }], { validators: { etag, lastModified } }, { own: false })).server.seen[0]!
    .headers;
  expect([sent['if-none-match'], sent['if-modified-since']]).toEqual([undefined, undefined]);
});

test('with a copy at hand, a server that cannot be reached is asked once; if it has begun to send another version, as often as without', async () => {
  const validators = { etag: '"other"' };
  const none = await get([], { validators, fetch: () => Promise.reject(new TypeError('Failed to fetch')) });
  expect([none.error?.code, none.clock.waited]).toEqual(['network', 0]);
  let requests = 0;
  const fetchAll: typeof fetch = (...request) => {
    requests += 1;
    // The second one, and the one that finds out whether it was redirected.
    return requests === 2 || requests === 3 ? Promise.reject(new TypeError('Failed to fetch')) : fetch(...request);
  };
  const plan: Behavior[] = [{ kind: 'cut', at: HALF }, { kind: 'ok' }];
  const begun = await get(plan, { validators, fetch: fetchAll }, { validators: 'weak-etag' });
  expect(await isWhole(begun)).toBe(true);
  expect(begun.clock.waits).toHaveLength(2);
});

test('a private file is asked for again if the server cannot be reached: its copy may not be used then', async () => {
  let requests = 0;
  const once: typeof fetch = (...request) =>
    requests++ === 0 ? Promise.reject(new TypeError('Failed to fetch')) : fetch(...request);
  const options = { validators: { etag: '"other"' }, headers: { Authorization: 'Bearer t' }, fetch: once };
  expect(await isWhole(await get([{ kind: 'ok' }], options, { own: false }))).toBe(true);
});

test('a part of the rest is not taken for the end where no size is told', async () => {
  const headers = { etag: '"1"' };
  const answers = [
    () => {
      let isBroken = false;
      const pull = (controller: ReadableStreamDefaultController): void => {
        if (isBroken) controller.error(new TypeError('terminated'));
        else controller.enqueue(FILE.subarray(0, HALF));
        isBroken = true;
      };
      return new Response(new ReadableStream({ pull }), { headers });
    },
    () =>
      new Response(FILE.subarray(HALF, HALF + 100), {
        status: 206,
        headers: { ...headers, 'content-range': `bytes ${HALF}-${HALF + 99}/*` },
      }),
    () => new Response(FILE, { headers }),
  ];
  expect(await isWhole(await get([], { fetch: async () => answers.shift()!() }))).toBe(true);
});
