import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Session, TensorInfo } from '../../../../src/contract/tensors.ts';
import {
  createTestContext,
  ImageClassifier,
  ImageSegmenter,
  ObjectDetector,
  type DetectionDecoder,
} from '../../../../src/worker.ts';
import type { BaseHandler } from '../../../../src/worker/handlers/base-handler.ts';
import { readSignature } from '../../../../src/worker/engines/onnx/signature.ts';
import { stubSession } from '../../support/stub-session.ts';

const FOLDER = new URL('../../../models/contradictions/', import.meta.url);

/** A model as its file declares it; it is not run. */
function model(name: string, metadata: Record<string, string> = {}): Session {
  const { inputs, outputs, ...file } = readSignature(readFileSync(new URL(`${name}.onnx`, FOLDER)));
  return { ...stubSession(inputs, outputs, () => ({})), metadata: { ...file.metadata, ...metadata } };
}

const STEPS = [{ resize: [320, 320] }, 'toTensor'];

/** Opens a model with a config, and returns its labels and the warnings. */
async function open(
  session: Session,
  handler: Record<string, unknown> = {},
  Handler: new () => BaseHandler<never, unknown> = ObjectDetector as never,
  files: Record<string, string> = {},
) {
  const told: string[] = [];
  const { warn } = console;
  console.warn = (message: string) => told.push(message);
  try {
    const opened = new Handler();
    const config = { handler: { imageProcessing: STEPS, ...handler } };
    await opened.initialize(createTestContext({ session, config, files }));
    return { labels: opened.mapping, told };
  } finally {
    console.warn = warn;
  }
}

test("without labels, a model's own names are its labels: as Python writes them", async () => {
  const names: unknown = JSON.parse(readFileSync(new URL('names.json', FOLDER), 'utf8'));
  expect(await open(model('names'), { decoder: 'yolov8' })).toEqual({ labels: names, told: [] });
  // YOLOv5's older exports have a list.
  const list = model('dense', { names: "['person', 'bicycle',]" });
  expect(await open(list, { decoder: 'yolov8' })).toEqual({ labels: { 0: 'person', 1: 'bicycle' }, told: [] });
  // What is no such text says nothing.
  for (const text of ['', '{', 'open("x")', '{0: 1}', '{"a": "b"}', '{}', '80'])
    expect(await open(model('dense', { names: text }), { decoder: 'yolov8' })).toEqual({ labels: undefined, told: [] });
});

test("labels that are other than a model's own names are a warning", async () => {
  const labelled = async (labels: unknown, files?: Record<string, string>) =>
    (await open(model('end-to-end'), { decoder: 'rows', ...(labels !== undefined && { labels }) }, undefined, files))
      .told;
  for (const same of [
    ['person', 'bicycle'],
    ['Person', ' BICYCLE'.trim()],
    { object_type_names: ['person', 'bicycle'] },
    { 1: 'bicycle' },
    [
      ['person', 'Mensch'],
      ['bicycle', 'Fahrrad'],
    ],
  ])
    expect(await labelled(same), JSON.stringify(same)).toEqual([]);
  expect(await labelled(['bicycle', 'person'])).toEqual([
    expect.stringMatching(
      /^handler\.labels: class 0 is "bicycle", but by the names in the model's file it is "person"/,
    ),
  ]);
  for (const [labels, message] of [
    [['person', 'cat'], 'class 1 is "cat", but by the names in the model\'s file it is "bicycle"'],
    [['person'], 'class 1 has no label, but by the names in the model\'s file it is "bicycle"'],
    [['person', 'bicycle', 'car'], 'class 2 is "car", but by the names in the model\'s file it has no label'],
    [{ 1: 'person' }, 'class 1 is "person", but by the names in the model\'s file it is "bicycle"'],
  ] as const)
    expect(await labelled(labels)).toEqual([expect.stringContaining(message)]);
  expect(await labelled(undefined, { 'index_to_name.json': '{"0": "cat", "1": "dog"}' })).toEqual([
    expect.stringMatching(/^index_to_name\.json: class 0 is "cat"/),
  ]);
});

test('a decoder that does not read an export is refused: end2end, nms, and the layout of YOLOv8', async () => {
  const refused = (session: Session, decoder: unknown, message: RegExp) =>
    expect(open(session, { decoder }), JSON.stringify(decoder)).rejects.toMatchObject({
      code: 'model-config',
      message,
    });
  for (const decoder of ['yolov8', 'yolov5', { yolov8: { unit: 'fraction' } }])
    await refused(
      model('end-to-end'),
      decoder,
      /^handler\.decoder is yolov\d, .*end2end or nms.* Use decoder: rows\.$/,
    );
  const withNms = model('end-to-end', { end2end: 'False', args: "{'batch': 1, 'half': False, 'nms': True}" });
  await refused(withNms, 'yolov8', /Use decoder: rows/);
  await open(withNms, { decoder: 'rows' });
  await refused(model('dense'), 'yolov5', /^handler\.decoder is yolov5, .*Use decoder: yolov8\.$/);
  await open(model('dense'), { decoder: 'yolov8' });
  // YOLOv5's own exporter writes names only.
  const yolov5: TensorInfo = { name: 'output0', dtype: 'float32', dims: [1, 6300, 7] };
  const { task: _, end2end: __, ...names } = model('dense').metadata!;
  const older = { ...stubSession(model('dense').inputs, [yolov5], () => ({})), metadata: names };
  expect((await open(older, { decoder: 'yolov5' })).told).toEqual([]);
  await refused(older, 'yolov8', /2 labels, but the model has 3 classes \(YOLOv5 has one column more than classes/);
});

test('a model of another task is refused', async () => {
  const refused = (task: string, Handler: unknown, message: RegExp, handler = {}) =>
    expect(open(model('dense', { task }), handler, Handler as never), task).rejects.toMatchObject({
      code: 'model-config',
      message,
    });
  for (const [task, holds] of [
    ['pose', 'boxes with keypoints'],
    ['segment', 'boxes with mask coefficients'],
    ['obb', 'rotated boxes'],
    ['classify', 'a probability for each class'],
  ] as const)
    await refused(
      task,
      ObjectDetector,
      new RegExp(`for the task ${task}, whose outputs are ${holds}.*the task detect`),
      {
        decoder: 'yolov8',
      },
    );
  await refused('detect', ImageClassifier, /for the task detect.*image_classifier reads the task classify/);
  // The prototypes of masks look like maps of classes.
  await refused('segment', ImageSegmenter, /for the task segment.*image_segmenter reads none/);
  expect((await open(model('dense', { task: 'other' }), { decoder: 'yolov8' })).told).toEqual([]);
  // An app's own decoder reads what it likes.
  class Poses extends ObjectDetector {
    protected override createDecoder = (): DetectionDecoder => ({
      outputs: ['output0'],
      isBatched: true,
      classes: 2,
      iouThreshold: 1,
      decode: () => ({ scores: new Float64Array(), classes: new Int32Array(), box: () => null! }),
    });
  }
  await open(model('dense', { task: 'pose' }), {}, Poses as never);
});
