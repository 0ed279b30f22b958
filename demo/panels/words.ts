import { TabServeError, type ErrorCode } from '../../src/index.js';
import { el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { Explained } from '../page/explained.js';

/** What happened, and what to do, for visitors. `it`: the input's name, at the start of a sentence. */
const WORDS: { readonly [Code in ErrorCode]?: (it: string) => string } = {
  network: () => 'The model could not be downloaded. Check your network connection, then try again.',
  'model-not-found': () => 'A file of the model is missing on this site. Reload the page.',
  'model-format': () => 'A file of the model is damaged. Reload the page.',
  'no-backend': () => 'This browser cannot run the model as selected. Under “Runs on”, choose “Auto” and “Any”.',
  'image-decode': (it) => `${it} could not be read as an image. Choose a JPEG, PNG or WebP file.`,
  'image-too-large': (it) => `${it} has too many pixels. Choose a smaller image.`,
  'invalid-input': (it) => `${it} cannot be read by this model. Choose another one.`,
  'inference-failed': (it) => `The model failed on this input. ${it} may be unusual: choose another one.`,
  'out-of-memory': () => 'This device has too little free memory for the model. Close other tabs, then try again.',
  'worker-lost': () => 'The browser stopped the model. Close other tabs, then try again.',
  'device-lost': () => 'The browser took the GPU away. Try again, or choose WASM under “Runs on”.',
};

/** Returns what happened and what to do, in a visitor's words, and the technical message where there is another one. */
export function inWords(
  error: unknown,
  it = 'The input',
): { readonly text: string; readonly technical: string | undefined } {
  if (error instanceof Explained) return { text: error.message, technical: undefined };
  const { code, message } = described(error);
  const words = error instanceof TabServeError ? WORDS[error.code]?.(it) : undefined;
  return {
    text: words ?? 'Something went wrong on this page. Try again, or reload the page.',
    technical: `${code}: ${message}`,
  };
}

/** Shows what happened and what to do; the technical message is folded. */
export function errorView(error: unknown, it?: string): readonly Node[] {
  const { text, technical } = inWords(error, it);
  const words = el('p', { class: 'error-words' }, text);
  if (technical === undefined) return [words];
  return [
    words,
    el('details', { class: 'technical' }, el('summary', {}, 'Technical message'), el('code', {}, technical)),
  ];
}
