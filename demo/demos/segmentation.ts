import { load } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { pictureStage } from '../inputs/picture-stage.js';
import { person } from '../outputs/person.js';

const SAMPLES = 'models/selfie/samples';

export const segmentation: Demo = {
  id: 'background',
  title: 'Background',
  summary: 'Finds the person in a picture, and blurs or replaces the background, as in a video call.',
  layout: 'wide',
  models: [
    {
      url: 'models/selfie/',
      short: 'Selfie',
      name: 'MediaPipe Selfie Segmentation',
      license: 'Apache-2.0',
      bytes: 450_650,
      engines: ['onnx', 'tfjs'],
    },
  ],
  samples: [
    { url: `${SAMPLES}/astronaut.jpg`, shows: 'an astronaut' },
    { url: `${SAMPLES}/grace-hopper.jpg`, shows: 'Grace Hopper' },
    { url: `${SAMPLES}/photographer.jpg`, shows: 'a photographer' },
    { url: `${SAMPLES}/friends.jpg`, shows: 'friends' },
    { url: `${SAMPLES}/rocket.jpg`, shows: 'a rocket' },
  ],
  startsWithSample: true,
  takesFiles: true,
  hint: 'You can also drop or paste a photo anywhere on the page. Your pictures stay on this device.',
  snippet: ({ url }, options) => `import { load, paintMask } from 'tabserve';

const segmenter = await load('/${url}', { handler: 'image_segmenter'${options} });
const person = await segmenter.predict(photo, { params: { result: 'mask' } }); // { width: 1280, height: 720, mask: Float32Array, … }

const cutout = await createImageBitmap(paintMask(person));
context.drawImage(photo, 0, 0);
context.globalCompositeOperation = 'destination-in'; // keeps the person, and removes the background
context.drawImage(cutout, 0, 0);
await segmenter.dispose();
`,
  load: ({ url }, options) => load(url, { handler: 'image_segmenter', ...options }),
  mount(events) {
    const input = pictureStage(events, 'user');
    return { input, output: person(input) };
  },
};
