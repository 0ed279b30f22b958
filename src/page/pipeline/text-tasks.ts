/** The pipelines of texts: how their calls become rows, and results those of transformers.js. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { ChatMessage } from '../../shared/chat.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { perInput, topKOf, type Call, type Read, type Scored, type Task } from './call.js';
import { camelCased, knownOptions, listOf, optionsOf } from './inputs.js';
import { tensorOfVectors } from './tensor.js';

/** @param key of the text in a result */
const written = (key: string): Read =>
  function read(input: unknown, params?: object | null) {
    const write = (results: readonly { readonly text: string }[]): unknown =>
      results.map(({ text }) => ({ [key]: text }));
    return { rows: listOf(input).inputs, params: camelCased(params), write };
  };

const POOLING: Readonly<Record<string, string>> = {
  mean: 'mean',
  cls: 'cls',
  first_token: 'cls',
  last_token: 'last-token',
  eos: 'last-token',
};

/** Returns whether a value is a list of messages. */
function isChat(input: unknown): input is readonly ChatMessage[] {
  return Array.isArray(input) && input.length > 0 && input.every((one) => isPlainObject(one) && 'role' in one);
}

export const TEXT_TASKS = {
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
      return {
        rows: listOf(input).inputs,
        params: { pooling: POOLING[pooling], normalize },
        write: tensorOfVectors,
      };
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
} as const satisfies Readonly<Record<string, Task>>;
