import type { ClassMap, SoftMask } from '../../src/index.ts';
import { cases, values, type SegmenterCase, type Stored } from '../goldens/segmenter/read.ts';
import { expect, test } from './fixtures.ts';

/**
 * Probabilities, from the file to the map, against ONNX Runtime and torch in Python. No two classes are closer than
 * twice this.
 */
const TOLERANCE = 1e-5;

/** What the unit tests have for all transforms goes here through the engine for one each. */
const THROUGH = {
  logits: 'letterbox',
  sigmoid: 'crop',
  probabilities: 'stretch',
  two_logits: 'letterbox',
  argmax: 'crop',
};

for (const [model, transform] of Object.entries(THROUGH)) {
  // Masks are computed on the CPU: on a GPU, one model shows that the engine's outputs reach them.
  const tag = model === 'logits' ? '' : ' @once';
  test(`segmenter, ${model}, ${transform}: images of four sizes in one batch, as torch has them${tag}`, async ({
    open,
    backend,
  }) => {
    const some = cases.filter((golden) => golden.model === model && golden.transform === transform);
    const { handler } = some[0]!;
    const page = await open();
    const answers = await page.evaluate(
      async ({ backend, model, handler, images }) => {
        const client = await window.tabserve.load(`/test/goldens/segmenter/${model}.onnx`, {
          handler: 'image_segmenter',
          backends: [backend],
          config: { handler },
        });
        const blobs = await Promise.all(
          images.map(async (name) => await (await fetch(`/test/goldens/segmenter/${name}.png`)).blob()),
        );
        const maps = (await client.handle(blobs)) as ClassMap[];
        const masks = (await client.handle(blobs, { params: { result: 'mask' } })) as SoftMask[];
        const { name } = client.backend!;
        await client.dispose();
        return {
          name,
          maps: maps.map(({ width, height, classes, scores }) => ({
            width,
            height,
            classes: [...classes],
            scores: scores && [...scores],
          })),
          masks: masks.map(({ width, height, mask }) => ({ width, height, mask: [...mask] })),
        };
      },
      { backend, model, handler, images: some.map(({ image }) => image) },
    );
    expect(answers.name).toBe(backend);
    for (const [index, golden] of some.entries()) {
      const [width, height] = golden.size;
      const [map, mask] = [answers.maps[index]!, answers.masks[index]!];
      expect(map).toMatchObject({ width, height });
      expect(map.classes, name(golden)).toEqual([...values(golden.expected.classes)]);
      if (golden.expected.scores) expectClose(map.scores!, golden.expected.scores, name(golden));
      expect(mask).toMatchObject({ width, height });
      expectClose(mask.mask, golden.expected.mask, name(golden));
    }
  });
}

test('a mask as the page paints it: tints the foreground, or cuts it out @once', async ({ open }) => {
  const page = await open();
  const pixels = await page.evaluate(async () => {
    const { paintMask } = window.tabserve;
    const mask = { result: 'mask', width: 3, height: 1, label: 'person', mask: Float32Array.of(0, 0.5, 1) } as const;
    const context = new OffscreenCanvas(3, 1).getContext('2d')!;
    context.fillStyle = '#fff';
    context.fillRect(0, 0, 3, 1);
    context.globalCompositeOperation = 'destination-in';
    context.drawImage(await createImageBitmap(paintMask(mask)), 0, 0);
    return {
      tint: [...paintMask(mask, { color: [255, 0, 10], alpha: 0.5 }).data],
      cut: [...context.getImageData(0, 0, 3, 1).data].filter((_, i) => i % 4 === 3),
    };
  });
  expect(pixels.tint).toEqual([255, 0, 10, 0, 255, 0, 10, 64, 255, 0, 10, 128]);
  expect(pixels.cut).toEqual([0, 128, 255]);
});

test('a class map as the page paints it: PASCAL VOC’s colors, or one’s own @once', async ({ open }) => {
  const page = await open();
  const painted = await page.evaluate(() => {
    const { paintClasses, vocPalette } = window.tabserve;
    const map = {
      result: 'classes',
      width: 2,
      height: 2,
      labels: ['background', 'aeroplane', 'bicycle'],
      classes: Uint8Array.of(0, 1, 2, 255),
    } as const;
    const wide = { ...map, classes: Uint16Array.of(0, 1, 2, 300) };
    return {
      voc: [...paintClasses(map, { alpha: 1 }).data],
      own: [
        ...paintClasses(map, {
          palette: [
            [1, 2, 3],
            [4, 5, 6, 100],
          ],
          alpha: 0.5,
        }).data,
      ],
      wide: [...paintClasses(wide).data],
      palette: [0, 1, 2, 3, 4, 8, 15, 20, 255].map((index) => vocPalette(256)[index]),
    };
  });
  expect(painted.voc).toEqual([0, 0, 0, 0, 128, 0, 0, 255, 0, 128, 0, 255, 224, 224, 192, 255]);
  expect(painted.own).toEqual([1, 2, 3, 128, 4, 5, 6, 50, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(painted.wide).toEqual([0, 0, 0, 0, 128, 0, 0, 128, 0, 128, 0, 128, 0, 0, 0, 0]);
  // The table of the development kit: background, aeroplane, bicycle, bird, boat, cat, person, tv/monitor, void.
  expect(painted.palette).toEqual([
    [0, 0, 0],
    [128, 0, 0],
    [0, 128, 0],
    [128, 128, 0],
    [0, 0, 128],
    [64, 0, 0],
    [192, 128, 128],
    [0, 64, 128],
    [224, 224, 192],
  ]);
});

test('paintMask refuses a class map and paintClasses refuses a mask, with a typed error @once', async ({ open }) => {
  const page = await open();
  const failures = await page.evaluate(async () => {
    const { paintClasses, paintMask } = window.tabserve;
    const mask = { result: 'mask', width: 1, height: 1, label: 'person', mask: Float32Array.of(1) } as const;
    const map = { result: 'classes', width: 1, height: 1, labels: [], classes: Uint8Array.of(0) } as const;
    return [await window.failure(() => paintClasses(mask)), await window.failure(() => paintMask(map))];
  });
  expect(failures.map(({ code }) => code)).toEqual(['invalid-input', 'invalid-input']);
  expect(failures[1]!.message).toContain('handler.result');
});

test('a config that does not fit the model fails at load @once', async ({ open }) => {
  const page = await open();
  const failures = await page.evaluate(async () => {
    const load = async (model: string, handler: Record<string, unknown>) =>
      await window.failure(
        window.tabserve.load(`/test/goldens/segmenter/${model}.onnx`, {
          handler: 'image_segmenter',
          backends: ['wasm'],
          config: { handler },
        }),
      );
    const imageProcessing = [{ resize: [12, 16] }, 'toTensor'];
    return [
      await load('logits', { imageProcessing, labels: ['sky', 'sea'] }),
      await load('argmax', { imageProcessing }),
    ];
  });
  expect(failures).toMatchObject([
    { code: 'model-config', stage: 'initialize', message: expect.stringMatching(/2 labels.*5 classes/) },
    { code: 'model-config', stage: 'initialize', message: expect.stringMatching(/handler\.output.*int64/) },
  ]);
});

function name({ model, transform, image }: SegmenterCase): string {
  return `${model}, ${transform}, ${image}`;
}

function expectClose(got: readonly number[], stored: Stored, what: string): void {
  const wanted = values(stored as Stored & { dtype: 'float32' });
  expect(got.length, what).toBe(wanted.length);
  expect(
    wanted.reduce((worst, value, index) => Math.max(worst, Math.abs(got[index]! - value)), 0),
    what,
  ).toBeLessThanOrEqual(TOLERANCE);
}
