import { load } from '../../src/index.js';
import type { Demo, Run } from '../demo.js';
import { pictureStage } from '../inputs/picture-stage.js';
import type { Settings } from '../page/route.js';
import { person } from '../outputs/person.js';
import { CAMERA, input, literal, loading, options } from './code.js';

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
  takesFiles: true,
  hint: 'You can also drop or paste a photo anywhere on the page. Your pictures stay on this device.',
  snippet: (run) => `import { load, paintMask } from 'tabserve';

${loading('segmenter', 'image_segmenter', run)}
${run.source.kind === 'camera' ? camera(run) : photo(run)}
await segmenter.dispose();
`,
  load: ({ url }, options) => load(url, { handler: 'image_segmenter', ...options }),
  mount(events) {
    const input = pictureStage(events, 'user');
    return { input, output: person(input, events.refused) };
  },
};

function photo(run: Run): string {
  return `${input('photo', run.source)}
const person = await segmenter.predict(photo${options(run)});

const picture = await createImageBitmap(${run.source.kind === 'sample' ? 'await (await fetch(photo)).blob()' : 'photo'});
const { width, height } = picture;
const canvas = Object.assign(document.createElement('canvas'), { width, height });
const context = canvas.getContext('2d')!;
${drawing(run.settings)}
document.body.append(canvas);`;
}

function camera(run: Run): string {
  return `${CAMERA}
const canvas = document.createElement('canvas');
const context = canvas.getContext('2d')!;
document.body.append(canvas);
// 'frame' is the one that the mask belongs to. It is closed when the next one comes.
for await (const { result: person, frame } of segmenter.frames(video${options(run)})) {
  const picture = frame!; // a camera has VideoFrames
  const { displayWidth: width, displayHeight: height } = picture;
  Object.assign(canvas, { width, height });
  ${drawing(run.settings).replaceAll('\n', '\n  ')}
}`;
}

/** Returns the statements that draw the person in front of the chosen background, or the mask. */
function drawing({ backdrop = 'blur', color = '' }: Settings): string {
  const mask = 'await createImageBitmap(paintMask(person, { color: [255, 255, 255] }))';
  if (backdrop === 'mask') {
    return `context.fillRect(0, 0, width, height);
context.drawImage(${mask}, 0, 0, width, height);`;
  }
  const behind: Readonly<Record<string, string>> = {
    blur: `context.drawImage(await createImageBitmap(picture, { resizeWidth: 40 }), 0, 0, width, height); // enlarged, a small copy is blurred`,
    scenery: `const sky = context.createLinearGradient(0, 0, 0, height);
sky.addColorStop(0, '#24305e');
sky.addColorStop(0.7, '#f0936b');
sky.addColorStop(1, '#ffd08a');
context.fillStyle = sky;
context.fillRect(0, 0, width, height);`,
    color: `context.fillStyle = ${literal(color)};
context.fillRect(0, 0, width, height);`,
  };
  return `context.drawImage(picture, 0, 0);
context.globalCompositeOperation = 'destination-in'; // keeps the person
context.drawImage(${mask}, 0, 0, width, height);
context.globalCompositeOperation = 'destination-over'; // draws behind them
${behind[backdrop]}`;
}
