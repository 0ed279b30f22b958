/** How the calls of each pipeline become rows of a handler, and its results those of transformers.js. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { ChatMessage } from '../../shared/chat.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import type { PipelineTask } from './calls.js';
import { camelCased, fileOf, floatsOf, knownOptions, listOf, optionsOf, soundOf } from './inputs.js';
import { PipelineTensor } from './tensor.js';

/** A call, as a handler takes it. */
interface Call {
  readonly rows: readonly unknown[];
  readonly params: Params;
  /** Returns what the pipeline returns. @param results one for each row */
  readonly write: (results: readonly never[]) => unknown;
}

interface Task {
  /** The handler that is opened. Undefined if the model decides among several. */
  readonly handler?: string;
  /** Those whose results are read; by default, the one above. */
  readonly handlers?: readonly string[];
  /** Reads the arguments of a call. @throws `invalid-input`, `network` */
  readonly read: (...given: readonly never[]) => Call | Promise<Call>;
}

interface Scored {
  readonly label: string;
  readonly score: number;
}

/** Returns one result for one input, and a list for a list. */
function perInput<Result>(isList: boolean, write: (result: Result) => unknown): Call['write'] {
  return (results) => (isList ? results.map(write) : write(results[0]!));
}

/** Returns the param `topK`: `null` asks for all classes, whatever the model's config says. */
function topKOf(count: number | null): Params {
  return { topK: count ?? Number.MAX_SAFE_INTEGER };
}

const classes = (from: (input: unknown) => Promise<unknown>): Task['read'] =>
  async function read(input: unknown, options?: { readonly top_k?: number | null }) {
    const { top_k: count = 5 } = knownOptions(options, ['top_k']);
    const { inputs, isList } = listOf(input);
    const rows = await Promise.all(inputs.map(from));
    return { rows, params: topKOf(count), write: perInput<readonly Scored[]>(isList, (found) => found) };
  };

/** @param key of the text in a result */
const written = (key: string): Task['read'] =>
  function read(input: unknown, params?: object | null) {
    const write = (results: readonly { readonly text: string }[]): unknown =>
      results.map(({ text }) => ({ [key]: text }));
    return { rows: listOf(input).inputs, params: camelCased(params), write };
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

const POOLING: Readonly<Record<string, string>> = {
  mean: 'mean',
  cls: 'cls',
  first_token: 'cls',
  last_token: 'last-token',
  eos: 'last-token',
};

/** A list of messages. */
function isChat(input: unknown): input is readonly ChatMessage[] {
  return Array.isArray(input) && input.length > 0 && input.every((one) => isPlainObject(one) && 'role' in one);
}

export const TASKS: Readonly<Record<PipelineTask, Task>> = {
  'text-classification': {
    handler: 'text_classifier',
    read(input: unknown, options?: { readonly top_k?: number | null }) {
      const { top_k: count = 1 } = knownOptions(options, ['top_k']);
      const { inputs, isList } = listOf(input);
      const write = (results: readonly (readonly Scored[])[]): unknown =>
        count === 1 ? results.flat() : isList ? results : results[0];
      return { rows: inputs, params: topKOf(count), write };
    },
  },
  'token-classification': {
    handler: 'token_classifier',
    read(
      input: unknown,
      options?: { readonly aggregation_strategy?: string; readonly ignore_labels?: readonly string[] },
    ) {
      const params = camelCased(knownOptions(options, ['aggregation_strategy', 'ignore_labels']));
      const { inputs, isList } = listOf(input);
      const key = (params['aggregationStrategy'] ?? 'none') === 'none' ? 'entity' : 'entity_group';
      const write = (found: readonly Scored[]): unknown =>
        found.map(({ label, ...rest }) => ({ [key]: label, ...rest }));
      return { rows: inputs, params, write: perInput(isList, write) };
    },
  },
  'question-answering': {
    handler: 'question_answerer',
    read(question: string, context: string, options?: { readonly top_k?: number }) {
      const { top_k: topK = 1 } = knownOptions(options, ['top_k']);
      const write = ([found]: readonly (readonly unknown[])[]): unknown => (topK === 1 ? found![0] : found);
      return { rows: [{ question, context }], params: { topK }, write };
    },
  },
  'fill-mask': {
    handler: 'fill_mask',
    read(input: unknown, options?: { readonly top_k?: number }) {
      const { top_k: topK = 5 } = knownOptions(options, ['top_k']);
      const { inputs, isList } = listOf(input);
      const token = ({ label, ...rest }: Scored): object => ({ ...rest, token_str: label });
      const write = (masks: readonly (readonly Scored[])[]): unknown => {
        const found = masks.map((mask) => mask.map(token));
        return found.length === 1 ? found[0] : found;
      };
      return { rows: inputs, params: { topK }, write: perInput(isList, write) };
    },
  },
  'zero-shot-classification': {
    handler: 'zero_shot_text_classifier',
    read(
      input: unknown,
      labels: string | readonly string[],
      options?: { readonly hypothesis_template?: string; readonly multi_label?: boolean },
    ) {
      const params = camelCased(knownOptions(options, ['hypothesis_template', 'multi_label']));
      const { inputs, isList } = listOf(input);
      const write = (results: readonly (readonly Scored[])[]): unknown => {
        const found = results.map((scored, at) => ({
          sequence: inputs[at],
          labels: scored.map(({ label }) => label),
          scores: scored.map(({ score }) => score),
        }));
        return isList ? found : found[0];
      };
      return { rows: inputs, params: { ...params, labels: [labels].flat() }, write };
    },
  },
  'feature-extraction': {
    handler: 'text_feature_extractor',
    read(input: unknown, options?: { readonly pooling?: string; readonly normalize?: boolean }) {
      const { pooling = 'none', normalize = false } = knownOptions(options, ['pooling', 'normalize']);
      if (!Object.hasOwn(POOLING, pooling))
        throw new TabServeError(
          'invalid-input',
          `pooling: expected ${Object.keys(POOLING).join(', ')}, got ${pooling}. A text has one vector here; base_handler returns those of its tokens.`,
        );
      const write = (vectors: readonly Float32Array[]): PipelineTensor => {
        const size = vectors[0]?.length ?? 0;
        const data = new Float32Array(vectors.length * size);
        vectors.forEach((vector, at) => data.set(vector, at * size));
        return new PipelineTensor([vectors.length, size], data);
      };
      return { rows: listOf(input).inputs, params: { pooling: POOLING[pooling], normalize }, write };
    },
  },
  summarization: { handler: 'text_to_text', read: written('summary_text') },
  translation: { handler: 'text_to_text', read: written('translation_text') },
  'text2text-generation': { handler: 'text_to_text', read: written('generated_text') },
  'text-generation': {
    handler: 'text_generator',
    read(
      input: unknown,
      given?: { readonly return_full_text?: boolean | null; readonly tools?: readonly unknown[] | null },
    ) {
      const { return_full_text: full, tools, ...params } = optionsOf(given);
      const isFull = full ?? true;
      if (typeof isFull !== 'boolean')
        throw new TabServeError(
          'invalid-input',
          `return_full_text: expected true or false, got ${describeValue(full)}.`,
        );
      if (!isChat(input) && typeof input !== 'string')
        throw new TabServeError('invalid-input', 'Expected a text, or a list of messages. Pass several one by one.');
      if (tools && !isChat(input))
        throw new TabServeError('invalid-input', 'tools: they need a list of messages. Pass the text as a message.');
      const rows = [isChat(input) ? { messages: input, ...(tools && { tools }) } : input];
      const write = ([{ text }]: readonly [{ readonly text: string }]): unknown => {
        const message = { role: 'assistant', content: text };
        return [{ generated_text: isChat(input) ? [...input, message] : isFull ? input + text : text }];
      };
      return { rows, params: camelCased(params), write: write as unknown as Call['write'] };
    },
  },
  'image-classification': { handler: 'image_classifier', read: classes(fileOf) },
  'audio-classification': { handler: 'audio_classifier', read: classes(soundOf) },
  'object-detection': {
    handler: 'object_detector',
    async read(input: unknown, options?: { readonly threshold?: number }) {
      const { threshold = 0.9 } = knownOptions(options, ['threshold']);
      const { inputs, isList } = listOf(input);
      const rows = await Promise.all(inputs.map(fileOf));
      return { rows, params: { scoreThreshold: threshold }, write: perInput(isList, (found: unknown) => found) };
    },
  },
  'zero-shot-image-classification': {
    handler: 'zero_shot_image_classifier',
    async read(
      input: unknown,
      labels: string | readonly string[],
      options?: { readonly hypothesis_template?: string },
    ) {
      const params = camelCased(knownOptions(options, ['hypothesis_template']));
      const { inputs, isList } = listOf(input);
      const rows = await Promise.all(inputs.map(fileOf));
      return {
        rows,
        params: { ...params, labels: [labels].flat() },
        write: perInput(isList, (found: unknown) => found),
      };
    },
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
        rows: await Promise.all(inputs.map(soundOf)),
        params: {
          ...camelCased(params),
          ...(times !== false && { timestamps: times === true ? 'segment' : times === 'char' ? 'character' : times }),
          ...(seconds && { chunkLength: seconds }),
        },
        write: perInput(isList, write),
      };
    },
  },
};

interface Part {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Sound {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}
