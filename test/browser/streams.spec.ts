// Streams in a browser's own workers and ports. Their rules are in `unit/streams.spec.ts`.
import type { Streaming } from './workers/streaming.worker.ts';
import { expect, test } from './fixtures.ts';

test('an answer in pieces: in order, held back by its reader, aborted by break, and lost with its worker @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const seen = await page.evaluate(async (backend) => {
    const client = window.tabserve.connect<Streaming>(window.workers.streaming, {
      model: '/test/models/affine_fixed.onnx',
      backends: [backend],
    });
    await client.initialize();
    const input = { data: new Float32Array(4), dims: [4] };
    const worker = async (): Promise<{ sent: number; aborted: number }> =>
      (await client.describe()).customizedMetadata as never;
    const until = async (done: (seen: { sent: number; aborted: number }) => boolean): Promise<void> => {
      while (!done(await worker())) await new Promise((resolve) => setTimeout(resolve, 5));
    };

    const whole: unknown[] = [];
    for await (const item of client.stream(input, { params: { parts: 4 } }))
      whole.push(typeof item === 'number' ? item : [item.number, item.data.length, item.data[999]]);

    const before = (await worker()).sent;
    let unread = 0;
    for await (const item of client.stream(input, { params: { parts: 50 } })) {
      if (typeof item === 'number' || item.number < 3) continue;
      // A request passes the stream while its reader rests; then no more parts than there is room for have been sent.
      await until(({ sent }) => sent - before >= 5);
      await client.predict(input, { params: { parts: 0 } });
      unread = (await worker()).sent - before - 3;
      break;
    }
    await until(({ aborted }) => aborted === 1);

    const lost: unknown[] = [];
    const failed = await window.failure(async () => {
      for await (const item of client.stream(input, { params: { parts: 4, closesBefore: 3 } }))
        lost.push(typeof item === 'number' ? item : item.number);
    });
    const after = await client.predict(input, { params: { parts: 2 } });
    await client.dispose();
    return { whole, unread, lost, code: failed.code, after };
  }, backend);
  expect(seen).toEqual({
    whole: [[1, 1000, 1], [2, 1000, 2], [3, 1000, 3], [4, 1000, 4], 4],
    unread: 2,
    lost: expect.any(Array),
    code: 'worker-lost',
    after: 2,
  });
  // The worker may end before or after its parts are read, but no part comes twice.
  expect([[], [1], [1, 2]]).toContainEqual(seen.lost);
});
