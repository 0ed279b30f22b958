/** The pipelines of images and sound: how their calls become rows, and results those of transformers.js. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { perInput, topKOf, type Call, type Read, type Scored, type Task } from './call.js';
import { camelCased, fileOf, floatsOf, knownOptions, listOf, optionsOf, soundOf } from './inputs.js';
import { opaque, readSegments } from './pictures.js';
import { PipelineTensor } from './tensor.js';

const classes = (from: (input: unknown) => Promise<unknown>): Read =>
  async function read(input: unknown, options?: { readonly top_k?: number | null }) {
    const { top_k: count = 5 } = knownOptions(options, ['top_k']);
    const { inputs, isList } = listOf(input);
    const rows = await Promise.all(inputs.map(from));
    return { rows, params: topKOf(count), write: perInput<readonly Scored[]>(isList, (found) => found) };
  };

/** Samples for CLAP are those that it hears. */
const CLAP_RATE = 48_000;

const byLabels = (from: (input: unknown) => Promise<unknown>): Read =>
  async function read(
    input: unknown,
    labels: string | readonly string[],
    options?: { readonly hypothesis_template?: string },
  ) {
    const params = camelCased(knownOptions(options, ['hypothesis_template']));
    const { inputs, isList } = listOf(input);
    const rows = await Promise.all(inputs.map(from));
    return {
      rows,
      params: { ...params, labels: [labels].flat() },
      write: perInput(isList, (found: unknown) => found),
    };
  };

/** Returns a map of 8-bit numbers over its range, as transformers.js makes a picture of it. */
function grayOf({ depth, width, height, min, max }: Depth): object {
  const scale = max > min ? 255 / (max - min) : 0;
  return { data: Uint8ClampedArray.from(depth, (value) => (value - min) * scale), width, height, channels: 1 };
}

interface Depth {
  readonly depth: Float32Array;
  readonly width: number;
  readonly height: number;
  readonly min: number;
  readonly max: number;
}

export const MEDIA_TASKS = {
  'image-classification': { handler: 'image_classifier', read: classes(fileOf) },
  'audio-classification': { handler: 'audio_classifier', read: classes((input) => soundOf(input)) },
  'object-detection': {
    handler: 'object_detector',
    async read(input: unknown, options?: { readonly threshold?: number }) {
      const { threshold = 0.9 } = knownOptions(options, ['threshold']);
      const { inputs, isList } = listOf(input);
      const rows = await Promise.all(inputs.map(fileOf));
      return { rows, params: { scoreThreshold: threshold }, write: perInput(isList, (found: unknown) => found) };
    },
  },
  'zero-shot-image-classification': { handler: 'zero_shot_image_classifier', read: byLabels(fileOf) },
  'zero-shot-audio-classification': {
    handler: 'zero_shot_audio_classifier',
    read: byLabels((input) => soundOf(input, CLAP_RATE)),
  },
  'zero-shot-object-detection': {
    handler: 'zero_shot_object_detector',
    async read(
      input: unknown,
      labels: string | readonly string[],
      options?: { readonly threshold?: number; readonly top_k?: number | null },
    ) {
      const { threshold = 0.1, top_k: most } = knownOptions(options, ['threshold', 'top_k']);
      const { inputs, isList } = listOf(input);
      const rows = await Promise.all(inputs.map(fileOf));
      if (most !== undefined && most !== null && !(Number.isSafeInteger(most) && most > 0))
        throw new TabServeError('invalid-input', `top_k: expected an integer ≥ 1, got ${describeValue(most)}.`);
      const write = perInput(isList, (found: readonly unknown[]) => found.slice(0, most ?? undefined));
      return { rows, params: { scoreThreshold: threshold, labels: [labels].flat() }, write };
    },
  },
  'image-to-text': {
    handler: 'image_to_text',
    async read(input: unknown, params?: object | null) {
      const { inputs, isList } = listOf(input);
      const rows = await Promise.all(inputs.map(fileOf));
      const write = ({ text }: { readonly text: string }): unknown => [{ generated_text: text }];
      return { rows, params: camelCased(params), write: perInput(isList, write) };
    },
  },
  'depth-estimation': {
    handler: 'depth_estimator',
    async read(input: unknown, options?: object) {
      knownOptions(options, []);
      const { inputs, isList } = listOf(input);
      const write = (found: Depth): object => ({
        predicted_depth: new PipelineTensor([found.height, found.width], found.depth),
        depth: grayOf(found),
      });
      return { rows: await Promise.all(inputs.map(fileOf)), params: {}, write: perInput(isList, write) };
    },
  },
  'background-removal': {
    handler: 'background_remover',
    async read(input: unknown, options?: object) {
      knownOptions(options, []);
      const rows = await Promise.all(listOf(input).inputs.map(fileOf));
      return {
        rows,
        params: {},
        write: (pictures: readonly object[]) => pictures.map((one) => ({ ...one, channels: 4 })),
      };
    },
  },
  'image-segmentation': {
    handlers: ['instance_segmenter', 'image_segmenter', 'background_remover'],
    readerOf: readSegments,
  },
  'image-to-image': {
    handler: 'image_to_image',
    async read(input: unknown, options?: object) {
      knownOptions(options, []);
      const { inputs, isList } = listOf(input);
      return { rows: await Promise.all(inputs.map(fileOf)), params: {}, write: perInput(isList, opaque) };
    },
  },
  'document-question-answering': {
    handler: 'document_question_answerer',
    async read(image: unknown, question: string, params?: object | null) {
      const { inputs } = listOf(image);
      if (inputs.length !== 1)
        throw new TabServeError('invalid-input', `image: expected one image, got ${inputs.length} of them.`);
      const write = ([{ answer }]: readonly [{ readonly answer?: string }]): object => [{ answer: answer ?? null }];
      return {
        rows: [{ image: await fileOf(inputs[0]), question }],
        params: { maxNewTokens: 256, ...camelCased(params) },
        write: write as unknown as Call['write'],
      };
    },
  },
  'text-to-audio': {
    handler: 'text_to_speech',
    async read(text: string, options?: { readonly speaker_embeddings?: unknown; readonly speed?: number }) {
      const { speaker_embeddings: speaker, speed } = knownOptions(options, ['speaker_embeddings', 'speed']);
      const write = ([{ audio }]: readonly [{ readonly audio: Sound }]): object => ({
        audio: audio.samples,
        sampling_rate: audio.sampleRate,
      });
      const params = {
        ...(speaker !== undefined && { speakerEmbedding: Array.from(await floatsOf(speaker)) }),
        ...(speed !== undefined && { speed }),
      };
      return { rows: [text], params, write: write as unknown as Call['write'] };
    },
  },
  'automatic-speech-recognition': {
    handlers: ['speech_to_text', 'speech_recognizer'],
    async read(
      input: unknown,
      given?: { readonly return_timestamps?: boolean | string | null; readonly chunk_length_s?: number },
    ) {
      const { return_timestamps, chunk_length_s: seconds, ...params } = optionsOf(given);
      const times = return_timestamps ?? false;
      const { inputs, isList } = listOf(input);
      const write = ({ text, parts }: { text: string; parts?: readonly Part[] }): object => ({
        text,
        ...(parts && { chunks: parts.map(({ text: part, start, end }) => ({ text: part, timestamp: [start, end] })) }),
      });
      return {
        rows: await Promise.all(inputs.map((one) => soundOf(one))),
        params: {
          ...camelCased(params),
          ...(times !== false && { timestamps: times === true ? 'segment' : times === 'char' ? 'character' : times }),
          ...(seconds && { chunkLength: seconds }),
        },
        write: perInput(isList, write),
      };
    },
  },
} as const satisfies Readonly<Record<string, Task>>;

interface Part {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Sound {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}
