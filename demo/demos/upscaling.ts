import { load } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { photoStage, scaledDown } from '../inputs/photo-stage.js';
import { enlarged } from '../outputs/enlarged.js';
import { input, loading, options } from './code.js';

/** The model takes a second for this many pixels on a slow device. */
const MAX_SIDE = 256;

export const upscaling: Demo = {
  id: 'upscaling',
  title: 'Upscaling',
  summary: 'Doubles the width and the height of a small photo, next to the browser’s own enlargement.',
  layout: 'wide',
  models: [
    {
      url: 'models/upscaler/',
      short: 'ESRGAN Slim',
      name: 'ESRGAN Slim x2',
      license: 'MIT',
      bytes: 891_017,
      engines: ['onnx', 'tfjs'],
    },
  ],
  samples: [
    { url: 'models/selfie/samples/astronaut.jpg', shows: 'an astronaut' },
    { url: 'models/nanodet/samples/cat.jpg', shows: 'a cat' },
    { url: 'models/upscaler/samples/cup.png', shows: 'a cup of coffee, 160 pixels wide' },
  ],
  takesFiles: true,
  hint: `You can also drop or paste a photo anywhere on the page; this page scales it down to ${MAX_SIDE} pixels first. Your pictures stay on this device.`,
  snippet: (run) => `import { load, paintPicture } from 'tabserve';

${loading('upscaler', 'image_to_image', run)}
${input('photo', run.source)}
const picture = await upscaler.predict(photo${options(run)}); // in tiles, where the photo is large

const { width, height } = picture;
const canvas = Object.assign(document.createElement('canvas'), { width, height });
canvas.getContext('2d')!.putImageData(paintPicture(picture), 0, 0);
document.body.append(canvas);
await upscaler.dispose();
`,
  async load({ url }, options) {
    const client = await load(url, { handler: 'image_to_image', ...options });
    return {
      get backend() {
        return client.backend;
      },
      predict: async (photo: Blob) => await client.predict(await scaledDown(photo, MAX_SIDE)),
      on: (event, listener) => client.on(event, listener),
      dispose: () => client.dispose(),
    };
  },
  mount(events) {
    const input = photoStage(MAX_SIDE);
    return { input, output: enlarged(input, events.refused) };
  },
};
