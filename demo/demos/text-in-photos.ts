import { load, type Timings } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { shotStage } from '../inputs/shot-stage.js';
import { textLines } from '../outputs/text-lines.js';
import { comment, input, loading, options } from './code.js';

const SAMPLES = 'models/ocr/samples';

/** The times of the workflow's nodes at the last answer. */
let times: Readonly<Record<string, Timings>> = {};

export const textInPhotos: Demo = {
  id: 'text',
  title: 'Text',
  summary:
    'Reads the text in a photo, English and Chinese, also upside down. Three models work together: one finds the lines, one turns them, one reads them.',
  layout: 'wide',
  models: [
    {
      url: 'models/ocr/',
      short: 'PP-OCRv4',
      name: 'PP-OCRv4 of PaddleOCR',
      license: 'Apache-2.0',
      bytes: 16_146_806,
      engines: ['onnx'],
    },
  ],
  samples: [
    { url: `${SAMPLES}/sign.webp`, shows: 'a sign' },
    { url: `${SAMPLES}/receipt.jpg`, shows: 'a receipt' },
    { url: `${SAMPLES}/tea.jpg`, shows: 'a label in Chinese' },
    { url: `${SAMPLES}/letter-upside-down.png`, shows: 'a letter, upside down' },
    { url: `${SAMPLES}/ticket.jpg`, shows: 'a ticket' },
    { url: `${SAMPLES}/notice.jpg`, shows: 'two notices' },
  ],
  takesFiles: true,
  hint: 'Select the text right on the photo. The model leaves out some spaces between words. You can also drop or paste a photo anywhere on the page. Your pictures stay on this device.',
  snippet: (run) => `import { load } from 'tabserve';

${loading('reader', 'text_reader', run)}
${input('photo', run.source)}
const lines = await reader.predict(photo${options(run)});
${comment(run.result, 1)}console.log(lines, reader.backend);
await reader.dispose();
`,
  async load({ url }, options) {
    const client = await load(url, { handler: 'text_reader', ...options });
    client.on('response', ({ nodes }) => (times = nodes ?? {}));
    return client;
  },
  mount(events) {
    const input = shotStage(events);
    return { input, output: textLines(input, () => times) };
  },
};
