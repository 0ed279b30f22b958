import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

interface Case {
  readonly model: string;
  readonly decoder: Readonly<Record<string, unknown>>;
  readonly imageProcessing: readonly unknown[];
  readonly expected: readonly (readonly number[])[];
}

const { models, labels } = readGoldens<{ models: Case[]; labels: string[] }>('../goldens/detection/goldens.json');

/**
 * Of a score, and of a pixel for each pixel of the coordinate: what float32 on a GPU makes of sums of some hundred
 * terms.
 */
const TOLERANCE = 1e-4;

// The decoders run on the CPU: on a GPU, one model shows that the engine's outputs reach them.
const THROUGH_THE_GPU = models.find(({ model }) => model === 'yolov8');

for (const one of models) {
  const { model, decoder, imageProcessing, expected } = one;
  // `npm test` runs two: the others differ in the decoder, which unit tests compare with the same numbers.
  const tag = one === THROUGH_THE_GPU ? '' : model === 'ssd' ? ' @once' : ' @once @full';
  test(`${model}, ${JSON.stringify(imageProcessing.slice(0, -1))}: from the image file to boxes as ONNX Runtime in Python and float64 decoders${tag} @wasm`, async ({
    open,
    backend,
  }) => {
    const page = await open();
    // Where class 0 is the background, label 0 is too.
    const names = model === 'ssd' ? ['background', ...labels] : labels;
    const answer = await page.evaluate(
      async ({ backend, url, handler }) => {
        const client = await window.tabserve.load(url, {
          handler: 'object_detector',
          backends: [backend],
          config: { handler },
        });
        return {
          backend: client.backend!.name,
          detections: await client.predict(await (await fetch('/test/goldens/detection/scene.png')).blob()),
        };
      },
      { backend, url: `/test/models/detection/${model}.onnx`, handler: { decoder, imageProcessing, labels: names } },
    );
    expect(answer.backend).toBe(backend);
    expect(answer.detections.map(({ label }) => label)).toEqual(expected.map(([index]) => names[index!]));
    for (const [i, { score, box }] of answer.detections.entries()) {
      for (const [j, value] of [score, box.xmin, box.ymin, box.xmax, box.ymax].entries()) {
        const wanted = expected[i]![j + 1]!;
        expect(Math.abs(value - wanted), `object ${i}: ${value} for ${wanted}`).toBeLessThanOrEqual(
          TOLERANCE * Math.max(1, Math.abs(wanted)),
        );
      }
    }
  });
}

test('a batch with a file that is no image, params of a request, and no detection at all @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/test/models/detection/yolov8.onnx', {
      handler: 'object_detector',
      backends: [backend],
      config: {
        handler: {
          decoder: 'yolov8',
          imageProcessing: [{ letterbox: [64, 96] }, 'toTensor'],
          labels: ['cat', 'dog', 'owl'],
        },
      },
    });
    const scene = await (await fetch('/test/goldens/detection/scene.png')).blob();
    const rows = await client.handle([scene, new Blob(['no image']), scene]);
    const three = await client.predict(scene, { params: { maxDetections: 3 } });
    const none = await client.predict(scene, { params: { scoreThreshold: 1 } });
    const torchserve: unknown = await client.predict(scene, { params: { result: 'torchserve', maxDetections: 1 } });
    const fixed = await window.failure(client.predict(scene, { params: { decoder: 'yolov5' } as object }));
    const [first, failed, last] = rows as [typeof three, { code: string; stage: string }, typeof three];
    return { first, failed: { code: failed.code, stage: failed.stage }, last, three, none, torchserve, fixed };
  }, backend);
  expect(answer.failed).toEqual({ code: 'image-decode', stage: 'preprocess' });
  expect(answer.last).toEqual(answer.first);
  expect(answer.first.length).toBeGreaterThan(3);
  expect(answer.three).toEqual(answer.first.slice(0, 3));
  expect(answer.none).toEqual([]);
  const [{ label, score, box }] = answer.three as [(typeof answer.three)[number]];
  expect(answer.torchserve).toEqual([{ [label]: [box.xmin, box.ymin, box.xmax, box.ymax], score }]);
  expect(answer.fixed).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('params.decoder') });
});

test('a decoder that does not fit, labels that do not, and a missing file of anchors @once @full', async ({ open }) => {
  const page = await open();
  const failures = await page.evaluate(async () => {
    const fail = async (model: string, handler: Record<string, unknown>) =>
      await window.failure(
        window.tabserve.load(`/test/models/detection/${model}.onnx`, {
          handler: 'object_detector',
          backends: ['wasm'],
          config: { handler: { imageProcessing: [{ resize: [64, 96] }, 'toTensor'], ...handler } },
        }),
      );
    return {
      byDefault: await fail('yolov8', {}),
      decoder: await fail('yolov8', { decoder: 'yolov5' }),
      labels: await fail('yolov8', { decoder: 'yolov8', labels: ['one'] }),
      anchors: await fail('ssd', { decoder: { ssd: { anchors: { file: 'anchors.json' } } } }),
      threshold: await fail('yolov8', { decoder: 'yolov8', scoreThreshold: 25 }),
    };
  });
  expect(failures.byDefault).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('handler.decoder: torchvision reads boxes'),
  });
  expect(failures.decoder).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining(
      'handler.decoder: yolov5 reads [batch, boxes, 5 + classes]; the model gives "output" [1, 7, 24]',
    ),
  });
  expect(failures.labels).toMatchObject({ code: 'model-config', message: expect.stringContaining('handler.labels') });
  expect(failures.anchors).toMatchObject({ code: 'model-not-found', message: expect.stringContaining('anchors.json') });
  expect(failures.threshold).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('handler.scoreThreshold'),
  });
});
