import { load } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { drawPad } from '../inputs/draw-pad.js';
import { bars } from '../outputs/bars.js';
import { classifying } from './classifying.js';

const SAMPLES = 'models/digits/samples';

export const digits: Demo = {
  id: 'digits',
  title: 'Digits',
  summary: 'Draw a digit. A model of 106 kB reads it while you draw.',
  layout: 'square',
  models: [
    {
      url: 'models/digits/',
      short: 'digits',
      name: 'digits 1.0',
      license: 'MIT',
      bytes: 106_341,
      engines: ['onnx', 'tfjs'],
    },
  ],
  samples: [
    { url: `${SAMPLES}/drawn-7.png`, shows: 'seven, drawn' },
    { url: `${SAMPLES}/drawn-3.png`, shows: 'three, drawn' },
    { url: `${SAMPLES}/paper-2.png`, shows: 'two, ink on paper' },
    { url: `${SAMPLES}/digit-4.png`, shows: 'four, from MNIST' },
    { url: `${SAMPLES}/digit-8.png`, shows: 'eight, from MNIST' },
    { url: `${SAMPLES}/digit-9.png`, shows: 'nine, from MNIST' },
  ],
  takesFiles: true,
  hint: 'Draw a digit, which replaces the sample; or drop or paste an image of one anywhere on the page.',
  snippet: (run) => classifying('image_classifier', 'image', run),
  load: ({ url }, options) => load(url, { handler: 'image_classifier', ...options }),
  mount: (events) => ({ input: drawPad(events, 'Draw a digit'), output: bars(5) }),
};
