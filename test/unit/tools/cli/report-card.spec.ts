import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { conclude, PROOFS, rank, type Card, type Measured, type Row } from '../../../../demo/lab/card.ts';
import { describeDevice, deviceFacts } from '../../../../demo/lab/device.ts';
import { readModel } from '../../../../demo/lab/read-model.ts';
import { decodeCard, encodeCard, MAX_LENGTHS } from '../../../../demo/lab/share.ts';
import { readOperatorTable } from '../../../../src/tools/cli/operator-tables.ts';
import { CANDIDATES } from '../../../../src/contract/backends.ts';
import type { Probe } from '../../../../src/index.ts';

const measured = (candidate: Measured['candidate'], median: number, changes: Partial<Measured> = {}): Measured => ({
  candidate,
  state: 'measured',
  median,
  low: median,
  high: median,
  proof: candidate.endsWith('/wasm') ? 'reference' : 'right',
  error: 0,
  scale: 1,
  wrong: '',
  ...changes,
});

test('ranks what is right by its median; what is wrong has no place, however fast it is', () => {
  const rows: readonly Row[] = [
    {
      candidate: 'onnx/webgl',
      state: 'skipped',
      reason: 'It computes wrongly: compared with WASM, output "y" is off.',
    },
    { candidate: 'tfjs/webgpu', state: 'skipped', reason: 'WebGPU has no adapter here.' },
    measured('onnx/wasm', 8),
    measured('tfjs/webgl', 1, { proof: 'wrong', wrong: 'output "y" is off by 2' }),
    { candidate: 'tfjs/cpu', state: 'waiting' },
    measured('onnx/webgpu', 2),
  ];
  expect(rank(rows).map(({ row, place }) => [row.candidate, place])).toEqual([
    ['onnx/webgpu', 1],
    ['onnx/wasm', 2],
    ['onnx/webgl', undefined],
    ['tfjs/webgl', undefined],
    ['tfjs/cpu', undefined],
    ['tfjs/webgpu', undefined],
  ]);
  const { headline, rest } = conclude(rows);
  expect(headline).toBe('WebGPU with ONNX Runtime is the fastest, 4 times as fast as WASM');
  expect(rest).toContain('WebGL with ONNX Runtime and WebGL with TensorFlow.js compute wrongly');
});

test('concludes where nothing runs, and where everything is wrong', () => {
  const skipped: Row = { candidate: 'onnx/webgpu', state: 'skipped', reason: 'WebGPU has no adapter here.' };
  const wrong = measured('tfjs/webgl', 1, { proof: 'wrong' });
  for (const rows of [[skipped], [wrong], [skipped, wrong]])
    expect(conclude(rows).headline).toBe('No backend computes this model correctly');
});

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary', maxLength: 400 }));
const time = fc.double({ min: 0, max: 1e6, noNaN: true });
const row = (candidate: Measured['candidate']) =>
  fc.oneof(
    fc.record({ candidate: fc.constant(candidate), state: fc.constant('skipped' as const), reason: text }),
    fc.record({
      candidate: fc.constant(candidate),
      state: fc.constant('measured' as const),
      median: time,
      low: time,
      high: time,
      proof: fc.constantFrom(...PROOFS),
      error: fc.oneof(time, fc.constant(Infinity)),
      scale: time,
      wrong: text,
    }),
  );
const cards: fc.Arbitrary<Card> = fc.record({
  model: text,
  device: fc.record({ browser: text, gpu: text, software: fc.boolean(), cores: fc.nat(4096), threads: fc.boolean() }),
  at: fc.nat(8e12),
  rows: fc.shuffledSubarray([...CANDIDATES], { minLength: 1 }).chain((names) => fc.tuple(...names.map(row))),
});

test('a link holds a card, whatever its texts are, and is never longer than a link that is read', () => {
  fc.assert(
    fc.property(cards, (card) => {
      const link = encodeCard(card);
      expect(link).toMatch(/^[\w-]+$/);
      expect(link.length).toBeLessThanOrEqual(MAX_LENGTHS.link);
      const read = decodeCard(link);
      expect(read.rows.map(({ candidate, state }) => [candidate, state])).toEqual(
        card.rows.map(({ candidate, state }) => [candidate, state]),
      );
      // What was read is written the same: nothing is lost but digits and what cannot be seen.
      expect(encodeCard(read)).toBe(link);
    }),
  );
});

test('a card in figures', () => {
  const card: Card = {
    model: 'Selfie segmentation',
    device: { browser: 'Chrome 140 on Linux', gpu: 'GeForce', software: false, cores: 8, threads: true },
    at: 1_700_000_000_000,
    rows: [measured('onnx/wasm', 12.5), { candidate: 'onnx/webgpu', state: 'skipped', reason: 'No adapter.' }],
  };
  expect(decodeCard(encodeCard(card))).toEqual(card);
});

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const device = ['Chrome', '', 0, 4, 1];
const good = ['onnx/wasm', 1, 1, 1, 'right', 0, 1, ''];

test('what is no card is refused, with advice', () => {
  expect(decodeCard(encoded([1, 'm', 1, device, [good]])).rows).toHaveLength(1);
  const hostile: readonly unknown[] = [
    null,
    {},
    [2, 'm', 1, device, [good]],
    [1, 'm', 1, device, []],
    [1, 'm', 1, device, [good, good]],
    [1, 'm', 1, device, [['onnx/cuda', 'no']]],
    [1, 'm', 1, device, [['__proto__', 'no']]],
    [1, 'm', 9e12, device, [good]],
    [1, 'm', 1, ['Chrome', '', 0, 1e9, 1], [good]],
    [1, { toString: 'x' }, 1, device, [good]],
    [1, 'm', 1, device, [['onnx/wasm', -1, 1, 1, 'right', 0, 1, '']]],
    [1, 'm', 1, device, [['onnx/wasm', '1', 1, 1, 'right', 0, 1, '']]],
    [1, 'm', 1, device, [['onnx/wasm', 1, 1, 1, 'perfect', 0, 1, '']]],
  ];
  const refusal = expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining('Press Run') });
  const links = [
    ...hostile.map(encoded),
    '',
    '%',
    'a'.repeat(MAX_LENGTHS.link + 1),
    Buffer.from([0xff]).toString('base64url'),
  ];
  for (const link of links) expect(() => decodeCard(link), link.slice(0, 80)).toThrow(refusal);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json().map((json) => Buffer.from(json).toString('base64url')),
      ),
      (link) => {
        expect(() => decodeCard(link)).toThrow(refusal);
      },
    ),
  );
});

test('texts of a link are cut, and lose what cannot be seen or turns them around', () => {
  const spoofed = `a\u202eb\u0000\u200bc\n${'x'.repeat(500)}`;
  const { model, rows } = decodeCard(encoded([1, spoofed, 1, device, [['onnx/webgl', spoofed]]]));
  expect(model).toMatch(/^abcx+…$/);
  expect([...model]).toHaveLength(MAX_LENGTHS.model);
  expect(rows[0]).toMatchObject({ reason: expect.stringMatching(/^abcx+…$/) });
});

test('describes devices in a few words', () => {
  const probe = (renderer: string, software = false): Probe => ({
    webgpu: { available: false, reason: 'no' },
    webgl: { available: true, renderer, software, floatRendering: true, maxTextureSize: 8192 },
    webnn: { available: false, reason: 'This browser has no WebNN.' },
    wasm: { available: true, simd: true, jspi: false, threads: true },
    crossOriginIsolated: true,
    cores: 8,
  });
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  const facts = (userAgent: string, found?: Probe): readonly string[] =>
    deviceFacts(describeDevice(userAgent, 4, found), found !== undefined);
  expect(facts(chrome)).toEqual(['Chrome 140 on Linux', '4 cores']);
  expect(facts(`${chrome} Edg/140.0.0.0`)[0]).toBe('Edge 140 on Linux');
  expect(
    facts(
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    )[0],
  ).toBe('Safari 18 on iOS');
  expect(facts('Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0')[0]).toBe(
    'Firefox 140 on Windows',
  );
  expect(facts('curl')[0]).toBe('A browser on an unknown system');
  const gpus = {
    'ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 (0x00002504) Direct3D11 vs_5_0 ps_5_0, D3D11)': 'NVIDIA GeForce RTX 3060',
    'ANGLE (Apple, ANGLE Metal Renderer: Apple M2, Unspecified Version)': 'Apple M2',
    'Adreno (TM) 740': 'Adreno (TM) 740',
  };
  for (const [renderer, name] of Object.entries(gpus)) expect(facts(chrome, probe(renderer))[2]).toBe(name);
  const swiftShader = 'ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)';
  expect(facts(chrome, probe(swiftShader, true))[2]).toBe('SwiftShader Device (Subzero), in software');
});

test('reads a dropped ONNX file: what stops WebGL, and what WebGPU leaves to the CPU; another file is refused', async () => {
  const path = (name: string): string => fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
  const table = (name: 'webgl' | 'webgpu') =>
    readOperatorTable(readFileSync(path(`node_modules/onnxruntime-web/docs/${name}-operators.md`), 'utf8'), name);
  const tables = { webgpu: table('webgpu'), webgl: table('webgl') };
  const read = (name: string) => readModel(new File([readFileSync(path(name))], 'own.onnx'), tables);
  expect(await read('test/models/hardsigmoid.onnx')).toMatchObject({ beyond: { webgpu: [], webgl: ['HardSigmoid'] } });
  expect((await read('test/models/float16.onnx')).beyond.webgl).toEqual(['float16']);
  await expect(read('test/models/README.md')).rejects.toMatchObject({ code: 'model-format' });
  // A large file is not read into memory.
  const large = new File([new Uint8Array(2 ** 24)], 'large.onnx');
  Object.defineProperty(large, 'arrayBuffer', { value: () => Promise.reject(new Error('It was read as a whole.')) });
  await expect(readModel(large, tables)).rejects.toMatchObject({ code: 'model-format' });
});
