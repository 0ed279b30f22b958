import { readFile } from 'node:fs/promises';
import { expect, test } from 'tabserve/testing';

test('a seven is odd', async ({ tabserve }) => {
  const [result] = await tabserve.run<'even' | 'odd'>('public/models/digits', {
    backends: ['onnx/wasm'],
    worker: '/src/even.worker.ts',
    input: await readFile('public/models/digits/samples/drawn-7.png'),
  });
  expect(result?.verdict, result?.reason).toBe('right');
  expect(result?.answer).toBe('odd');
});
