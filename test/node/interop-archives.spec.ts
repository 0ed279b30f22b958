// An archive travels: what `tabserve archive` and what torch-model-archiver has packed is served by the real TorchServe
// and here. `npm run interop` packs them, starts TorchServe, and names both here.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { ask, differences, type Answer, type Asked, type Question } from './interop/question.ts';
import { bytes, scene } from './interop/requests.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');
const { ModelServer } = (await import(new URL('dist/serving.js', root).href)) as typeof import('../../src/serving.ts');

const archives = JSON.parse(process.env['INTEROP_ARCHIVES'] ?? '{}') as Readonly<Record<string, string>>;
const torchServe = (JSON.parse(process.env['INTEROP_SERVERS'] ?? '{}') as Readonly<Record<string, Asked>>)[
  'torchserve'
];

/** What TorchServe answers with the same weights as TorchScript. */
const { body: expected } = (
  JSON.parse(readFileSync(new URL('test/goldens/interop/torchserve.json', root), 'utf8')) as Record<string, Answer>
)['image_classifier: a file as the body']!;

test.skip(!torchServe, 'npm run interop packs the archives and starts TorchServe');

for (const packer of ['tabserve', 'torchserve']) {
  const name = `from-${packer}`;
  const question: Question = { title: name, path: `/predictions/${name}`, headers: bytes, body: scene };

  test(`${name}: TorchServe serves it, with the Python handler beside the model`, async () => {
    const asked: Asked = { ...torchServe!, archive: () => `${name}.mar` };
    const more = '&handler=onnx_classifier.py&initial_workers=1&synchronous=true';
    const register = await ask(asked, { title: '', path: `/models?url={archive}${more}`, management: true });
    expect(register.body).toMatchObject({ status: expect.stringContaining('registered with 1 initial workers') });
    const answer = await ask(asked, question);
    await ask(asked, { title: '', method: 'DELETE', path: `/models/${name}`, management: true });
    expect(differences(expected, answer.body)).toEqual([]);
  });

  test(`${name}: TabServe serves it`, async () => {
    const server = new ModelServer({ load });
    await server.register(archives[packer]!);
    const request = { method: 'POST', headers: bytes, body: new Uint8Array(scene) };
    const response = await server.fetch(new Request(`http://localhost/predictions/${name}`, request));
    const answer: unknown = await response.json();
    await server.dispose();
    expect(differences(expected, answer)).toEqual([]);
  });
}
