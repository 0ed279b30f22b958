import { load } from '../../src/index.js';
import type { Demo, Run } from '../demo.js';
import { pictureStage } from '../inputs/picture-stage.js';
import { detections } from '../outputs/detections.js';
import { CAMERA, comment, input, literal, loading, options } from './code.js';
import { withIds } from './tracked.js';

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
  takesFiles: true,
  hint: 'You can also drop or paste a photo anywhere on the page. Your pictures stay on this device.',
  snippet: (run) => `import { load } from 'tabserve';

${run.source.kind === 'camera' ? camera(run) : photo(run)}`,
  load: async ({ url }, options) => withIds(await load(url, { handler: 'object_detector', ...options })),
  mount(events) {
    const input = pictureStage(events, 'environment');
    return { input, output: detections(input, events.changed) };
  },
};

function photo(run: Run): string {
  return `${loading('detector', 'object_detector', run)}
${input('photo', run.source)}
const objects = await detector.predict(photo${options(run)});
${comment(run.result, 1)}console.log(objects, detector.backend);
await detector.dispose();
`;
}

function camera(run: Run): string {
  const archive = run.archive.replace(/nanodet\/$/, 'tracker/');
  const params = { trackThreshold: (run.params as { readonly scoreThreshold?: number }).scoreThreshold };
  return `${loading('tracker', 'object_tracker', { ...run, archive })}
${CAMERA}
// While a frame is predicted, the latest one waits. If a worker or the GPU is lost, the loop continues with the next
// frame, and the ids continue.
const sequence = tracker.openSequence();
for await (const { result } of sequence.frames(video, ${literal({ params })})) console.log(result);
await tracker.dispose();
`;
}
