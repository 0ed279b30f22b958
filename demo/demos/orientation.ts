import { load } from '../../src/index.js';
import type { Demo, Source } from '../demo.js';
import { imageStage } from '../inputs/image-stage.js';
import { bars } from '../outputs/bars.js';
import { classifying } from './classifying.js';
import { input } from './code.js';

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
    { url: `${SAMPLES}/boarding-upside-down.png`, shows: 'boarding pass, upside down' },
    { url: `${SAMPLES}/boarding.png`, shows: 'boarding pass, upright' },
    { url: `${SAMPLES}/refrigerate.png`, shows: 'label, upright' },
    { url: `${SAMPLES}/platform-upside-down.png`, shows: 'platform sign, upside down' },
  ],
  takesFiles: true,
  hint: 'You can also drop or paste an image of one line of text anywhere on the page.',
  snippet: (run) =>
    classifying('image_classifier', 'image', run, run.settings['turned'] === 'yes' ? turned(run.source) : undefined),
  load: ({ url }, options) => load(url, { handler: 'image_classifier', ...options }),
  mount: (events) => ({ input: imageStage(events, 'One line of text'), output: bars(2, { longLabels: true }) }),
};

/** Returns the statements that turn an image by 180°. */
function turned(source: Source): string {
  return `${input('file', source)}
const upright = await createImageBitmap(${source.kind === 'sample' ? 'await (await fetch(file)).blob()' : 'file'});
const image = new OffscreenCanvas(upright.width, upright.height);
const context = image.getContext('2d')!;
context.translate(image.width, image.height);
context.rotate(Math.PI);
context.drawImage(upright, 0, 0);`;
}
