import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { load } from 'js-yaml';
import { parseTransforms } from '../../../../src/worker/transforms/index.ts';
import * as functions from '../../../../src/worker/transforms/compose.ts';

const page = readFileSync(new URL('../../../../docs/handlers.md', import.meta.url), 'utf8');
const [, section] = /\n## Transforms in code\n([^]*?)\n## /.exec(page)!;
const rows = Array.from(section!.matchAll(/^\| `(.*)` \| `(.*)` \|$/gm), ([, code, config]) => ({ code, config }));

test('docs/handlers.md has each function of a transform beside the step of the config that it is', () => {
  const { compose: _, ...steps } = functions;
  const named = new Set(rows.map(({ code }) => /^\w+/.exec(code!)![0]));
  expect([...named].sort()).toEqual(Object.keys(steps).sort());
  const onPixels = rows.findIndex(({ code }) => code === 'toTensor()');
  for (const [index, { code, config }] of rows.entries()) {
    const inCode = new Function(...Object.keys(steps), `return ${code}`)(...Object.values(steps)) as unknown;
    const step: unknown = load(config!);
    // A list of the config needs `toTensor`, and steps in their order.
    const list = code!.startsWith('toTensor') ? [step] : index < onPixels ? [step, 'toTensor'] : ['toTensor', step];
    expect(parseTransforms(list)[list.indexOf(step)], code).toEqual(inCode);
  }
});
