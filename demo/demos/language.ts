import { load } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { textField } from '../inputs/text-field.js';
import { bars } from '../outputs/bars.js';
import { classifying } from './classifying.js';

const SAMPLES = 'models/languages/samples';

export const language: Demo = {
  id: 'language',
  title: 'Language',
  summary: 'Recognizes the language of a text, among thirty, while you type.',
  layout: 'wide',
  models: [
    {
      url: 'models/languages/',
      short: 'languages',
      name: 'languages 1.0, a small transformer',
      license: 'MIT',
      bytes: 1_729_609,
      engines: ['onnx', 'tfjs'],
    },
  ],
  samples: [
    { url: `${SAMPLES}/portuguese.txt`, shows: 'Portuguese' },
    { url: `${SAMPLES}/german.txt`, shows: 'German' },
    { url: `${SAMPLES}/ukrainian.txt`, shows: 'Ukrainian' },
    { url: `${SAMPLES}/japanese.txt`, shows: 'Japanese' },
    { url: `${SAMPLES}/taxi.txt`, shows: 'one word: taxi' },
  ],
  takesFiles: false,
  hint: 'Type or paste a sentence. Your text stays on this device.',
  snippet: (run) => classifying('text_classifier', 'text', run),
  load: ({ url }, options) => load(url, { handler: 'text_classifier', ...options }),
  mount: (events) => ({ input: textField(events, 'A sentence in any language'), output: bars(5, { sureFrom: 0.5 }) }),
};
