// What every handler answers when a model, or an override of `inference`, returns other outputs than it should.
import { expect, test } from '@playwright/test';
import { ImageToImage } from '../../../../src/worker/tasks/pictures/image-to-image.ts';
import { TextDetector } from '../../../../src/worker/tasks/ocr/text-detector.ts';
import { TextOrienter } from '../../../../src/worker/tasks/ocr/text-orienter.ts';
import { TextRecognizer } from '../../../../src/worker/tasks/ocr/text-recognizer.ts';
import { VoiceActivityDetector } from '../../../../src/worker/tasks/speech/voice-activity-detector.ts';
import {
  createTestContext,
  ImageClassifier,
  ImageFeatureExtractor,
  ImageSegmenter,
  ObjectDetector,
  TextClassifier,
  TextFeatureExtractor,
  type Handler,
} from '../../../../src/worker.ts';
import type { Tensor, TensorInfo, Tensors } from '../../../../src/contract/tensors.ts';
import { stubSession } from '../../support/stub-session.ts';

const IMAGE: readonly TensorInfo[] = [{ name: 'x', dtype: 'float32', dims: [null, 3, null, null] }];
const TEXT: readonly TensorInfo[] = [{ name: 'input_ids', dtype: 'int64', dims: [null, null] }];
const VOICE: readonly TensorInfo[] = [
  { name: 'input', dtype: 'float32', dims: [null, null] },
  { name: 'state', dtype: 'float32', dims: [2, null, 128] },
  { name: 'sr', dtype: 'int64', dims: [] },
];
const WORDS = {
  version: '1.0',
  pre_tokenizer: { type: 'Whitespace' },
  model: { type: 'WordPiece', vocab: { '[UNK]': 0 }, unk_token: '[UNK]', continuing_subword_prefix: '##' },
};
const photo = { data: new Uint8Array(32 * 32 * 3), dims: [32, 32, 3] };
const voice = { samples: new Float32Array(1024), sampleRate: 16_000 };

/** The dims of the outputs for one row, which its model does not declare, as a TensorFlow.js model need not. */
interface Case {
  readonly Handler: new () => Handler;
  readonly inputs: readonly TensorInfo[];
  readonly input: unknown;
  readonly dims: Readonly<Record<string, readonly number[]>>;
  readonly config?: Readonly<Record<string, unknown>>;
}
const toTensor = { imageProcessing: ['toTensor'] };
const image = { inputs: IMAGE, input: photo, config: toTensor };
const text = { inputs: TEXT, input: 'a film' };
const line = { inputs: IMAGE, input: photo };
const CASES: Readonly<Record<string, Case>> = {
  image_classifier: { ...image, Handler: ImageClassifier, dims: { y: [1, 4] } },
  image_segmenter: { ...image, Handler: ImageSegmenter, dims: { y: [1, 2, 8, 8] } },
  'image_segmenter, classes': {
    ...image,
    Handler: ImageSegmenter,
    dims: { y: [1, 8, 8] },
    config: { ...toTensor, output: 'classes' },
  },
  'image_segmenter, mask': {
    ...image,
    Handler: ImageSegmenter,
    dims: { y: [1, 2, 8, 8] },
    config: { ...toTensor, result: 'mask' },
  },
  'object_detector, torchvision': {
    ...image,
    Handler: ObjectDetector,
    dims: { boxes: [1, 3, 4], labels: [1, 3], scores: [1, 3] },
  },
  'object_detector, yolov8': {
    ...image,
    Handler: ObjectDetector,
    dims: { y: [1, 6, 9] },
    config: { ...toTensor, decoder: 'yolov8' },
  },
  text_classifier: { ...text, Handler: TextClassifier, dims: { y: [1, 4] } },
  text_feature_extractor: { ...text, Handler: TextFeatureExtractor, dims: { y: [1, 4] } },
  image_feature_extractor: { ...image, Handler: ImageFeatureExtractor, dims: { y: [1, 4] } },
  image_to_image: { ...image, Handler: ImageToImage, dims: { y: [1, 3, 32, 32] } },
  text_detector: { ...line, Handler: TextDetector, dims: { y: [1, 1, 32, 32] } },
  text_orienter: { ...line, Handler: TextOrienter, dims: { y: [1, 2] } },
  text_recognizer: { ...line, Handler: TextRecognizer, dims: { y: [1, 5, 4] } },
  voice_activity_detector: {
    Handler: VoiceActivityDetector,
    inputs: VOICE,
    input: voice,
    dims: { output: [1, 1], stateN: [2, 1, 128] },
  },
};

/**
 * Returns what a handler answers to one input, or its error, if its model's outputs are zeros that `change` has
 * changed.
 */
async function answer(
  { Handler, inputs, input, dims, config }: Case,
  change: (outputs: Tensors) => Tensors,
  request: 'predict' | 'explain' = 'predict',
): Promise<unknown> {
  const zeros = Object.entries(dims).map(([name, size]) => [name, tensor(size)] as const);
  const session = stubSession(
    inputs,
    zeros.map(([name]) => ({ name, dtype: undefined, dims: [] })),
    () => change(Object.fromEntries(zeros)),
  );
  const options = {
    session,
    config: { handler: { ...config } },
    files: { 'tokenizer.json': JSON.stringify(WORDS), 'characters.txt': 'a\nb\n' },
  };
  const handler = new Handler();
  await handler.initialize(createTestContext(options));
  try {
    return (
      await handler.handle([input] as never[], createTestContext({ ...options, kind: request, batchSize: 1 }))
    )[0];
  } catch (error) {
    return error;
  }
}

function tensor(dims: readonly number[], value = 0): Tensor {
  const length = dims.reduce((product, size) => product * size, 1);
  return { dtype: 'float32', dims, data: new Float32Array(length).fill(value) };
}

function mapAll(change: (output: Tensor) => Tensor): (outputs: Tensors) => Tensors {
  return (outputs) => Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, change(output)]));
}

for (const [name, one] of Object.entries(CASES)) {
  test(`${name}: a missing output is named, and what came in its place`, async () => {
    const [first] = Object.keys(one.dims);
    const missing = (others: string): unknown =>
      expect.objectContaining({
        code: 'inference-failed',
        message: `The output "${first}" is missing; inference returned ${others}.`,
      });
    expect(await answer(one, () => ({}))).toEqual(missing('none'));
    expect(await answer(one, (outputs) => ({ other: outputs[first!]! }))).toEqual(missing('"other"'));
  });

  test(`${name}: texts are no numbers, not even "0"`, async () => {
    const texts = mapAll(({ dims, data }) => ({ dtype: 'string', dims, data: Array.from(data, String) }));
    expect(await answer(one, texts)).toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(/^handler\.outputName: .* "\w+" is string \[1, /),
    });
  });

  test(`${name}: integers of 64 bits, bools and half precision are read as numbers`, async () => {
    const expected = await answer(one, (outputs) => outputs);
    expect(expected).not.toBeInstanceOf(Error);
    for (const change of [
      mapAll(({ dims, data }) => ({ dtype: 'int64', dims, data: BigInt64Array.from(data as Float32Array, BigInt) })),
      mapAll(({ dims, data }) => ({ dtype: 'uint64', dims, data: BigUint64Array.from(data as Float32Array, BigInt) })),
      mapAll(({ dims, data }) => ({ dtype: 'bool', dims, data: Uint8Array.from(data as Float32Array) })),
      // Zeros have the same bits.
      mapAll(({ dims, data }) => ({ dtype: 'float16', dims, data: Uint16Array.from(data as Float32Array) })),
    ])
      expect(await answer(one, change)).toEqual(expected);
  });
}

test('an explanation names a missing output, too', async () => {
  for (const name of ['image_classifier', 'object_detector, torchvision', 'text_classifier'])
    expect(await answer(CASES[name]!, () => ({}), 'explain'), name).toMatchObject({
      code: 'inference-failed',
      message: expect.stringMatching(/^The output "\w+" is missing; inference returned none\.$/),
    });
});

test('handlers of probabilities refuse logits, and say what to do', async () => {
  for (const name of ['text_detector', 'text_orienter', 'text_recognizer', 'voice_activity_detector'])
    expect(
      await answer(
        CASES[name]!,
        mapAll(({ dims }) => tensor(dims, -4)),
      ),
      name,
    ).toMatchObject({
      code: 'inference-failed',
      message:
        'The handler needs probabilities, in 0..1, but the model returned numbers from -4 to -4. Export the model with its last activation, or name another output in handler.outputName.',
    });
});

test('an output without numbers is said to be empty, not to be another text or a number that is not finite', async () => {
  expect(await answer(CASES['text_recognizer']!, () => ({ y: tensor([1, 0, 4]) }))).toMatchObject({
    code: 'inference-failed',
    message: expect.stringContaining('Output "y" is empty: its dims are [1, 0, 4]'),
  });
  for (const dims of [
    [1, 4, 3, 0],
    [1, 0],
    [0, 4],
    [1, 0, 4],
  ])
    expect(await answer(CASES['image_feature_extractor']!, () => ({ y: tensor(dims) })), String(dims)).toMatchObject({
      code: 'model-config',
      message: expect.stringContaining(`has no features: its dims are [${dims.join(', ')}]`),
    });
});

test('outputs of more rows than the batch: the error has the dims that came', async () => {
  for (const [name, dims] of [
    ['image_feature_extractor', [2, 4, 3, 3]],
    ['image_to_image', [2, 3, 32, 32]],
  ] as const)
    expect(await answer(CASES[name]!, () => ({ y: tensor(dims) })), name).toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(/one image.* has the dims \[2, /),
    });
});

test('voice_activity_detector: outputs of other dims are an error, not the numbers of another row', async () => {
  for (const [output, stateN] of [
    [
      [1, 2],
      [2, 1, 128],
    ],
    [
      [1, 0],
      [2, 1, 128],
    ],
    [
      [1, 1],
      [2, 1, 64],
    ],
  ] as const)
    expect(
      await answer(CASES['voice_activity_detector']!, () => ({ output: tensor(output), stateN: tensor(stateN) })),
    ).toMatchObject({
      code: 'model-config',
      message: `voice_activity_detector needs the outputs "output" [1, 1] and "stateN" [2, 1, 128], but their dims are [${output.join(', ')}] and [${stateN.join(', ')}].`,
    });
});
