import { expect, test } from '@playwright/test';
import type { Context } from '../../../../src/contract/handler.ts';
import type { HandleRequest } from '../../../../src/contract/wire.ts';
import { Batches } from '../../../../src/worker/host/batches.ts';
import type { OpenHandler } from '../../../../src/worker/host/open-handlers.ts';

class FakeFrame {
  isOpen = true;
  close(): void {
    this.isOpen = false;
  }
}

test.beforeAll(() => Object.assign(globalThis, { VideoFrame: FakeFrame }));
test.afterAll(() => Reflect.deleteProperty(globalThis, 'VideoFrame'));

test('closeImages aborts what runs, and answers when the frames of all batches are closed', async () => {
  const seen: boolean[] = [];
  const handler = {
    handle: async ([row]: readonly { readonly image: FakeFrame }[], { signal }: Context): Promise<unknown[]> => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      seen.push(row!.image.isOpen);
      return [null];
    },
  };
  const batches = new Batches(
    () => {},
    () => {},
  );
  const frames = [new FakeFrame(), new FakeFrame()];
  const environment = { modelDir: '', manifest: { model: { modelName: 'm' } }, config: {} };
  const opened = { handler, environment } as unknown as OpenHandler;
  const answers = frames.map((image, at) =>
    batches.handle(
      {
        id: String(at),
        request: 'predict',
        ids: [String(at)],
        params: [{}],
        rows: [{ image }],
      } as unknown as HandleRequest,
      () => opened,
      undefined,
    ),
  );
  await batches.closeImages();
  expect(seen, 'a handler has its frame to the end').toEqual([true, true]);
  expect(frames.map(({ isOpen }) => isOpen)).toEqual([false, false]);
  expect((await Promise.all(answers)).map(({ ok }) => ok)).toEqual([true, true]);
  await batches.closeImages();
});
