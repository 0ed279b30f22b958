/** What a visitor gives a model, by what its handler takes. */
import { el } from '../page/dom.js';
import { Explained } from '../page/explained.js';

export interface Asking {
  readonly element: HTMLElement;
  /** The input as a developer writes it. */
  readonly code: string;
  /** @throws what the visitor can do about it */
  input(): unknown;
  params(): Record<string, unknown>;
}

const SAMPLE = 'models/selfie/samples/astronaut.jpg';

/** The first input and the first `params` of handlers that need more than a text or an image. */
const EXAMPLES: Readonly<Record<string, { readonly input?: unknown; readonly params?: object }>> = {
  fill_mask: { input: 'Paris is the [MASK] of France.', params: { topK: 5 } },
  question_answerer: {
    input: { question: 'Where does Ada live?', context: 'Ada lives in London. Grace lives in York.' },
  },
  text_generator: { input: 'Once upon a time', params: { maxNewTokens: 40 } },
  text_reranker: { input: { query: 'Where is the cat?', texts: ['The cat is on the mat.', 'It rains in York.'] } },
  zero_shot_image_classifier: { params: { labels: ['a person', 'a cat', 'a street'] } },
  zero_shot_object_detector: { params: { labels: ['a person', 'a cat'] } },
  zero_shot_text_classifier: {
    input: 'The team has won in the last minute.',
    params: { labels: ['sports', 'science'] },
  },
};
const TEXT = 'Ada Lovelace lived in London, and wrote the first program.';

/** Fields for a handler: an image, or a text or JSON; and its `params`. */
export function asking(handler: string, takes: string | undefined): Asking {
  const { input: example, params = {} } = EXAMPLES[handler] ?? {};
  const paramsField = jsonField('Params, as JSON', JSON.stringify(params, undefined, 1));
  const readParams = (): Record<string, unknown> => parse(paramsField.value || '{}', 'The params') as never;
  if (takes === 'image') {
    const picture = el('img', { src: SAMPLE, alt: 'The image that is asked about', class: 'any-picture' });
    const chooser = el('input', { type: 'file', accept: 'image/*', 'aria-label': 'Another image' });
    let image: Blob | undefined;
    chooser.addEventListener('change', () => {
      image = chooser.files?.[0];
      if (!image) return;
      URL.revokeObjectURL(picture.src);
      picture.src = URL.createObjectURL(image);
    });
    return {
      code: "document.querySelector('img')!",
      element: el('div', { class: 'any-input' }, picture, chooser, labelled('Params, as JSON', paramsField)),
      input: () => image ?? new URL(SAMPLE, document.baseURI),
      params: readParams,
    };
  }
  if (takes === 'audio') {
    const chooser = el('input', { type: 'file', accept: 'audio/*', 'aria-label': 'A recording' });
    return {
      code: "document.querySelector<HTMLInputElement>('input[accept^=audio]')!.files![0]!",
      element: el('div', { class: 'any-input' }, chooser, labelled('Params, as JSON', paramsField)),
      input() {
        if (chooser.files?.[0]) return chooser.files[0];
        throw new Explained('Choose a recording first.');
      },
      params: readParams,
    };
  }
  const first = example ?? (takes === 'text' ? TEXT : { data: [0, 0, 0, 0], dims: [4] });
  const field = jsonField(
    takes === 'text' ? 'A text, or an input as JSON' : 'A tensor as JSON',
    typeof first === 'string' ? first : JSON.stringify(first, undefined, 1),
  );
  return {
    code: takes === 'text' ? JSON.stringify(first) : '{ data: Float32Array.of(0, 0, 0, 0), dims: [4] }',
    element: el(
      'div',
      { class: 'any-input' },
      labelled(field.ariaLabel!, field),
      labelled('Params, as JSON', paramsField),
    ),
    input() {
      const text = field.value;
      if (takes === 'text') return /^\s*\{/.test(text) ? parse(text, 'The input') : text;
      const { data, dims } = parse(text, 'The tensor') as { data: number[]; dims: number[] };
      return { data: Float32Array.from(data), dims };
    },
    params: readParams,
  };
}

function jsonField(label: string, value: string): HTMLTextAreaElement {
  const rows = String(Math.min(8, value.split('\n').length + 1));
  const field = el('textarea', { class: 'text', rows, 'aria-label': label, spellcheck: 'false' });
  field.value = value;
  return field;
}

function labelled(text: string, field: HTMLElement): HTMLElement {
  return el('label', {}, el('span', {}, text), field);
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Explained(`${what} must be JSON: ${(error as Error).message}`);
  }
}
