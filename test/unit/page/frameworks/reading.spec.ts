import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { framesReading, streamReading } from '../../../../src/page/frameworks/reading.ts';
import { SharedClient } from '../../../../src/page/frameworks/shared-client.ts';
import { EchoWorker } from '../../support/fake-worker.ts';

/** What `useStream` and `useFrames` do in every framework. test/browser/frameworks.spec.ts has them in components. */

/** Items that a test delivers one by one, and whether their reader has left. */
function source<Item>() {
  const waiting: ((item: IteratorResult<Item, undefined>) => void)[] = [];
  const failing: ((error: unknown) => void)[] = [];
  let isLeft = false;
  const next = (): Promise<IteratorResult<Item, undefined>> =>
    new Promise((resolve, reject) => {
      waiting.push(resolve);
      failing.push(reject);
    });
  const settled = async (settle: () => void): Promise<void> => {
    settle();
    // The reading continues in a task of its own.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    items: {
      [Symbol.asyncIterator]: () => ({
        next,
        async return() {
          isLeft = true;
          return { done: true, value: undefined } as const;
        },
      }),
    } as AsyncIterable<Item>,
    deliver: async (value: Item) => await settled(() => waiting.at(-1)!({ done: false, value })),
    end: async () => await settled(() => waiting.at(-1)!({ done: true, value: undefined })),
    fail: async (error: unknown) => await settled(() => failing.at(-1)!(error)),
    get asked() {
      return waiting.length;
    },
    get isLeft() {
      return isLeft;
    },
  };
}

test('a stream: items and their text, each told to the component; done when it ends', async () => {
  const reading = streamReading<string | { readonly text: string }>();
  let told = 0;
  const unsubscribe = reading.subscribe(() => told++);
  expect(reading.getState()).toEqual({ status: 'idle', error: undefined, items: [], text: '' });
  const parts = source<string | { readonly text: string }>();
  reading.start(parts.items);
  expect(reading.getState().status).toBe('running');
  await parts.deliver('Once ');
  await parts.deliver('upon');
  const before = reading.getState();
  expect(before).toEqual({ status: 'running', error: undefined, items: ['Once ', 'upon'], text: 'Once upon' });
  await parts.deliver({ text: 'Once upon' });
  expect(before.items, 'a state that was rendered does not change').toHaveLength(2);
  await parts.end();
  expect(reading.getState()).toEqual({
    status: 'done',
    error: undefined,
    items: ['Once ', 'upon', { text: 'Once upon' }],
    text: 'Once upon',
  });
  expect(told).toBe(5);
  unsubscribe();
  reading.start(source<string>().items);
  expect(told, 'a component that was unmounted hears nothing').toBe(5);
});

test('stop, and another start, end what is read; an item that comes late is not shown', async () => {
  const reading = streamReading<string>();
  const [first, second] = [source<string>(), source<string>()];
  reading.stop();
  expect(reading.getState().status).toBe('idle');
  reading.start(first.items);
  await first.deliver('a');
  reading.stop();
  expect([reading.getState(), first.isLeft]).toEqual([
    { status: 'idle', error: undefined, items: ['a'], text: 'a' },
    true,
  ]);
  reading.start(second.items);
  await first.deliver('late');
  expect(reading.getState()).toEqual({ status: 'running', error: undefined, items: [], text: '' });
  reading.start(first.items);
  expect(second.isLeft).toBe(true);
  await second.fail(new Error('late'));
  expect(reading.getState().status).toBe('running');
});

test('an error keeps what came; what is no error of ours is its cause', async () => {
  const reading = streamReading<string>();
  const parts = source<string>();
  reading.start(parts.items);
  await parts.deliver('a');
  const error = new TabServeError('worker-lost', 'gone');
  await parts.fail(error);
  expect(reading.getState()).toEqual({ status: 'error', error, items: ['a'], text: 'a' });
  const others = source<string>();
  reading.start(others.items);
  const cause = new Error('broken');
  await others.fail(cause);
  expect(reading.getState().error).toMatchObject({ code: 'handler-failed', cause });
});

test('frames: each answer is seen before the next one is asked for; the component may stop there', async () => {
  const reading = framesReading<number>();
  const frames = source<{ result: number; timestamp: number; dropped: number; frame: undefined }>();
  const asked: number[] = [];
  reading.start(frames.items, ({ result }) => {
    asked.push(frames.asked);
    if (result === 2) reading.stop();
  });
  await frames.deliver({ result: 1, timestamp: 0, dropped: 0, frame: undefined });
  expect(reading.getState()).toEqual({ status: 'running', error: undefined, result: 1 });
  await frames.deliver({ result: 2, timestamp: 1, dropped: 0, frame: undefined });
  expect(reading.getState()).toEqual({ status: 'idle', error: undefined, result: 2 });
  expect([asked, frames.asked, frames.isLeft]).toEqual([[1, 2], 2, true]);
});

const shared = (): SharedClient =>
  new SharedClient({
    factory: () => new EchoWorker() as unknown as Worker,
    options: {
      model: 'http://127.0.0.1/model.onnx',
      verdicts: { get: async () => undefined, set: async () => {}, clear: async () => {} },
    },
  });

test('stream of a model that is not loaded: reading it loads the model; nothing is asked before', async () => {
  const client = shared();
  const unmount = client.subscribe(() => {});
  const answer = client.stream(7);
  expect(client.getState().status).toBe('idle');
  const items: unknown[] = [];
  for await (const item of answer) items.push(item);
  expect(items).toEqual([7]);
  expect(client.getState().status).toBe('ready');
  expect(() => answer[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: 'invalid-input' }));
  unmount();
});

test('stream: left while the model is loading, aborted, and after the component was unmounted', async () => {
  const client = shared();
  const unmount = client.subscribe(() => {});
  const left = client.stream(1)[Symbol.asyncIterator]();
  const pending = left.next();
  await left.return!();
  expect(await pending).toEqual({ done: true, value: undefined });
  const aborted = client.stream(1, { signal: AbortSignal.abort() })[Symbol.asyncIterator]().next();
  await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  unmount();
  await expect.poll(() => client.getState().status).toBe('idle');
  for (const ended of [client.stream(1), client.frames({} as never)])
    await expect(ended[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'disposed' });
});
