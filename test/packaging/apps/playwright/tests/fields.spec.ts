import { readFile } from 'node:fs/promises';
import { expect, test } from 'tabserve/testing';

test('the bytes of a file among the fields of an input', async ({ tabserve }) => {
  const data = await readFile('public/models/digits/samples/drawn-7.png');
  const [result] = await tabserve.run<{ label: string }[]>('public/models/digits', {
    backends: ['onnx/wasm'],
    input: { data },
  });
  expect(result?.answer?.[0]?.label, result?.reason).toBe('seven');
});
