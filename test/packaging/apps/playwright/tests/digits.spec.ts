import { readFile } from 'node:fs/promises';
import { expect, test } from 'tabserve/testing';

test('a seven is a seven on every backend', async ({ tabserve }) => {
  const photo = await readFile('public/models/digits/samples/drawn-7.png');
  const results = await tabserve.run<{ label: string }[]>('public/models/digits', { input: photo });
  for (const { backend, verdict, reason, answer } of results) {
    expect(['right', 'skipped'], `${backend}: ${reason}`).toContain(verdict);
    if (verdict === 'right') expect(answer?.[0]?.label).toBe('seven');
  }
});
