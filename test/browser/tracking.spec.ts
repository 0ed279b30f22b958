// Ids of objects over the frames of a sequence. Which ids ByteTrack gives is tested in `unit/worker/outputs/tracking`.
import { expect, test } from './fixtures.ts';

test('ids stay with people over the frames of a sequence, also when the worker is lost in between @once @full', async ({
  open,
  backend,
}) => {
  const page = await open();
  const seen = await page.evaluate(async (backend) => {
    const made: Worker[] = [];
    window.Worker = class extends Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args);
        made.push(this);
      }
    };
    const client = await window.tabserve.load('/models/tracker/', { handler: 'object_tracker', backends: [backend] });
    const photo = await createImageBitmap(await (await fetch('/models/nanodet/samples/party.jpg')).blob());
    // A camera that pans: each frame shows the photo eight pixels further to the left.
    const canvas = new OffscreenCanvas(photo.width - 120, photo.height);
    const draw = canvas.getContext('2d')!;
    let count = 0;
    // The next frame comes when the one before is answered: none is dropped, but for one in the lost worker.
    const shown = { free: 1, wake: (): void => {} };
    const show = (more: number): void => {
      shown.free += more;
      shown.wake();
    };
    const camera = new ReadableStream<VideoFrame>(
      {
        async pull(controller) {
          while (shown.free === 0) await new Promise<void>((resolve) => (shown.wake = resolve));
          shown.free -= 1;
          if (count === 14) return controller.close();
          draw.drawImage(photo, -8 * count, 0);
          controller.enqueue(new VideoFrame(canvas, { timestamp: (count += 1) * 1000 }));
        },
      },
      { highWaterMark: 0 },
    );
    const sequence = client.openSequence();
    const frames: { readonly id: number; readonly label: string; readonly x: number }[][] = [];
    for await (const { result } of sequence.frames(camera)) {
      frames.push(result.map(({ id, label, box }) => ({ id, label, x: (box.xmin + box.xmax) / 2 })));
      if (frames.length === 3) made.at(-1)!.terminate();
      show(frames.length === 3 ? 2 : 1);
    }
    const photoAlone = await client.predict(photo);
    // The state that a second request would begin with is not known yet.
    const pending = sequence.predict(photo);
    const busy = (await window.failure(sequence.predict(photo))).code;
    await pending;
    await sequence.end();
    const ended = (await window.failure(sequence.frames(new ReadableStream())[Symbol.asyncIterator]().next())).code;
    await client.dispose();
    return { frames, workers: made.length, busy, ended, alone: photoAlone.map(({ id }) => id) };
  }, backend);
  expect(seen).toMatchObject({ workers: 2, busy: 'queue-full', ended: 'disposed' });
  expect(seen.alone.length).toBeGreaterThanOrEqual(3);
  expect(seen.alone).toEqual(seen.alone.map((_, at) => at + 1));
  const people = seen.frames.map((frame) => frame.filter(({ label }) => label === 'person'));
  const [first, last] = [people[0]!, people.at(-1)!];
  expect(first.length).toBeGreaterThanOrEqual(3);
  // Who is there from the first to the last frame has moved to the left, under the same id.
  const stayed = first.filter(({ id }) => last.some((one) => one.id === id));
  expect(stayed.length).toBeGreaterThanOrEqual(3);
  for (const { id, x } of stayed) {
    const steps = people.flatMap((frame) => frame.find((one) => one.id === id)?.x ?? []);
    expect(steps.at(-1)! - x).toBeLessThan(-40);
    for (const [at, place] of steps.slice(1).entries()) expect(Math.abs(place - steps[at]!)).toBeLessThan(60);
  }
});
