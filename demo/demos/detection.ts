import { load } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { pictureStage } from '../inputs/picture-stage.js';
import { detections } from '../outputs/detections.js';

const SAMPLES = 'models/nanodet/samples';

export const detection: Demo = {
  id: 'detection',
  title: 'Objects',
  summary: 'Finds 80 kinds of objects in a photo or in the camera’s picture, from people to toothbrushes.',
  layout: 'wide',
  models: [
    {
      url: 'models/nanodet/',
      short: 'NanoDet',
      name: 'NanoDet',
      license: 'Apache-2.0',
      bytes: 7_607_720,
      engines: ['onnx', 'tfjs'],
    },
  ],
  samples: [
    { url: `${SAMPLES}/bar.jpg`, shows: 'an evening in a bar' },
    { url: `${SAMPLES}/cat.jpg`, shows: 'a cat' },
    { url: `${SAMPLES}/party.jpg`, shows: 'a party' },
    { url: `${SAMPLES}/coffee.jpg`, shows: 'a cup of coffee' },
    { url: `${SAMPLES}/grace-hopper.jpg`, shows: 'Grace Hopper' },
    { url: `${SAMPLES}/rocket.jpg`, shows: 'a rocket' },
  ],
  startsWithSample: true,
  takesFiles: true,
  hint: 'You can also drop or paste a photo anywhere on the page. Your pictures stay on this device.',
  snippet: ({ url }, options) => `import { load } from 'tabserve';

const detector = await load('/${url}', { handler: 'object_detector'${options} });
const found = await detector.predict(photo); // [{ label: 'person', score: 0.93, box: { xmin: 12, ymin: 8, xmax: 231, ymax: 410 } }, …]
const certain = await detector.predict(photo, { params: { scoreThreshold: 0.8 } });

// A camera: each frame is sent when the one before is answered.
while (!video.paused) {
  try {
    draw(await detector.predict(video));
  } catch (error) {
    // A frame may be lost with its worker or GPU. TabServe opens another worker: go on with the next frame.
    if (!error.retriable) throw error;
  }
}
await detector.dispose();
`,
  load: ({ url }, options) => load(url, { handler: 'object_detector', ...options }),
  mount(events) {
    const input = pictureStage(events, 'environment');
    return { input, output: detections(input, events.changed) };
  },
};
