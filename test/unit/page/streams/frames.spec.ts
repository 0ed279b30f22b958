// The rules of `client.frames`, with a clock, a source and workers that the test holds in its hand; and the sources
// that Node.js has.
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import type { Picture } from '../../../../src/page/requests/pictures.ts';
import type { Prepared } from '../../../../src/page/requests/inputs.ts';
import type { Requester } from '../../../../src/page/requests/requester.ts';
import { FrameReader, type FrameAnswer } from '../../../../src/page/streams/frame-reader.ts';
import { readFrames } from '../../../../src/page/streams/read-frames.ts';
import { readSource, type FrameSink } from '../../../../src/page/streams/frame-source.ts';
import { trackFrames } from '../../../../src/page/streams/frame-source.ts';
import { videoFrames } from '../../../../src/page/streams/video-frames.ts';
import { TabServeError, type ErrorCode } from '../../../../src/contract/errors.ts';
import { EchoWorker } from '../../support/fake-worker.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

/** A picture that knows whether it was closed. */
class FakePicture {
  closed = false;
  readonly id: number;

  constructor(id: number) {
    this.id = id;
  }

  close(): void {
    this.closed = true;
  }
}

/** A request that no worker has answered. */
interface Sent {
  readonly row: Prepared;
  readonly answer: (result: unknown) => void;
  readonly fail: (code: ErrorCode) => void;
  readonly stop: AbortSignal;
  /** The frame that a worker has taken; undefined while the request waits. */
  id: number | undefined;
  /** The memory that went to the worker with it. */
}

/** A camera, a worker and a reader. */
class Studio {
  readonly clock = new FakeClock();
  readonly pictures: FakePicture[] = [];
  readonly sent: Sent[] = [];
  readonly reader: FrameReader<string>;
  readonly abort = new AbortController();
  stopped = 0;
  #listens = false;
  sink: FrameSink | undefined;

  /** @param workersFree whether a request gets its worker at once */
  constructor({ limit = 1, fps = Infinity, workersFree = true, spareBelow = 0 } = {}) {
    this.reader = new FrameReader<string>({
      clock: this.clock,
      start: (sink) => {
        this.sink = sink;
        return () => (this.stopped += 1);
      },
      send: (row, stop) =>
        new Promise((resolve, reject) => {
          const sent: Sent = {
            row,
            stop,
            id: undefined,
            answer: (result) => this.#settle(sent, () => resolve(result as string)),
            fail: (code) => this.#settle(sent, () => reject(new TabServeError(code, 'no'))),
          };
          if (!this.#listens)
            stop.addEventListener('abort', () => [...this.sent].forEach((one) => one.fail('aborted')));
          this.#listens = true;
          this.sent.push(sent);
          if (workersFree) this.take();
        }),
      limit: () => limit,
      spareBelow,
      interval: 1000 / fps,
      signal: this.abort.signal,
    });
  }

  /** Numbers of the frames that workers have. */
  get running(): readonly (number | undefined)[] {
    return this.sent.map(({ id }) => id);
  }

  /** Pictures that are neither closed nor sent. */
  get open(): readonly number[] {
    return this.pictures.filter(({ closed }) => !closed).map(({ id }) => id);
  }

  /** A worker takes the last request. Its picture is transferred. */
  take(): void {
    const sent = this.sent.at(-1)!;
    const { value } = sent.row.message()!;
    sent.id = (value as FakePicture).id;
  }

  async frame(): Promise<void> {
    const picture = new FakePicture(this.pictures.length + 1);
    this.pictures.push(picture);
    this.sink!.frame({ picture: picture as unknown as Picture, timestamp: picture.id * 1000 });
    await settle();
  }

  async answer(index = 0, result?: unknown): Promise<void> {
    const sent = this.sent[index]!;
    sent.answer(result ?? `answer ${sent.id}`);
    await settle();
  }

  #settle(sent: Sent, settle: () => void): void {
    const at = this.sent.indexOf(sent);
    if (at < 0) return;
    this.sent.splice(at, 1);
    sent.row.release();
    settle();
  }
}

/** Starts reading one item. */
function read(studio: Studio): { item: IteratorResult<FrameAnswer<string>> | undefined; code: string | undefined } {
  const seen: ReturnType<typeof read> = { item: undefined, code: undefined };
  studio.reader.next().then(
    (item) => (seen.item = item),
    ({ code }: TabServeError) => (seen.code = code),
  );
  return seen;
}

const item = (id: number, dropped: number): IteratorResult<FrameAnswer<string>> => ({
  done: false,
  value: {
    result: `answer ${id}`,
    timestamp: id * 1000,
    dropped,
    frame: undefined,
  },
});

test('the latest frame wins: the others are closed and counted', async () => {
  const studio = new Studio();
  const first = read(studio);
  await studio.frame();
  expect(studio.running).toEqual([1]);
  for (let frame = 2; frame <= 5; frame++) await studio.frame();
  expect(studio.running).toEqual([1]);
  expect(studio.pictures.map(({ closed }) => closed)).toEqual([false, true, true, true, false]);
  await studio.answer();
  expect(first.item).toEqual(item(1, 0));
  // The next frame was sent before the caller asked for its answer.
  expect(studio.running).toEqual([5]);
  const second = read(studio);
  await studio.answer();
  expect(second.item).toEqual(item(5, 3));
});

test('nothing is started before it is read', async () => {
  const studio = new Studio();
  expect(studio.sink).toBeUndefined();
  await studio.reader.return();
  expect(await studio.reader.next()).toEqual({ done: true, value: undefined });
  expect(studio.sink).toBeUndefined();
});

test('a request takes its frame when a worker takes the request, however long that lasts', async () => {
  const studio = new Studio({ workersFree: false });
  const seen = read(studio);
  for (let frame = 1; frame <= 4; frame++) await studio.frame();
  expect(studio.running).toEqual([undefined]);
  studio.take();
  expect(studio.running).toEqual([4]);
  expect(studio.open).toEqual([4]);
  await studio.answer();
  expect(seen.item).toEqual(item(4, 3));
});

test('as many frames at once as keep the workers busy; an answer that comes after a newer one is dropped', async () => {
  const studio = new Studio({ limit: 2 });
  const first = read(studio);
  const second = read(studio);
  for (let frame = 1; frame <= 3; frame++) await studio.frame();
  expect(studio.running).toEqual([1, 2]);
  await studio.answer(1);
  expect(first.item).toEqual(item(2, 1));
  expect(studio.running).toEqual([1, 3]);
  await studio.answer(0);
  await studio.answer(0);
  expect(second.item).toEqual(item(3, 0));
});

test('where frames are quick, one more waits for the worker; where they are slow, it would only be the older for it', async () => {
  const studio = new Studio({ spareBelow: 100 });
  void (async () => {
    for await (const _ of studio.reader);
  })();
  await settle();
  await studio.frame();
  await studio.clock.advance(30);
  await studio.answer();
  await studio.frame();
  await studio.frame();
  expect(studio.running).toEqual([2]);
  await studio.clock.advance(30);
  await studio.answer();
  await studio.frame();
  expect(studio.running).toEqual([3, 4]);
  await studio.clock.advance(100);
  await studio.answer();
  await studio.frame();
  expect(studio.running).toEqual([4]);
});

test('where several frames run at once, no further one waits: the worker that it waits for might be the last to be free', async () => {
  const studio = new Studio({ limit: 2, spareBelow: 100 });
  void (async () => {
    for await (const _ of studio.reader);
  })();
  await settle();
  for (let next = 1; next <= 4; next++) {
    for (let frame = 0; frame < 3; frame++) await studio.frame();
    expect(studio.running.length).toBe(2);
    await studio.clock.advance(20);
    await studio.answer();
    expect(studio.running.length).toBe(2);
  }
});

test('a slow reader: no queue grows, and it gets no old answer', async () => {
  const studio = new Studio();
  const first = read(studio);
  await studio.frame();
  await studio.clock.advance(20);
  await studio.frame();
  await studio.answer();
  expect(first.item).toEqual(item(1, 0));
  await studio.clock.advance(20);
  await studio.answer();
  // Its answer waits: no other frame is sent, and of those that arrive one is kept.
  for (let frame = 3; frame <= 100; frame++) await studio.frame();
  expect(studio.running).toEqual([]);
  expect(studio.open).toEqual([100]);
  await studio.clock.advance(10);
  // It has waited for 10 ms, and a new one takes 20: it is still the sooner.
  expect(await studio.reader.next()).toEqual(item(2, 0));
  expect(studio.running).toEqual([100]);
  await studio.clock.advance(20);
  await studio.answer();
  await studio.frame();
  await studio.clock.advance(500);
  const late = read(studio);
  await settle();
  expect(late.item).toBeUndefined();
  expect(studio.running).toEqual([101]);
  await studio.answer();
  expect(late.item).toEqual(item(101, 98));
});

test('a slow reader of a source that has no newer frame gets the answer that waits', async () => {
  const studio = new Studio();
  const first = read(studio);
  await studio.frame();
  await studio.frame();
  await studio.answer();
  await studio.answer();
  await studio.clock.advance(60_000);
  expect(first.item).toEqual(item(1, 0));
  expect(await studio.reader.next()).toEqual(item(2, 0));
});

test('fps: the most frames a second, and of those in between the latest', async () => {
  const studio = new Studio({ fps: 10 });
  const seen: number[] = [];
  void (async () => {
    for await (const { timestamp } of studio.reader) seen.push(timestamp / 1000);
  })();
  await settle();
  // A camera of 25 frames a second, one of which is 30 ms late; each is answered at once.
  for (let frame = 0; frame < 26; frame++) {
    await studio.clock.advance(frame === 10 ? 70 : frame === 11 ? 10 : 40);
    await studio.frame();
    if (studio.sent.length > 0) await studio.answer();
  }
  // Answers to what was sent by a timer between two frames are given with the next one.
  expect(seen.length).toBeGreaterThanOrEqual(10);
  expect(seen.length).toBeLessThanOrEqual(11);
  await studio.reader.return();
  expect(studio.clock.pending).toBe(0);
});

test('a frame that fps left out is sent when it is due, if no newer one comes', async () => {
  const studio = new Studio({ fps: 10 });
  read(studio);
  await studio.frame();
  await studio.answer();
  await studio.clock.advance(30);
  await studio.frame();
  expect(studio.running).toEqual([]);
  await studio.clock.advance(69);
  expect(studio.running).toEqual([]);
  await studio.clock.advance(1);
  expect(studio.running).toEqual([2]);
});

test('a frame is dropped with its worker, and the stream goes on', async () => {
  for (const code of ['worker-lost', 'device-lost', 'out-of-memory'] as const) {
    const studio = new Studio();
    const seen = read(studio);
    await studio.frame();
    await studio.frame();
    studio.sent[0]!.fail(code);
    await settle();
    expect(studio.running).toEqual([2]);
    await studio.answer();
    expect(seen.item).toEqual(item(2, 1));
    expect(studio.open).toEqual([]);
  }
});

test('any other failure of a frame ends the stream, and nothing is left', async () => {
  for (const code of ['handler-failed', 'invalid-input', 'no-backend', 'model-config'] as const) {
    const studio = new Studio();
    const seen = read(studio);
    await studio.frame();
    await studio.frame();
    studio.sent[0]!.fail(code);
    await settle();
    expect(seen.code).toBe(code);
    expect(studio.stopped).toBe(1);
    expect(studio.open).toEqual([]);
    expect(await studio.reader.next()).toEqual({ done: true, value: undefined });
  }
});

test('the end of the source: the last frame is answered before', async () => {
  const studio = new Studio();
  const [first, second, third] = [read(studio), read(studio), read(studio)];
  for (let frame = 1; frame <= 3; frame++) await studio.frame();
  studio.sink!.end();
  await studio.answer();
  await studio.answer();
  expect([first.item, second.item]).toEqual([item(1, 0), item(3, 1)]);
  expect(third.item).toEqual({ done: true, value: undefined });
  expect(studio.stopped).toBe(1);
  // A source without frames, and one that fails.
  const empty = new Studio();
  const nothing = read(empty);
  empty.sink!.end();
  await settle();
  expect(nothing.item).toEqual({ done: true, value: undefined });
  const broken = new Studio();
  const failed = read(broken);
  broken.sink!.end(new TabServeError('invalid-input', 'unplugged'));
  await settle();
  expect(failed.code).toBe('invalid-input');
});

test('break, abort and dispose: requests are aborted, the source is stopped, every frame is closed', async () => {
  for (const way of ['return', 'abort', 'dispose'] as const) {
    const studio = new Studio({ fps: 10 });
    const first = read(studio);
    await studio.frame();
    await studio.answer();
    expect(first.item).toEqual(item(1, 0));
    const pending = read(studio);
    await studio.clock.advance(100);
    await studio.frame();
    await studio.frame();
    const [sent] = studio.sent;
    expect(studio.running).toEqual([2]);
    if (way === 'return') await studio.reader.return();
    if (way === 'abort') studio.abort.abort();
    if (way === 'dispose') studio.abort.abort(new TabServeError('disposed', 'gone'));
    await settle();
    expect(pending).toEqual(
      way === 'return'
        ? { item: { done: true, value: undefined }, code: undefined }
        : { item: undefined, code: way === 'abort' ? 'aborted' : 'disposed' },
    );
    expect(sent!.stop.aborted).toBe(true);
    expect(studio.stopped).toBe(1);
    // What arrives after the end is closed too.
    studio.sink!.frame({ picture: new FakePicture(9) as unknown as Picture, timestamp: 0 });
    expect(studio.open).toEqual([]);
    expect(studio.clock.pending).toBe(0);
    expect(await studio.reader.next()).toEqual({ done: true, value: undefined });
  }
});

test('an abort while nobody reads is told at the next read; one before the first read at the first', async () => {
  const studio = new Studio();
  const first = read(studio);
  await studio.frame();
  await studio.answer();
  studio.abort.abort();
  const second = read(studio);
  await settle();
  expect([first.item, second.code]).toEqual([item(1, 0), 'aborted']);
  const early = new Studio();
  early.abort.abort();
  const seen = read(early);
  await settle();
  // A stream may hold frames already: it is let go as any other.
  expect([seen.code, early.stopped]).toEqual(['aborted', 1]);
  await early.frame();
  expect(early.open).toEqual([]);
});

test('the error after an abort says that it was the signal of the stream; that of dispose stays as it is', async () => {
  for (const [reason, message] of [
    [new DOMException('The user left.', 'AbortError'), "The stream's signal ended it: The user left."],
    [new TabServeError('disposed', 'gone'), 'gone'],
  ] as const) {
    const studio = new Studio();
    const next = studio.reader.next();
    studio.abort.abort(reason);
    await expect(next).rejects.toMatchObject({ message });
  }
});

test('a frame that could not be sent is taken back, unless a newer one has come', async () => {
  const studio = new Studio();
  read(studio);
  await studio.frame();
  const [sent] = studio.sent;
  sent!.row.rollback();
  expect((sent!.row.message()!.value as FakePicture).id).toBe(1);
  await studio.frame();
  sent!.row.rollback();
  expect(studio.open).toEqual([2]);
});

// ── Sources ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Puts stand-ins for the browser's classes in the place of those that Node.js lacks. */
class FakeFrame extends FakePicture {
  readonly timestamp: number;

  constructor(id: number) {
    super(id);
    this.timestamp = id * 1000;
  }

  get codedWidth(): number {
    return this.closed ? 0 : 8;
  }
}
test.beforeAll(() => Object.assign(globalThis, { VideoFrame: FakeFrame }));
test.afterAll(() => Reflect.deleteProperty(globalThis, 'VideoFrame'));

function streamOf(chunks: readonly unknown[]): ReadableStream {
  const left = [...chunks];
  return new ReadableStream({
    pull: (controller) => (left.length > 0 ? controller.enqueue(left.shift()) : controller.close()),
  });
}

/** Reads a source until it ends. */
async function drain(source: ReadableStream): Promise<{ frames: number[]; error: TabServeError | undefined }> {
  const frames: number[] = [];
  const error = await new Promise<TabServeError | undefined>((resolve) =>
    readSource(source)({ frame: ({ timestamp }) => frames.push(timestamp / 1000), end: resolve }),
  );
  return { frames, error };
}

test('a stream of frames, and what is none', async () => {
  expect(await drain(streamOf([new FakeFrame(1), new FakeFrame(2)]))).toEqual({ frames: [1, 2], error: undefined });
  const closed = new FakeFrame(2);
  closed.close();
  const audio = new FakePicture(3);
  for (const wrong of [closed, audio, 'text', undefined, null, 7]) {
    const { frames, error } = await drain(streamOf([new FakeFrame(1), wrong]));
    expect(frames).toEqual([1]);
    expect(error).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('Expected a stream of') });
  }
  expect(audio.closed).toBe(true);
  const broken = new ReadableStream({ start: (controller) => controller.error(new Error('unplugged')) });
  expect((await drain(broken)).error).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('unplugged'),
  });
});

test('a stream that is stopped is canceled; one that always has a frame leaves time for everything else', async () => {
  let made = 0;
  let canceled = false;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new FakeFrame(++made)),
    cancel: () => void (canceled = true),
  });
  const frames: number[] = [];
  const stop = readSource(endless)({ frame: ({ timestamp }) => frames.push(timestamp), end: () => {} });
  await new Promise((resolve) => setTimeout(resolve, 30));
  stop();
  const before = frames.length;
  expect(before).toBeGreaterThan(1);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(frames.length).toBe(before);
  expect(canceled).toBe(true);
});

test('frames that wait in the queue of a stream that is stopped are closed', async () => {
  const frames = Array.from({ length: 9 }, (_, index) => new FakeFrame(index + 1));
  const queue = new ReadableStream({ start: (controller) => frames.forEach((one) => controller.enqueue(one)) });
  const stop = readSource(queue)({ frame: ({ picture }) => picture.close(), end: () => {} });
  stop();
  await new Promise((resolve) => setTimeout(resolve));
  expect(frames.filter(({ closed }) => !closed)).toEqual([]);
});

test('sources that cannot deliver frames are refused with the reason', () => {
  const locked = new ReadableStream();
  locked.getReader();
  const message = (open: () => unknown): string => {
    try {
      open();
    } catch (error) {
      expect(error).toBeInstanceOf(TabServeError);
      return `${(error as TabServeError).code}: ${(error as Error).message}`;
    }
    throw new Error('expected a failure');
  };
  const track = { kind: 'video', readyState: 'live', muted: false };
  expect(message(() => readSource(locked))).toContain('invalid-input: The ReadableStream is locked');
  for (const nothing of [undefined, null, 7, 'camera', {}, [], () => {}])
    expect(message(() => readSource(nothing))).toContain('invalid-input: frames expects a <video>');
  expect(message(() => trackFrames({ ...track, kind: 'audio' } as never))).toContain('invalid-input: The track is of');
  expect(message(() => trackFrames({ ...track, readyState: 'ended' } as never))).toContain(
    'invalid-input: The track has ended',
  );
  expect(message(() => trackFrames({ ...track, muted: true } as never))).toContain('"unmute"');
  expect(message(() => videoFrames({} as never))).toContain(
    'unsupported: This browser has no requestVideoFrameCallback',
  );
});

test('the client: options and states are checked when the frames are read', async () => {
  const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };
  const client = connect(() => new EchoWorker() as unknown as Worker, {
    model: 'http://127.0.0.1/model.onnx',
    verdicts,
  });
  const outcome = async (source: unknown, options?: unknown): Promise<string> => {
    try {
      for await (const _ of client.frames(source as never, options as never)) return 'item';
      return 'end';
    } catch (error) {
      return `${(error as TabServeError).code}: ${(error as Error).message}`;
    }
  };
  const none = (): ReadableStream => streamOf([]);
  expect(await outcome(none())).toContain('not-initialized');
  await client.initialize();
  expect(await outcome(none())).toBe('end');
  for (const fps of [0, -1, NaN, Infinity, '30', 2000])
    expect(await outcome(none(), { fps })).toContain('invalid-input: fps must be a number > 0');
  expect(await outcome(none(), { signal: {} })).toContain('invalid-input: signal');
  expect(await outcome(none(), { params: 7 })).toContain('invalid-input: params');
  expect(await outcome(none(), { timeout: 7 })).toContain(
    'invalid-input: timeout is not an option of frames (fps, signal, params).',
  );
  expect(await outcome(none(), null)).toContain('invalid-input');
  expect(await outcome(none(), { params: { a: () => {} } })).toContain('not-cloneable');
  const twice = client.frames(none());
  for await (const _ of twice);
  expect(() => twice[Symbol.asyncIterator]()).toThrow('Ask the client for another one');
  await client.dispose();
  expect(await outcome(none())).toContain('disposed');
});

test('an fps of nearly nothing waits as long as a timer can: a longer one fires at once, over and over', async () => {
  class Cloned extends FakeFrame {
    clone(): Cloned {
      return new Cloned(this.id);
    }
  }
  const requester = {
    disposed: new AbortController().signal,
    parallelism: 1,
    sendPrepared: async ([frame]: readonly Prepared[]) => [frame!.message()],
  };
  const source = streamOf([new Cloned(1), new Cloned(2)]);
  const reader = readFrames(requester as unknown as Requester, source, { fps: 1e-9 });
  const delays: number[] = [];
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((task: () => void, milliseconds = 0) => {
    delays.push(milliseconds);
    return setTimeout(task, milliseconds);
  }) as typeof setTimeout;
  try {
    await reader.next();
    void reader.next();
    // The second frame waits until it is due.
    await expect.poll(() => Math.max(...delays)).toBeGreaterThan(2 ** 31 - 60_000);
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
  } finally {
    globalThis.setTimeout = setTimeout;
    await reader.return();
  }
});

test('an item has its frame, which is closed when the next item is asked for; all others are closed as well', async () => {
  const copies: Copied[] = [];
  class Copied extends FakePicture {
    readonly codedWidth = 1;
    clone(): Copied {
      const copy = new Copied(this.id);
      copies.push(copy);
      return copy;
    }
  }
  Object.defineProperty(globalThis, 'VideoFrame', { value: Copied, configurable: true });
  try {
    const studio = new Studio({ limit: 2 });
    const deliver = async (id: number): Promise<void> => {
      studio.sink!.frame({ picture: new Copied(id) as unknown as Picture, timestamp: id });
      await settle();
    };
    const open = (): number[] => copies.filter(({ closed }) => !closed).map(({ id }) => id);
    const first = read(studio);
    await deliver(1);
    await deliver(2);
    expect(open()).toEqual([1, 2]);
    await studio.answer(1);
    expect(first.item?.value?.frame).toBe(copies[1]);
    await studio.answer(0); // too late: a newer frame was read
    expect(open()).toEqual([2]);

    await deliver(3);
    await deliver(4);
    expect(open()).toEqual([2, 3, 4]);
    studio.sent[0]!.fail('worker-lost');
    await settle();
    expect(open()).toEqual([2, 4]);
    const second = read(studio);
    expect(open()).toEqual([4]);
    await studio.answer();
    expect(second.item?.value?.frame).toBe(copies[3]);

    await deliver(5);
    await studio.reader.return();
    await settle();
    expect(open()).toEqual([]);
    expect(copies).toHaveLength(5);
  } finally {
    Reflect.deleteProperty(globalThis, 'VideoFrame');
  }
});
