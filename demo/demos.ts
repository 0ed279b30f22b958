import { load } from '../src/index.js';
import { bars } from './bars.js';
import type { Demo } from './demo.js';
import { drawPad } from './draw-pad.js';
import { imageStage } from './image-stage.js';

/** The gallery, in the order of its tabs. */
export const DEMOS: readonly [Demo, ...Demo[]] = [
  {
    id: 'digits',
    title: 'Digits',
    summary: 'Draw a digit. Every stroke is classified in a Web Worker while you draw it.',
    model: { url: 'models/digits/', name: 'digits 1.0', licence: 'MIT', bytes: 106_341 },
    samples: [
      { file: 'drawn-7.png', shows: 'seven, drawn' },
      { file: 'drawn-3.png', shows: 'three, drawn' },
      { file: 'paper-2.png', shows: 'two, ink on paper' },
      { file: 'digit-4.png', shows: 'four, from MNIST' },
      { file: 'digit-8.png', shows: 'eight, from MNIST' },
      { file: 'digit-9.png', shows: 'nine, from MNIST' },
    ],
    hint: 'Or drop or paste an image of a digit, anywhere on the page.',
    snippet: snippet('digits', 'canvas', '{ seven: 0.96, two: 0.01, … }'),
    load: (options) => load('models/digits/', { handler: 'image_classifier', ...options }),
    input: (changed) => drawPad(changed, 'Draw a digit'),
    output: () => bars(5),
  },
  {
    id: 'orientation',
    title: 'Text orientation',
    summary: 'Is this line of text upside down? The question that an OCR pipeline asks before it reads.',
    model: { url: 'models/orientation/', name: 'PP-OCR mobile v2.0, direction', licence: 'Apache-2.0', bytes: 578_966 },
    samples: [
      { file: 'boarding.png', shows: 'boarding pass, upright' },
      { file: 'boarding-upside-down.png', shows: 'boarding pass, upside down' },
      { file: 'refrigerate.png', shows: 'label, upright' },
      { file: 'platform-upside-down.png', shows: 'platform sign, upside down' },
    ],
    hint: 'Drop or paste the image of one line of text, anywhere on the page.',
    snippet: snippet('orientation', 'image', "{ 'upright (0°)': 0.99, … }"),
    load: (options) => load('models/orientation/', { handler: 'image_classifier', ...options }),
    input: (changed) => imageStage(changed, 'One line of text'),
    output: () => bars(2, { longLabels: true }),
  },
];

function snippet(model: string, input: string, result: string): string {
  return `import { load } from 'tabserve';

const classifier = await load('/models/${model}/', { handler: 'image_classifier' });
const result = await classifier.predict(${input}); // ${result}
classifier.backend; // what runs, and why the rest does not: { name: 'webgpu', skipped: [], … }
await classifier.dispose();
`;
}
