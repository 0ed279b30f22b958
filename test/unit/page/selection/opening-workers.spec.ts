import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { CompiledFiles, OpeningWorkers } from '../../../../src/page/selection/opening-workers.ts';
import { EchoWorker } from '../../support/fake-worker.ts';

/** A worker that is being retired while it stores its files. */
async function retired() {
  let store = (): void => {};
  const storing = new Promise<void>((resolve) => (store = resolve));
  class Storing extends EchoWorker {
    protected override async answer(method: (...args: never[]) => unknown, args: never[]): Promise<unknown> {
      await storing;
      return super.answer(method, args);
    }
  }
  const abort = new AbortController();
  const workers = new OpeningWorkers({
    factory: () => new Storing() as unknown as Worker,
    signal: abort.signal,
    warn: () => {},
    compiled: new CompiledFiles(),
    config: undefined,
    onProgress: undefined,
  });
  const worker = await workers.start();
  workers.retire(worker, new TabServeError('disposed', 'Another backend is faster.'));
  await new Promise((resolve) => setImmediate(resolve));
  return { worker, store, abort };
}

test('a worker that is not wanted ends once its files are stored', async () => {
  const { worker, store } = await retired();
  expect(worker.error).toBeUndefined();
  const ended = new Promise((resolve) => worker.ended.addEventListener('abort', resolve));
  store();
  await ended;
  expect(worker.error).toMatchObject({ message: 'Another backend is faster.' });
});

test('an abort ends it while it stores them', async () => {
  const { worker, abort } = await retired();
  abort.abort();
  expect(worker.ended.aborted).toBe(true);
});
