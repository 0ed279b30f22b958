// Faces, hands and bodies on both engines, from photos to points. Where the points are is compared with MediaPipe in
// `node/people.spec.ts`.
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

interface Faces {
  readonly cases: readonly { readonly photo: string; readonly faces: readonly { readonly landmarks: number[][] }[] }[];
}

for (const engine of ['onnx', 'tfjs'] as const)
  test(`faces, hands and a body on ${engine}: the archives are proven, and the points are MediaPipe's${engine === 'onnx' ? ' @wasm' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    test.slow();
    test.skip(engine === 'onnx' && backend === 'webgl', 'it computes the detector of people wrongly: see below');
    const page = await open();
    const answers = await page.evaluate(
      async (candidate) => {
        const ask = async (
          name: string,
          url: string,
        ): Promise<{ candidate: string; first: number[][]; count: number }> => {
          const client = await window.tabserve.load(`/models/${name}/`, { backends: [candidate] });
          const found = (await client.predict(await (await fetch(url)).blob())) as unknown as readonly {
            readonly landmarks: readonly { readonly x: number; readonly y: number }[];
          }[];
          const used = `${client.backend!.engine}/${client.backend!.name}`;
          await client.dispose();
          return {
            candidate: used,
            first: found[0]?.landmarks.map(({ x, y }) => [x, y]) ?? [],
            count: found.length,
          };
        };
        return {
          face: await ask('face', '/models/selfie/samples/astronaut.jpg'),
          hand: await ask('hand', '/models/hand/samples/sofa.jpg'),
          pose: await ask('pose', '/models/selfie/samples/astronaut.jpg'),
        };
      },
      `${engine}/${backend}` as const,
    );
    const { cases } = readGoldens<Faces>('../goldens/people/faces.json');
    const expected = cases[0]!.faces[0]!.landmarks;
    const away = expected
      .map(([x, y], at) => Math.hypot(answers.face.first[at]![0]! - x!, answers.face.first[at]![1]! - y!))
      .toSorted((a, b) => a - b);
    // The face is about 130 pixels high.
    expect(away[234]).toBeLessThan(1.5);
    expect(away.at(-1)).toBeLessThan(4.5);
    expect(answers.face).toMatchObject({ candidate: `${engine}/${backend}`, count: 1 });
    expect(answers.hand).toMatchObject({ candidate: `${engine}/${backend}`, count: 4 });
    expect(answers.pose).toMatchObject({ candidate: `${engine}/${backend}`, count: 1 });
  });

/** The photo that each landmarker is asked about. */
const PHOTOS = {
  face: '/models/selfie/samples/astronaut.jpg',
  hand: '/models/hand/samples/sofa.jpg',
  pose: '/models/selfie/samples/astronaut.jpg',
} as const;

for (const name of ['face', 'hand', 'pose'] as const)
  test(`${name}: each engine on each backend has the points within a thousandth of the box's diagonal @full`, async ({
    open,
    backend,
  }) => {
    // On two busy cores SwiftShader takes minutes to compile the shaders of a body.
    test.setTimeout(400_000);
    const page = await open();
    const { expected, answers } = await page.evaluate(
      async ({ name, url, backend }) => {
        const photo = await (await fetch(url)).blob();
        const ask = async (candidate: `${'onnx' | 'tfjs'}/${typeof backend}`) => {
          const client = await window.tabserve.load(`/models/${name}/`, { backends: [candidate], startupTimeout: 300 });
          try {
            return (await client.predict(photo)) as unknown as readonly {
              readonly score: number;
              readonly box: {
                readonly xmin: number;
                readonly ymin: number;
                readonly xmax: number;
                readonly ymax: number;
              };
              readonly landmarks: readonly { readonly x: number; readonly y: number; readonly z: number }[];
            }[];
          } finally {
            await client.dispose();
          }
        };
        const answers = [];
        for (const engine of ['onnx', 'tfjs'] as const) {
          const candidate = `${engine}/${backend}` as const;
          try {
            answers.push({ candidate, found: await ask(candidate) });
          } catch (error) {
            const { code, message } = error as { readonly code?: string; readonly message: string };
            answers.push({ candidate, code, message });
          }
        }
        return { expected: await ask('onnx/wasm'), answers };
      },
      { name, url: PHOTOS[name], backend },
    );
    expect(expected).toHaveLength(name === 'hand' ? 4 : 1);
    for (const { candidate, found, code, message } of answers) {
      if (candidate === 'onnx/webgl') {
        // Weights of half precision: TensorFlow.js' copy of the model has none.
        expect({ code, message }).toEqual({
          code: 'no-backend',
          message: expect.stringContaining('onnx/webgl: Node "landmarks": ONNX Runtime could not load the model'),
        });
        continue;
      }
      expect(found?.length, `${candidate}: ${code} ${message}`).toBe(expected.length);
      for (const [at, one] of expected.entries()) {
        const diagonal = Math.hypot(one.box.xmax - one.box.xmin, one.box.ymax - one.box.ymin);
        const same = found![at]!;
        const away = one.landmarks.map(({ x, y, z }, point) => {
          const other = same.landmarks[point]!;
          return Math.hypot(x - other.x, y - other.y, z - other.z) / diagonal;
        });
        expect(Math.max(...away), candidate).toBeLessThan(1e-3);
        expect(Math.abs(same.score - one.score), candidate).toBeLessThan(1e-3);
      }
    }
  });

test('pose: where ONNX Runtime WebGL cannot load a model, TensorFlow.js takes over, and the reason is told @wasm', async ({
  open,
  backend,
}) => {
  test.skip(backend !== 'webgl', 'it is about WebGL');
  test.setTimeout(200_000);
  const page = await open();
  const used = await page.evaluate(async () => {
    const client = await window.tabserve.load('/models/pose/', { backends: ['onnx/webgl', 'tfjs/webgl'] });
    const { engine, name, skipped } = client.backend!;
    await client.dispose();
    return { engine, name, reasons: skipped.map((one) => `${one.engine}/${one.name}: ${one.reason}`) };
  });
  expect(used).toMatchObject({ engine: 'tfjs', name: 'webgl' });
  expect(used.reasons.join()).toMatch(/onnx\/webgl: Node "landmarks": ONNX Runtime could not load the model/);
});

test('a lost worker costs no id of a face, a hand or a body @once @full', async ({ open, backend }) => {
  const page = await open();
  const seen = await page.evaluate(
    async ({ photos, backend }) => {
      const made: Worker[] = [];
      window.Worker = class extends Worker {
        constructor(...args: ConstructorParameters<typeof Worker>) {
          super(...args);
          made.push(this);
        }
      };
      const seen = [];
      for (const [name, url] of Object.entries(photos)) {
        const before = made.length;
        const client = await window.tabserve.load(`/models/${name}/`, { backends: [`onnx/${backend}`] });
        const photo = await createImageBitmap(await (await fetch(url)).blob());
        const canvas = new OffscreenCanvas(photo.width, photo.height);
        const draw = canvas.getContext('2d')!;
        const sequence = client.openSequence();
        const frames: (readonly (number | undefined)[])[] = [];
        for (let at = 0; at < 6; at++) {
          // A camera that pans by two pixels.
          draw.drawImage(photo, -2 * at, 0);
          const found = (await sequence.predict(new VideoFrame(canvas, { timestamp: at * 33_333 }), {
            params: { detectEvery: 1000 },
          })) as unknown as readonly { readonly id?: number }[];
          frames.push(found.map(({ id }) => id).toSorted());
          if (at === 2) made.at(-1)!.terminate();
        }
        await sequence.end();
        await client.dispose();
        seen.push({ name, frames, workers: made.length - before });
      }
      return seen;
    },
    { photos: PHOTOS, backend },
  );
  for (const { name, frames, workers } of seen) {
    expect(workers, name).toBe(2);
    const ids = Array.from({ length: name === 'hand' ? 4 : 1 }, (_, at) => at + 1);
    expect(frames, name).toEqual(frames.map(() => ids));
  }
});

test('somebody leaves while hands are followed: the worker closes its frame before it ends @full @once', async ({
  open,
  backend,
}) => {
  test.slow();
  const page = await open();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  await page.evaluate(async (backend) => {
    const photo = await createImageBitmap(await (await fetch('/models/hand/samples/sofa.jpg')).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: photo.width, height: photo.height });
    const context = canvas.getContext('2d')!;
    const timer = setInterval(() => context.drawImage(photo, 0, 0), 20);
    const [track] = canvas.captureStream().getVideoTracks();
    for (let visit = 0; visit < 4; visit++) {
      const client = await window.tabserve.load('/models/hand/', {
        handler: 'hand_landmarker',
        backends: [`onnx/${backend}`],
      });
      let answers = 0;
      const follow = async (): Promise<void> => {
        for await (const _ of client.openSequence().frames(track!))
          // In the middle of the next frame.
          if ((answers += 1) === 2) setTimeout(() => void client.dispose(), 60);
      };
      const { code } = await window.failure(follow());
      if (code !== 'disposed') throw new Error(code);
    }
    clearInterval(timer);
    // Chromium complains every ten seconds of what it has collected.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
  }, backend);
  expect(complaints).toEqual([]);
});
