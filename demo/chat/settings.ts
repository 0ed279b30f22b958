import { el } from '../page/dom.js';
import { segments } from '../page/segments.js';
import { area, labelled, readJson } from '../any/fields/labelled.js';
import { writingSettings } from '../writing/settings.js';
import type { WritingParams } from '../writing/writer.js';

/** What the visitor sets. */
export interface ChatParams extends WritingParams {
  /** Whether the model has tools: it decides itself, or must call one at first. */
  readonly tools: 'none' | 'auto' | 'required';
  readonly responseFormat?: { readonly type: 'json_schema'; readonly schema: Readonly<Record<string, unknown>> };
  readonly chatTemplateKwargs?: { readonly enable_thinking: boolean };
}

export interface ChatSettings {
  readonly element: HTMLElement;
  /** @throws that the schema is no JSON */
  readonly params: ChatParams;
}

const SCHEMA = {
  type: 'object',
  properties: {
    answer: { type: 'string', maxLength: 80 },
    mood: { enum: ['glad', 'sad', 'curious'] },
    stars: { type: 'integer', minimum: 1, maximum: 5 },
  },
  required: ['answer', 'mood', 'stars'],
};

/** Creates the fields for the settings of the next answer. */
export function chatSettings(): ChatSettings {
  const written = writingSettings(() => {});
  const tools = segments(
    'tools',
    'Tools: a calculator, and the time here',
    { none: 'No tools', auto: 'It decides', required: 'It must call one' },
    () => {},
  );
  const thinks = segments('thinks', 'Thinking first', { usual: 'Default', on: 'Think', off: 'Don’t' }, () => {});
  const schema = area('JSON Schema of the answer', JSON.stringify(SCHEMA, undefined, 1));
  const json = el('details', {}, el('summary', {}, 'Answer as JSON'), labelled(schema));
  const titled = (title: string, { element }: { readonly element: HTMLElement }): HTMLElement =>
    el('div', { class: 'chat-setting' }, el('span', {}, title), element);
  return {
    element: el(
      'div',
      { class: 'chat-settings' },
      titled('Tools: a calculator, and the time here', tools),
      titled('Reasoning, for models that have it', thinks),
      json,
      el('details', {}, el('summary', {}, 'Tokens'), written.element),
    ),
    get params() {
      const responseFormat = json.open && {
        type: 'json_schema' as const,
        schema: readJson(schema.value, 'The schema') as Readonly<Record<string, unknown>>,
      };
      const chatTemplateKwargs = thinks.value !== 'usual' && { enable_thinking: thinks.value === 'on' };
      return {
        ...written.params,
        tools: tools.value,
        ...(responseFormat && { responseFormat }),
        ...(chatTemplateKwargs && { chatTemplateKwargs }),
      };
    },
  };
}
