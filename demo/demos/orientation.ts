import { load } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { imageStage } from '../inputs/image-stage.js';
import { bars } from '../outputs/bars.js';
import { classifying } from './classifying.js';

const SAMPLES = 'models/orientation/samples';

export const orientation: Demo = {
  id: 'orientation',
  title: 'Orientation',
  summary: 'Is this line of text upside down? An OCR pipeline checks that before it reads the text.',
  layout: 'square',
  models: [
    {
      url: 'models/orientation/',
      short: 'PP-OCR',
      name: 'PP-OCR mobile v2.0, direction',
      license: 'Apache-2.0',
      bytes: 578_966,
      engines: ['onnx', 'tfjs'],
    },
  ],
  samples: [
    { url: `${SAMPLES}/boarding.png`, shows: 'boarding pass, upright' },
    { url: `${SAMPLES}/boarding-upside-down.png`, shows: 'boarding pass, upside down' },
    { url: `${SAMPLES}/refrigerate.png`, shows: 'label, upright' },
    { url: `${SAMPLES}/platform-upside-down.png`, shows: 'platform sign, upside down' },
  ],
  startsWithSample: true,
  takesFiles: true,
  hint: 'You can also drop or paste an image of one line of text anywhere on the page.',
  snippet: classifying('image_classifier', 'image', "[{ label: 'upright (0°)', score: 0.99 }, …]"),
  load: ({ url }, options) => load(url, { handler: 'image_classifier', ...options }),
  mount: (events) => ({ input: imageStage(events, 'One line of text'), output: bars(2, { longLabels: true }) }),
};
