// The models of `test/models/tasks`: each is nearest to the handler of its task, or to one that reads outputs like these.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../src/contract/archive.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { TensorInfo } from '../../../../src/contract/tensors.ts';
import { loadHandler, UnknownHandler } from '../../../../src/worker/handlers/registry.ts';
import { readSignature } from '../../../../src/worker/engines/onnx/signature.ts';
import { findHandler, nearestHandler } from '../../../../src/worker/host/nearest-handler.ts';
import { declaredIn, type RequestUrl } from '../../../../src/worker/models/onnx/declared.ts';
import { all, fields } from '../../../../src/worker/models/onnx/protobuf.ts';
import { encode, encodeNumber, encodeText, join } from '../../../../src/worker/models/onnx/protobuf-writer.ts';

interface Task {
  readonly handler: string;
  readonly rows: readonly { readonly repository: string; readonly handler?: string }[];
}

const model = (repository: string) =>
  new Uint8Array(readFileSync(new URL(`../../../models/tasks/${repository}/onnx/model.onnx`, import.meta.url)));

const TASKS = new URL('../../../models/tasks/', import.meta.url);

/** Those whose outputs are like another handler's; the vocabularies here have a few hundred words, as few as labels. */
const ALIKE: Readonly<Record<string, string>> = {
  fill_mask: 'token_classifier',
  text_reranker: 'text_classifier',
  zero_shot_text_classifier: 'text_classifier',
};

/** The repositories whose model is one file, with their handlers. */
const REPOSITORIES = readdirSync(TASKS)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, TASKS), 'utf8')) as Task)
  .flatMap(({ handler, rows }) => rows.map(({ repository, handler: own = handler }) => ({ repository, handler: own })))
  // A language model, whose repository's name alone says that it ranks.
  .map((one) => (one.repository === 'qwen3-reranker' ? { ...one, handler: 'text_generator' } : one))
  // A language model without a cache, whose inputs and outputs are those of fill_mask.
  .map((one) => (one.repository === 'write-open-aigpt' ? { ...one, handler: 'fill_mask' } : one))
  .filter(({ repository }) => existsSync(new URL(`${repository}/onnx/model.onnx`, TASKS)));

/** Returns the error for a model whose file names no handler either. */
const withNearest = async (...asked: Parameters<typeof findHandler>): Promise<Error> =>
  await findHandler(...asked).then(
    ({ manifest }) => expect(manifest, 'no handler').toBeUndefined() as never,
    (error: Error) => error,
  );

test('the handler of each task is nearest to its models', () => {
  expect(REPOSITORIES.length).toBeGreaterThan(100);
  for (const { repository, handler } of REPOSITORIES) {
    const { inputs, outputs } = readSignature(model(repository));
    expect.soft(nearestHandler(inputs, outputs).handler, repository).toBe(ALIKE[handler] ?? handler);
  }
});

test('other outputs: vectors, maps, a vocabulary', () => {
  const info = (name: string, ...dims: (number | null)[]) => ({ name, dtype: 'float32', dims }) as const;
  const [ids, pixels] = [info('input_ids', null, null), info('pixel_values', null, 3, 224, 224)];
  const handler = (...[inputs, outputs]: Parameters<typeof nearestHandler>) => nearestHandler(inputs, outputs).handler;
  expect(handler([pixels], [info('image_embeds', null, 512)])).toBe('image_feature_extractor');
  expect(handler([pixels], [info('logits', null, 150, 56, 56)])).toBe('image_segmenter');
  expect(handler([pixels], [info('alphas', null, 1, 224, 224)])).toBe('background_remover');
  expect(handler([pixels], [info('predicted_depth', null, 224, 224)])).toBe('depth_estimator');
  const [boxes, masks] = [info('pred_boxes', null, 100, 4), info('pred_masks', null, 100, 56, 56)];
  expect(handler([pixels], [info('logits', null, 100, 9), boxes, masks])).toBe('instance_segmenter');
  expect(handler([info('input_values', null, null)], [info('logits', null, null, 32)])).toBe('speech_recognizer');
  expect(handler([ids], [info('logits', null, null, 9)])).toBe('token_classifier');
  expect(handler([pixels], [info('reconstruction', null, 3, 448, 448)])).toBe('image_to_image');
  expect(handler([ids], [info('last_hidden_state', null, null, 384)])).toBe('text_feature_extractor');
  expect(handler([ids], [info('sentence_embedding', null, 384)])).toBe('text_feature_extractor');
  expect(handler([ids], [info('logits', null, null, 30522)])).toBe('fill_mask');
  expect(handler([ids, info('past_key_values.0.key', 1, 2, null, 8)], [info('logits', null, null, 32000)])).toBe(
    'text_generator',
  );
  expect(handler([info('x', null, 4)], [info('y', null, 2)])).toBe('base_handler');
});

test('published models of other exporters, by the names and dims of their files', () => {
  const info = (name: string, ...dims: (number | string | null)[]) => ({ name, dtype: 'float32', dims }) as const;
  const handler = (...[inputs, outputs]: Parameters<typeof nearestHandler>) => nearestHandler(inputs, outputs).handler;
  const photo = info('input', 1, 3, 224, 224);
  // The ONNX model zoo, PyTorch's exporter, and Keras'.
  for (const name of ['softmaxout_1', 'gpu_0/softmax_1', 'probabilities', 'output', 'output_0', 'predictions'])
    expect(handler([photo], [info(name, 1, 1000)]), name).toBe('image_classifier');
  expect(handler([photo], [{ ...info('Identity:0', 1, 1000), op: 'Softmax' }])).toBe('image_classifier');
  expect(handler([photo], [info('pooler_output', 1, 768)])).toBe('image_feature_extractor');
  expect(handler([photo], [info('last_hidden_state', 1, 197, 768)])).toBe('image_feature_extractor');
  expect(handler([photo], [info('softmax_features', 1, 10)])).toBe('image_feature_extractor');
  // Ultralytics: YOLOv8, YOLOv5, YOLOv10, and segmentation; 8400 = 80² + 40² + 20².
  const images = info('images', 1, 3, 640, 640);
  for (const dims of [
    [1, 84, 8400],
    [1, 25200, 85],
    [1, 300, 6],
  ])
    expect(handler([images], [info('output0', ...dims)]), String(dims)).toBe('object_detector');
  expect(handler([images], [info('output0', 1, 116, 8400), info('output1', 1, 32, 160, 160)])).toBe(
    'instance_segmenter',
  );
  // PP-OCRv4, v3 and v5, whose input is x.
  const page = info('x', null, 3, null, null);
  for (const name of ['sigmoid_0.tmp_0', 'fetch_name_0'])
    expect(handler([page], [info(name, null, 1, null, null)]), name).toBe('text_detector');
  expect(handler([info('x', null, 3, 48, null)], [info('softmax_11.tmp_0', null, null, 6625)])).toBe('text_recognizer');
  expect(handler([info('img', 1, 3, 1024, 1024)], [info('output', 1, 1, 1024, 1024)])).toBe('background_remover');
  // Silero.
  const vad = [info('input', null, null), info('state', 2, null, 128), info('sr')];
  expect(handler(vad, [info('output', null, 1), info('stateN', null, null, null)])).toBe('voice_activity_detector');
  // TensorFlow Hub: MoveNet, and ESRGAN in NHWC.
  expect(handler([info('input', 1, 192, 192, 3)], [info('output_0', 1, 1, 17, 3)])).toBe('pose_landmarker');
  expect(handler([info('input', 1, null, null, 3)], [info('output_0', 1, 6, 56)])).toBe('pose_landmarker');
  expect(handler([info('LR', 1, null, null, 3)], [info('Identity:0', 1, null, null, 3)])).toBe('image_to_image');
  expect(handler([info('input_1', 1, 256, 256, 3)], [info('Identity:0', 1, 256, 256, 1)])).toBe('background_remover');
});

/** Fails the test if the server is asked. */
const refused = () => Promise.reject(new Error('nothing is to be requested'));

test('the error names it if the files are at hand, and otherwise stays as it is', async () => {
  const error = new UnknownHandler('OddForThings', 'Choose one.');
  const archive = (bytes: Uint8Array<ArrayBuffer>): Archive => ({
    url: 'picked',
    manifest: { model: { modelName: 'm', handler: 'OddForThings' } },
    config: {},
    models: { onnx: 'onnx/model.onnx' },
    alternatives: [{ path: 'onnx/model.onnx', precision: 'fp32' }],
    files: {},
    golden: [],
    integrity: {},
    local: { 'onnx/model.onnx': new Blob([bytes]) },
  });
  expect(await withNearest(error, archive(model('image-vit')), refused)).toMatchObject({
    code: 'unknown-handler',
    message:
      'There is no built-in handler "OddForThings". It is the architecture that config.json names, and none of the built-in handlers runs it. By its inputs and outputs ("logits" [batch_size, 6]), the model is nearest to image_classifier: set the option handler to \'image_classifier\', or connect() to a handler of your own.',
  });
  expect(await withNearest(error, archive(new Uint8Array(3)), refused)).toBe(error);
  // The class of which no test compares an answer: its name says more than the outputs.
  expect(
    await withNearest(
      error,
      { ...archive(model('image-vit')), architecture: 'OddForThings', likelyHandler: 'ocr' },
      refused,
    ),
  ).toMatchObject({
    code: 'unknown-handler',
    message: expect.stringMatching(/OddForThings .* one of ocr, .* Set the option handler of load to 'ocr' to open it/),
  });
  const other = new TabServeError('network', 'no');
  expect(await withNearest(other, archive(model('image-vit')), refused)).toBe(other);
});

const FOLDER = 'https://models.test/odd/';

/** An archive on a server, with the second of its precisions. */
const REMOTE: Archive = {
  url: FOLDER,
  manifest: { model: { modelName: 'odd', handler: 'OddForThings' } },
  config: {},
  models: { onnx: 'onnx/model.onnx' },
  alternatives: [
    { path: 'onnx/model_fp16.onnx', precision: 'fp16' },
    { path: 'onnx/model.onnx', precision: 'fp32' },
  ],
  files: {},
  golden: [],
  integrity: {},
};

/** A server with one file. */
function server(file: Uint8Array<ArrayBuffer>, sendsRanges = true, saysLength = false) {
  const requested: string[] = [];
  let sent = 0;
  const request: RequestUrl = async ({ href }, { headers }) => {
    requested.push(href);
    if (href !== `${FOLDER}onnx/model.onnx`) return new Response('none', { status: 404 });
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers!['range']!)!.map(Number) as [number, number, number];
    const part = sendsRanges ? file.slice(first, last + 1) : file;
    sent += part.length;
    const range = { 'content-range': `bytes ${first}-${last}/${file.length}` };
    const length = saysLength && { headers: { 'content-length': String(file.length) } };
    return new Response(part, sendsRanges ? { status: 206, headers: range } : { status: 200, ...length });
  };
  return { request, requested, sent: () => sent };
}

test('of a model on a server, the end of its file is requested alone', async () => {
  const error = new UnknownHandler('OddForThings', 'Choose one.');
  const weights = encode(5, [...encodeText(8, 'w'), ...encode(9, [new Uint8Array(2 ** 21).fill(90)])]);
  const bytes = model('detect-yolos');
  const [graph] = all(bytes, 7) as [Uint8Array];
  // Weights before those of the model: 2 MB of the byte with which an input begins.
  const rest = [...fields(bytes)].filter(({ field }) => field > 7).map(({ whole }) => whole);
  const large = join([...encodeNumber(1, 8), ...encode(7, [...weights, graph]), ...rest]);
  const { request, requested, sent } = server(large);
  const found = await withNearest(error, REMOTE, request);
  expect(found).toMatchObject({ message: expect.stringContaining("set the option handler to 'object_detector',") });
  expect(requested.map((url) => url.replace(FOLDER, ''))).toEqual([
    'onnx/model_fp16.onnx',
    'onnx/model.onnx',
    'onnx/model.onnx',
  ]);
  expect(sent()).toBeLessThanOrEqual(2 ** 18 + 16);
});

test('a server that sends no ranges sends a small file as a whole', async () => {
  const { request, sent } = server(model('image-vit'), false, true);
  const error = new UnknownHandler('OddForThings', 'Choose one.');
  expect((await withNearest(error, REMOTE, request)).message).toContain(
    "set the option handler to 'image_classifier',",
  );
  expect(sent()).toBe(model('image-vit').length);
  const large = server(new Uint8Array([...model('image-vit'), ...new Uint8Array(2 ** 24)]), false, true);
  expect(await withNearest(error, REMOTE, large.request)).toBe(error);
});

test('a misspelt name is corrected, whatever the outputs are like', async () => {
  const { request, requested } = server(model('image-vit'));
  const misspelt = await loadHandler('object-detection').catch((error: unknown) => error);
  const { message } = await withNearest(misspelt, REMOTE, request);
  expect(message).toContain('There is no built-in handler "object-detection". Probably object_detector is meant.');
  expect(requested).toEqual([]);
  const other = await loadHandler('birds').catch((error: unknown) => error);
  expect((await withNearest(other, REMOTE, request)).message).toContain(
    "set the option handler to 'image_classifier',",
  );
});

test('the handler of the files of a model in parts', async () => {
  const error = new UnknownHandler('OddModel', 'Choose one.');
  const files =
    (...names: string[]): RequestUrl =>
    async ({ href }) =>
      new Response('', { status: names.some((name) => href === `${FOLDER}onnx/${name}.onnx`) ? 200 : 404 });
  const said = async (request: RequestUrl): Promise<string> => (await withNearest(error, REMOTE, request)).message;
  expect(await said(files('vision_model', 'text_model'))).toContain(
    "Its files vision_model.onnx and text_model.onnx are parts of one model: set the option handler to 'image_text_embedder'.",
  );
  expect(await said(files('vision_encoder', 'prompt_encoder_mask_decoder'))).toContain("to 'promptable_segmenter'.");
  expect(await said(files('vision_model'))).toBe(error.message);
});

test('the error stays as it is if the server sends no ranges, or not the end of a model', async () => {
  const error = new UnknownHandler('OddForThings', 'Choose one.');
  const vit = model('image-vit');
  expect(await withNearest(error, REMOTE, server(vit, false).request)).toBe(error);
  expect(await withNearest(error, REMOTE, server(vit.slice(0, -1)).request)).toBe(error);
  // Models of version 3 list their weights among the inputs.
  const old = vit.slice();
  expect(old[0]).toBe(8);
  old[1] = 3;
  expect(await withNearest(error, REMOTE, server(old).request)).toBe(error);
  expect(await withNearest(error, REMOTE, refused)).toBe(error);
});

test('the end of a file declares what the whole file does', () => {
  for (const { repository } of REPOSITORIES) {
    const file = model(repository);
    const [whole, tail] = [readSignature(file), readSignature(declaredIn(file.subarray(-(2 ** 18)))!)];
    const plain = ({ name, dtype, dims }: TensorInfo) => ({ name, dtype, dims });
    expect([tail.inputs, tail.outputs.map(plain)], repository).toEqual([whole.inputs, whole.outputs.map(plain)]);
  }
});
