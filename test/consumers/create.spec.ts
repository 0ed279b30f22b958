import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporary } from '../packaging/app.ts';
import { expect, test } from '../packaging/fixtures.ts';
import { FRAMEWORKS, TEMPLATE_NAMES } from '../../src/tools/create/templates.ts';
import { createApp, testApp } from './created-app.ts';

/**
 * The published weights that an app names by the address of their repository, which this machine may not reach: as
 * `npm run published:fetch` gets them, and put into the app as its README says.
 */
const WEIGHTS: Readonly<Record<string, readonly [url: string, name: string]>> = {
  transcription: ['https://huggingface.co/onnx-community/whisper-tiny.en', 'whisper-tiny.en'],
  search: ['https://huggingface.co/Xenova/bge-small-en-v1.5', 'bge-small-en-v1.5'],
};

const fetched = (name: string): string => fileURLToPath(new URL(`../../.cache/published/hub/${name}`, import.meta.url));

function useFetched(app: string, [url, name]: readonly [url: string, name: string]): void {
  const isUsed = (path: string): boolean => !/\.onnx(_data)?$/.test(path) || path.endsWith('_quantized.onnx');
  cpSync(fetched(name), join(app, 'public/models', name), { recursive: true, filter: isUsed });
  const file = join(app, 'src/model.ts');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(`'${url}'`);
  writeFileSync(file, text.replace(`'${url}'`, `'/models/${name}/'`));
}

for (const template of TEMPLATE_NAMES)
  for (const framework of FRAMEWORKS)
    test(`npm create tabserve: ${template}, ${framework}`, async ({ tarball }) => {
      const weights = WEIGHTS[template];
      test.skip(
        weights !== undefined && !existsSync(fetched(weights[1])),
        'npm run published:fetch gets the weights, which Hugging Face has',
      );
      const folder = temporary();
      const app = join(folder, 'my-app');
      try {
        await createApp(app, tarball, { template, framework });
        if (weights) useFetched(app, weights);
        // In software, Whisper takes four minutes on WebGPU; the framework makes no difference there.
        const isSlow = template === 'transcription' && framework !== 'vanilla';
        const backends = isSlow ? ['wasm', 'webgl'] : [];
        expect(await testApp(app, backends)).toContain(isSlow ? '2 passed' : '3 passed');
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
