import { expect, test } from './fixtures.ts';

/** A photo of `client.keep` is encoded once in each worker; what a worker does not have any more is made again, unseen. */
const MODEL = '/test/models/tasks/prompt-sam/';
/** What the encoder returns for one photo: two tensors of [1, 16, 8, 8]. */
const BYTES = 2 * 16 * 8 * 8 * 4;

test('three clicks encode a photo once; evicted, released or with a lost worker, it is encoded again @once', async ({
  open,
}) => {
  const page = await open();
  const found = await page.evaluate(
    async ({ model, bytes }) => {
      const made: Worker[] = [];
      const factory = (): Worker => {
        made.push(window.workers.standard());
        return made.at(-1)!;
      };
      const client = window.tabserve.connect(factory, {
        model,
        backends: ['wasm'],
        config: { handler: { maxStateBytes: bytes * 1.5 } },
      });
      /** Whether the encoder ran for each answer. */
      const encoded: boolean[] = [];
      client.on('response', ({ nodes }) => encoded.push(nodes !== undefined && 'vision' in nodes));
      const recovered = new Promise<string>((resolve) => client.on('recover', ({ cause }) => resolve(cause.code)));
      await client.initialize();
      const canvas = Object.assign(document.createElement('canvas'), { width: 61, height: 47 });
      const context = canvas.getContext('2d')!;
      const paint = (color: string): void => {
        context.fillStyle = color;
        context.fillRect(10, 5, 30, 30);
      };
      const ask = async (image: unknown, at: number): Promise<string> =>
        JSON.stringify(await client.predict({ image, points: [[at, 20]] } as never, { params: { masks: 'all' } }));
      paint('rgb(200, 30, 90)');
      const right = [await ask(canvas, 20), await ask(canvas, 25), await ask(canvas, 30)];
      const plain = encoded.splice(0);

      const photo = await client.keep(canvas);
      // It is kept as it was.
      paint('rgb(0, 250, 0)');
      const clicks = [await ask(photo, 20), await ask(photo, 25), await ask(photo, 30)];
      const kept = encoded.splice(0);

      // Room is for one photo.
      const other = await client.keep(canvas);
      await ask(other, 20);
      const evicted = [await ask(photo, 20), await ask(photo, 25)];
      const afterEviction = encoded.splice(0);

      made.at(-1)!.terminate();
      const lost = [await ask(photo, 25), await ask(photo, 30)];
      const afterLoss = encoded.splice(0);
      const code = await recovered;

      const accepted = ask(photo, 25);
      photo.release();
      const refused = await window.failure(ask(photo, 20));
      lost.push(await accepted);
      await ask(other, 20);
      await client.dispose();
      return {
        right,
        plain,
        clicks,
        kept,
        evicted,
        afterEviction,
        lost,
        afterLoss,
        code,
        refused,
        workers: made.length,
      };
    },
    { model: MODEL, bytes: BYTES },
  );
  const { right } = found;
  expect(new Set(right).size).toBe(3);
  expect([found.plain, found.kept]).toEqual([
    [true, true, true],
    [true, false, false],
  ]);
  expect(found.clicks).toEqual(right);
  expect(found.evicted).toEqual(right.slice(0, 2));
  expect(found.afterEviction).toEqual([true, true, false]);
  expect(found.lost).toEqual([...right.slice(1), right[1]]);
  expect(found.afterLoss).toEqual([true, false]);
  expect([found.code, found.workers]).toEqual(['worker-lost', 2]);
  expect(found.refused).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('was released') });
});

test('several requests for a photo at the same time encode it once, and a batch has one row for each of them @once', async ({
  open,
}) => {
  const page = await open();
  const found = await page.evaluate(async (model) => {
    const client = await window.tabserve.load(model, { backends: ['wasm'] });
    const encoded: boolean[] = [];
    client.on('response', ({ nodes }) => encoded.push(nodes !== undefined && 'vision' in nodes));
    const canvas = Object.assign(document.createElement('canvas'), { width: 61, height: 47 });
    canvas.getContext('2d')!.fillRect(10, 5, 30, 30);
    const photo = await client.keep(canvas);
    const ask = (at: number) => ({ image: photo, points: [[at, 20]] }) as never;
    const rows = await client.handle([ask(20), ask(25), { image: photo } as never, ask(-1)]);
    const codes = rows.map((row) => (row instanceof Error ? (row as { code?: string }).code : 'masks'));
    const both = await Promise.all([client.predict(ask(20)), client.predict(ask(25))]);
    await client.dispose();
    return { codes, encoded, same: JSON.stringify(both) === JSON.stringify(rows.slice(0, 2)) };
  }, MODEL);
  expect(found.codes).toEqual(['masks', 'masks', 'invalid-input', 'invalid-input']);
  expect([found.encoded[0], found.encoded.slice(1).includes(true), found.same]).toEqual([true, false, true]);
});

test('tabs that share a model: the other tab sends its photo each time, and it is encoded once @once', async ({
  open,
}) => {
  const page = await open();
  const found = await page.evaluate(async (model) => {
    const options = { backends: ['wasm'], share: true } as const;
    const host = await window.tabserve.load(model, options);
    const guest = await window.tabserve.load(model, options);
    const canvas = Object.assign(document.createElement('canvas'), { width: 61, height: 47 });
    canvas.getContext('2d')!.fillRect(10, 5, 30, 30);
    const results = [];
    for (const client of [host, guest]) {
      const encoded: boolean[] = [];
      client.on('response', ({ nodes }) => encoded.push(nodes !== undefined && 'vision' in nodes));
      const photo = await client.keep(canvas);
      const answers: string[] = [];
      for (let click = 0; click < 3; click++)
        answers.push(JSON.stringify(await client.predict({ image: photo, points: [[20, 20]] } as never)));
      photo.release();
      const { sharing } = await client.describe();
      results.push({ role: sharing!.role, encoded, answers: new Set(answers).size });
    }
    await guest.dispose();
    await host.dispose();
    return results;
  }, MODEL);
  expect(found).toEqual([
    { role: 'host', encoded: [true, false, false], answers: 1 },
    { role: 'guest', encoded: [true, false, false], answers: 1 },
  ]);
});
