// What Ultralytics' exporter (8.3) writes into the metadata of an ONNX file, and what its predictor does with images.
import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../src/contract/archive.ts';
import { withOwnHandler } from '../../../../src/worker/host/file-handler.ts';

const ARCHIVE: Archive = {
  url: 'https://models.test/yolo.onnx',
  manifest: { model: { modelName: 'yolo', serializedFile: 'yolo.onnx' } },
  config: {},
  models: { onnx: 'yolo.onnx' },
  files: {},
  golden: [],
  integrity: {},
};
const FREE = [{ name: 'images', dtype: 'float32', dims: ['batch', 3, 'height', 'width'] }] as const;

test('the handler, its decoder and the steps of Ultralytics’ predictor, by the task', async () => {
  const found = async (task: string, more: object = {}, archive = ARCHIVE): Promise<Archive | undefined> =>
    await withOwnHandler(archive, { inputs: FREE, metadata: { task, imgsz: '[480, 640]', stride: '32', ...more } });
  const letterbox = [{ letterbox: [480, 640] }, 'toTensor'];
  const detect = await found('detect');
  expect(detect?.manifest.model.handler).toBe('object_detector');
  expect(detect?.config).toEqual({ handler: { imageProcessing: letterbox, decoder: 'yolov8' } });
  expect((await found('detect', { end2end: 'True' }))?.config.handler).toMatchObject({ decoder: 'rows' });
  const segment = await found('segment');
  expect(segment?.manifest.model.handler).toBe('instance_segmenter');
  expect(segment?.config).toEqual({ handler: { imageProcessing: letterbox } });
  const classify = await found('classify', { imgsz: '224' });
  expect(classify?.manifest.model.handler).toBe('image_classifier');
  expect(classify?.config.handler).toEqual({
    imageProcessing: [{ resize: 224 }, { centerCrop: [224, 224] }, 'toTensor'],
  });
  // A workflow, whose node has the model.
  const pose = await found('pose');
  expect(pose?.manifest.model.handler).toBe('pose_landmarker');
  expect(pose?.models).toEqual({});
  expect(pose?.nodes?.['landmarks']).toMatchObject({
    models: ARCHIVE.models,
    config: { handler: { imageProcessing: letterbox } },
  });

  // The app's own keys win.
  const own = { ...ARCHIVE, config: { handler: { imageProcessing: ['toTensor'], scoreThreshold: 0.9 } } };
  expect((await found('detect', {}, own))?.config.handler).toEqual({
    imageProcessing: ['toTensor'],
    scoreThreshold: 0.9,
    decoder: 'yolov8',
  });
  expect((await found('pose', {}, own))?.nodes?.['landmarks']?.config.handler).toEqual({
    imageProcessing: ['toTensor'],
  });
});

test('the size that the graph declares wins; without a task that is read here, there is no handler', async () => {
  const inputs = [{ name: 'images', dtype: 'float32', dims: [1, 3, 320, 320] }] as const;
  const fixed = await withOwnHandler(ARCHIVE, { inputs, metadata: { task: 'detect', imgsz: '[640, 640]' } });
  expect(fixed?.config.handler).toMatchObject({ imageProcessing: [{ letterbox: [320, 320] }, 'toTensor'] });
  for (const metadata of [undefined, {}, { task: 'obb' }, { task: 'feed' }, { names: "{0: 'person'}" }])
    expect(await withOwnHandler(ARCHIVE, { inputs: FREE, metadata })).toBeUndefined();
});
