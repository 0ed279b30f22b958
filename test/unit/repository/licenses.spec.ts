import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

/** Every model and every picture that the repository ships has a license of its own, told beside it. */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(root + path, 'utf8');

function* filesOf(folder: string): Generator<string> {
  for (const entry of readdirSync(`${root}${folder}`, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) yield path;
    else if (!['node_modules', 'dist', 'test-results'].includes(entry.name)) yield* filesOf(path);
  }
}

const shipped = ['bench', 'demo', 'docs', 'public', 'src', 'test', 'training'].flatMap((folder) => [
  ...filesOf(folder),
]);

/** The rows of the table under `## Samples`, as `file, shows, from, license`. */
function samplesOf(card: string): string[][] {
  const [, table = ''] = /^## Samples$(.*?)(?=^## |$(?![^]))/ms.exec(card) ?? [];
  return [...table.matchAll(/^\| (`.*) \|$/gm)].map(([, row]) => row!.split(' | '));
}

for (const name of readdirSync(`${root}public/models`)) {
  const folder = `public/models/${name}`;

  test(`${name}: the model's license, and where it comes from`, () => {
    expect(read(`${folder}/LICENSE`)).toContain('MIT');
    const card = read(`${folder}/README.md`);
    expect(card).toMatch(/^(License: |## License$)/m);
    expect(existsSync(`${root}${folder}/LICENSE-APACHE`)).toBe(card.includes('Apache-2.0'));
  });

  test(`${name}: each sample has an entry with its source and its license`, () => {
    const entries = samplesOf(read(`${folder}/README.md`));
    const patterns = entries.flatMap(([files]) => [...files!.matchAll(/`([^`]+)`/g)].map(([, pattern]) => pattern!));
    const namedBy = (pattern: string, file: string): boolean =>
      new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`).test(file);
    const samples = existsSync(`${root}${folder}/samples`) ? readdirSync(`${root}${folder}/samples`) : [];
    expect(samples.filter((file) => !patterns.some((pattern) => namedBy(pattern, file)))).toEqual([]);
    expect(patterns.filter((pattern) => !samples.some((file) => namedBy(pattern, file)))).toEqual([]);
    for (const [files, , source, license] of entries) {
      expect(source, `the source of ${files}`).toMatch(/\S/);
      expect(license, `the license of ${files}`).toMatch(/^(MIT, ours|MIT|CC0|public domain)/);
    }
  });
}

/**
 * Pictures, sound and video outside of the models' samples, which a README beside them or in the folder above must
 * name. Tests draw their own.
 */
test('a picture or a video elsewhere is named by a README beside it', () => {
  const media = shipped.filter(
    (path) =>
      /\.(jpe?g|png|gif|webp|avif|bmp|mp4|webm|mov|mp3|wav|ogg)$/i.test(path) &&
      !/^(public\/models\/[^/]+\/samples|test\/goldens\/[^/]+)\//.test(path),
  );
  const unnamed = media.filter(
    (path) =>
      ![dirname(path), dirname(dirname(path))]
        .map((folder) => `${folder}/README.md`)
        .some((readme) => existsSync(root + readme) && read(readme).includes(basename(path))),
  );
  expect(unnamed).toEqual([]);
});

/** What is committed as weights: our own small models under `test` have a script beside them, the others a license. */
test('every folder of weights has a license or the script that made them', () => {
  const weights = shipped.filter((path) => /\.(onnx|bin|safetensors|tflite|mar)$/.test(path));
  const folders = [...new Set(weights.map((path) => dirname(path)))];
  const explained = (folder: string): boolean =>
    folder !== '.' &&
    (['LICENSE', 'make.py'].some((file) => existsSync(`${root}${folder}/${file}`)) || explained(dirname(folder)));
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((folder) => !explained(folder))).toEqual([]);
});
