// The samples of docs/node.md, with the built package. What a sample prints is what its comments say.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const root = new URL('../../', import.meta.url);

for (const name of ['classify', 'parity', 'server', 'own-server'])
  test(`docs/node.md: ${name}.mjs prints what it says`, async () => {
    const file = new URL(`test/readme/node/${name}.mjs`, root);
    const child = spawn(process.execPath, [fileURLToPath(file)], {
      cwd: fileURLToPath(new URL('public/', root)),
      env: { ...process.env, FORCE_COLOR: '0' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(child, 'exit');
    const said = [...readFileSync(file, 'utf8').matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, text]) => text);
    expect(output.trim().split('\n')).toEqual(said);
  });

test('README.md: npm run models copies every model of the gallery, whole', () => {
  const folder = test.info().outputPath('models');
  execFileSync(process.execPath, ['scripts/copy-models.mjs', folder], { cwd: fileURLToPath(root) });
  for (const name of ['nanodet', 'selfie', 'orientation', 'vad', 'ocr/detect', 'ocr/orient', 'ocr/recognize']) {
    const { files } = JSON.parse(readFileSync(`${folder}/${name}/tabserve.json`, 'utf8')) as { files: object };
    for (const file of Object.keys(files))
      expect(existsSync(`${folder}/${name}/${file}`), `${name}/${file}`).toBe(true);
  }
});
