import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import type { Manifest } from '../../../src/contract/archive.ts';
import { parseConfigFile } from '../../../src/tools/cli/parse-config-file.ts';

const MODELS = fileURLToPath(new URL('../../../public/models', import.meta.url));

test('visitors of the gallery download no YAML parser: each archive has its config parsed, as it is now', async () => {
  const manifests = readdirSync(MODELS, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith(join('MAR-INF', 'MANIFEST.json')),
  );
  expect(manifests.length).toBeGreaterThan(5);
  for (const path of manifests) {
    const folder = join(MODELS, dirname(dirname(path)));
    const { model } = JSON.parse(readFileSync(join(MODELS, path), 'utf8')) as Manifest;
    if (model.configFile === undefined) continue;
    const { parsedConfig } = JSON.parse(readFileSync(join(folder, 'tabserve.json'), 'utf8')) as {
      parsedConfig?: unknown;
    };
    expect(parsedConfig, folder).toEqual(
      await parseConfigFile(readFileSync(join(folder, model.configFile)), model.configFile),
    );
  }
});
