/** Smaller weights: the graphs that `tabserve optimize` writes, and the archives. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { checkArchive } from '../../../../src/tools/cli/check.ts';
import { inspect } from '../../../../src/tools/cli/inspect.ts';
import { readOnnxGraph } from '../../../../src/tools/cli/onnx-graph.ts';
import { shrinkOnnx } from '../../../../src/tools/cli/optimize/onnx-weights.ts';
import { optimize, type OptimizeFlags } from '../../../../src/tools/cli/optimize/optimize.ts';
import { quantize, SMALL_WEIGHTS } from '../../../../src/tools/cli/optimize/small-weights.ts';
import { shrinkTensorFlow } from '../../../../src/tools/cli/optimize/tfjs-weights.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';
import { readTensor } from '../../../../src/worker/models/onnx/tensors.ts';
import { all, fields, find, text } from '../../../../src/worker/models/onnx/protobuf.ts';
import { readExtras } from '../../../../src/worker/models/manifest.ts';
import { startEngine } from '../../../../src/server/node/engines.ts';
import {
  encode,
  encodeNumber,
  encodeText,
  join as joinBytes,
} from '../../../../src/worker/models/onnx/protobuf-writer.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
const goldens = path('test/goldens/optimize');
const read = (name: string): Uint8Array => readFileSync(join(goldens, name));

interface Run extends Readonly<Record<'x' | 'float32' | 'float16' | 'int8', readonly number[]>> {
  readonly dims: readonly number[];
}

/** Made by goldens/optimize/make.py: ONNX Runtime's outputs with weights that NumPy has rounded. */
const expected = JSON.parse(readFileSync(join(goldens, 'expected.json'), 'utf8')) as Readonly<
  Record<string, { readonly kept: readonly string[]; readonly runs: readonly Run[] }>
>;

const external = (name: string): ReadonlyMap<string, Uint8Array> => {
  const files = readdirSync(goldens).filter((file) => file.startsWith(`${name}.onnx_`));
  return new Map(files.map((file) => [file, read(file)]));
};

async function open(model: Uint8Array, others: ReadonlyMap<string, Uint8Array>) {
  const engine = await startEngine('onnx/wasm');
  return await engine.open(createFiles({ ...Object.fromEntries(others), 'm.onnx': model }), 'm.onnx', {});
}

for (const [name, { kept, runs }] of Object.entries(expected)) {
  for (const weights of SMALL_WEIGHTS) {
    test(`${name} with ${weights} weights answers as ONNX Runtime does with weights that NumPy has rounded`, async () => {
      const model = read(`${name}.onnx`);
      const small = shrinkOnnx(model, { weights, external: external(name), rename: (one) => `small.${one}` });
      await using session = await open(small.model, small.external);
      for (const { dims, x, ...outputs } of runs) {
        const { y } = await session.run({ x: { dtype: 'float32', dims, data: Float32Array.from(x) } });
        const largest = Math.max(...outputs[weights].map(Math.abs));
        const error = Math.max(...outputs[weights].map((value, index) => Math.abs(value - Number(y!.data[index]))));
        expect(error / largest).toBeLessThan(1e-5);
        // The weights have changed: the outputs of the original are further away.
        expect(
          Math.max(...outputs[weights].map((value, index) => Math.abs(value - outputs.float32[index]!))) / largest,
        ).toBeGreaterThan(2e-5);
      }
      const [before, after] = [readOnnxGraph(model), readOnnxGraph(small.model)];
      expect(after.inputs).toEqual(before.inputs);
      expect(after.outputs).toEqual(before.outputs);
      expect(small.unconverted.map((one) => one.name)).toEqual(kept);
      expect([...small.external.keys()]).toEqual([...external(name).keys()].map((one) => `small.${one}`));
      const left = after.weights.find(({ dtype }) => dtype === 'float32')?.bytes ?? 0;
      expect(left).toBeLessThan(0.25 * before.weights.find(({ dtype }) => dtype === 'float32')!.bytes);
    });
  }
}

test('a channel of zeros, and one of tiny numbers, are quantized without a division by zero', () => {
  const values = Float32Array.from({ length: 64 }, (_, index) => (index < 16 ? 0 : index < 32 ? 1e-45 : index / 64));
  const { q, scales } = quantize(values, [4, 16]);
  expect(scales.slice(0, 2).every((scale) => scale > 0)).toBe(true);
  expect(q.slice(0, 32).every((one) => one === 0)).toBe(true);
  expect(Math.max(...q)).toBe(127);
});

const tensorFlow = (weights: readonly unknown[], paths = ['w.bin']) =>
  JSON.stringify({ modelTopology: {}, weightsManifest: [{ paths, weights }] });
const bytesOf = ({ buffer }: ArrayBufferView): Uint8Array => new Uint8Array(buffer as ArrayBuffer);

test('a TensorFlow.js manifest says how each weight is stored, and the rest stays', () => {
  const [large, small] = [Float32Array.from({ length: 2048 }, (_, i) => i / 1024 - 0.5), Float32Array.of(1, 2)];
  const specs = [
    { name: 'small', shape: [2], dtype: 'float32' },
    { name: 'large', shape: [2, 1024], dtype: 'float32' },
    { name: 'indices', shape: [2], dtype: 'int32' },
  ];
  const all = Buffer.concat([bytesOf(small), bytesOf(large), bytesOf(Int32Array.of(7, 8))]);
  const shards = new Map([
    ['a.bin', all.subarray(0, 5000)],
    ['b.bin', all.subarray(5000)],
  ]);
  const made = (weights: 'float16' | 'int8') => {
    const result = shrinkTensorFlow(tensorFlow(specs, ['a.bin', 'b.bin']), shards, weights, (one) => `new-${one}`);
    const [group] = (JSON.parse(result.json) as { weightsManifest: { paths: string[]; weights: object[] }[] })
      .weightsManifest;
    return { ...result, ...group!, data: Buffer.concat(group!.paths.map((one) => result.shards.get(one)!)) };
  };
  const half = made('float16');
  expect(half.paths).toEqual(['new-a.bin']);
  expect(half.weights).toEqual([specs[0], { ...specs[1], quantization: { dtype: 'float16' } }, specs[2]]);
  expect(half.data.length).toBe(8 + 4096 + 8);
  // -0.5 in float16 is b800.
  expect(half.data.subarray(8, 10)).toEqual(Buffer.of(0x00, 0xb8));
  expect(half.data.subarray(-8)).toEqual(all.subarray(-8));
  const bytes = made('int8');
  // 256 numbers from -0.5 to 1.5, of which one is zero, as tensorflowjs' quantization.py has it: min is -64 scales.
  expect(bytes.weights[1]).toEqual({
    ...specs[1],
    quantization: {
      dtype: 'uint8',
      scale: expect.closeTo(1.9990234375 / 255, 9),
      min: expect.closeTo((-64 * 1.9990234375) / 255, 9),
    },
  });
  expect(
    [...bytes.data.subarray(8, 2056)].filter(
      (one, index) => Math.abs((one - 64) * (1.9990234375 / 255) - large[index]!) > 0.00393,
    ),
  ).toEqual([]);
  expect(bytes.data.length).toBe(8 + 2048 + 8);
});

test('weights of TensorFlow.js that float16 cannot hold stay, and are named', () => {
  const values = new Float32Array(200).fill(1e5);
  const json = tensorFlow([{ name: 'w', shape: [200], dtype: 'float32' }]);
  const { converted, unconverted } = shrinkTensorFlow(
    json,
    new Map([['w.bin', bytesOf(values)]]),
    'float16',
    (one) => one,
  );
  expect({ converted, unconverted }).toEqual({
    converted: 0,
    unconverted: [{ name: 'w', bytes: 800, why: expect.stringContaining('65504') }],
  });
});

test('the names of new tensors differ from that of a sparse tensor, which is the name of its values', () => {
  const model = read('initializers.onnx');
  const names = (bytes: Uint8Array): readonly string[] => all(find(bytes, 7)!, 5).map((one) => text(find(one, 8)));
  const shrunk = (bytes: Uint8Array): Uint8Array =>
    shrinkOnnx(bytes, { weights: 'float16', external: new Map(), rename: (one) => one }).model;
  expect(names(shrunk(model))).toContain('h0');
  // SparseTensorProto: 1 is a tensor with the values.
  const sparse = encode(15, encode(1, encodeText(8, 'h0')));
  const graph = joinBytes(encode(7, [...sparse, find(model, 7)!]));
  const others = [...fields(model)].flatMap(({ field, whole }) => (field === 7 ? [] : [whole]));
  const made = names(shrunk(joinBytes([graph, ...others])));
  expect(made).toContain('h_0');
  expect(made).not.toContain('h0');
});

test('a tensor whose data cannot be where the model says is refused, and not written without its data', () => {
  const file = Uint8Array.from({ length: 64 }, (_, at) => at);
  const tensor = (where: Readonly<Record<string, string>>): Uint8Array =>
    joinBytes([
      ...encodeText(8, 'w'),
      ...Object.entries({ location: 'w.bin', ...where }).flatMap(([key, value]) =>
        encode(13, [...encodeText(1, key), ...encodeText(2, value)]),
      ),
      ...encodeNumber(14, 1),
    ]);
  const dataOf = (where: Readonly<Record<string, string>>): Uint8Array | undefined =>
    readTensor(tensor(where), new Map([['w.bin', file]])).data;
  expect(dataOf({ offset: '8', length: '4' })).toEqual(file.subarray(8, 12));
  expect(dataOf({ offset: '60' })).toEqual(file.subarray(60));
  for (const where of [
    { offset: '-8', length: '8' },
    { offset: '16', length: '-8' },
    { offset: '72' },
    { offset: '0.5', length: '8' },
  ])
    expect(() => dataOf(where), JSON.stringify(where)).toThrow(expect.objectContaining({ code: 'model-format' }));
});

/** A folder with a copy of the archive digits, which has its model in both formats. */
function digits(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'tabserve-')), 'digits');
  cpSync(path('public/models/digits'), folder, { recursive: true });
  return folder;
}

async function run(archive: string, flags: OptimizeFlags = {}) {
  const lines: string[] = [];
  const made = await optimize(archive, flags, (line) => lines.push(line));
  return {
    made,
    text: lines.join('\n'),
    extras: JSON.parse(readFileSync(join(made, 'tabserve.json'), 'utf8')) as unknown,
  };
}

test('float16 weights take half the bytes, in both formats, and the archive passes its own check', async () => {
  const archive = digits();
  const { made, text, extras } = await run(archive);
  expect(made).toBe(`${archive}-float16`);
  expect(text).toMatch(
    /digits\.onnx → digits-float16\.onnx: 106 kB → 5\d\.\d kB \(5[0-5] %\), \d+ tensors\n {2}largest difference on the golden examples: \d\S*; before: /,
  );
  expect(text).toMatch(/model\.json → model-float16\.json: 111 kB → \S+ kB \(5\d %\)/);
  expect(readdirSync(made)).toEqual(
    expect.arrayContaining(['digits-float16.bin', 'digits-float16.onnx', 'model-float16.json', 'LICENSE']),
  );
  expect(readdirSync(made)).not.toContain('digits.onnx');
  // One model in one precision: docs/command-line.md says that `client.backend.precision` is undefined, and how to
  // tell.
  expect(extras).toMatchObject({ models: { onnx: 'digits-float16.onnx', tfjs: 'model-float16.json' } });
  expect(readExtras(JSON.stringify(extras)).alternatives).toEqual([]);
  expect((await inspect(join(made, 'digits-float16.onnx'))).text).toMatch(/weights +float16: 52\.4 kB in 4 tensors/);
  expect(readFileSync(join(made, 'MAR-INF/MANIFEST.json'), 'utf8')).toContain(
    '"serializedFile": "digits-float16.onnx"',
  );
  expect(await checkArchive(made)).toMatch(
    /digits-float16\.onnx: opens under Node; 1 golden example reproduced[^]*model-float16\.json[^]*with a SHA-256: 4 files/,
  );
  // What was there stays.
  await expect(run(archive)).rejects.toThrow(/already. Overwrite it with --force/);
  expect((await run(archive, { force: true, output: made })).made).toBe(made);
  await expect(run(made, { output: `${made}-again` })).rejects.toThrow(/no float32 weights/);
});

test('8-bit weights out of tolerance are refused, unless the archive says that labels are enough', async () => {
  const archive = digits();
  await expect(run(archive, { weights: 'int8' })).rejects.toMatchObject({
    code: 'backend-wrong',
    message: expect.stringMatching(/int8 weights are out of tolerance.*add --agreement labels.*Nothing is written/),
  });
  expect(existsSync(`${archive}-int8`)).toBe(false);
  const { made, text, extras } = await run(archive, { weights: 'int8', agreement: 'labels' });
  expect(text).toMatch(/digits-int8\.onnx: 106 kB → [23]\d\.\d kB/);
  expect(extras).toMatchObject({
    models: {
      onnx: { file: 'digits-int8.onnx', agreement: 'labels' },
      tfjs: { file: 'model-int8.json', agreement: 'labels' },
    },
  });
  expect(await checkArchive(made)).toContain('digits-int8.onnx: opens under Node');
});

test('an archive that lacks a file is named by its folder', async () => {
  const archive = digits();
  rmSync(join(archive, 'model.json'));
  await expect(run(archive)).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/digits\S* has no file "model\.json"/),
  });
});

test('without a path, the new archive is beside the old one, and its path is as relative as that of the old one', async () => {
  const folder = digits();
  expect(await optimize(relative('', folder), {}, () => {})).toBe(`${relative('', folder)}-float16`);
});

test('an archive is not written over itself, into itself, or around itself, whatever its path looks like', async () => {
  const folder = digits();
  const link = `${folder}-link`;
  symlinkSync(folder, link);
  for (const [output, why] of [
    [folder, 'is the archive itself'],
    [`${folder}/../${basename(folder)}/`, 'is the archive itself'],
    [link, 'is the archive itself'],
    [join(folder, 'small/deep'), 'is inside of'],
    [join(link, 'small.mar'), 'is inside of'],
    [dirname(folder), 'is a folder that holds'],
  ] as const)
    await expect(
      optimize(folder, { output, force: true }, () => {}),
      output,
    ).rejects.toThrow(why);
  expect(existsSync(join(folder, 'digits.onnx'))).toBe(true);
});

test('an archive may keep its models: the smaller ones are listed by precision, and all are checked', async () => {
  const first = await run(digits(), { keep: true });
  const { made, extras } = await run(first.made, {
    keep: true,
    weights: 'int8',
    agreement: 'labels',
    output: `${first.made}-all`,
  });
  expect(extras).toMatchObject({
    models: {
      onnx: {
        file: 'digits.onnx',
        precisions: {
          'float16-weights': 'digits-float16.onnx',
          'int8-weights': { file: 'digits-int8.onnx', agreement: 'labels' },
        },
      },
    },
  });
  const checked = await checkArchive(made);
  for (const file of ['digits.onnx', 'digits-float16.onnx', 'digits-int8.onnx', 'model.json', 'model-int8.json'])
    expect(checked).toContain(`${file}: opens under Node; 1 golden example reproduced`);
  // A packed archive with several is one download: the report says so.
  const told: string[] = [];
  const flags = { keep: true, output: `${made}.mar`, weights: 'int8', agreement: 'labels' };
  await optimize(first.made, flags, (line) => told.push(line));
  expect(told.at(-1)).toMatch(/^A packed archive is one download, with all its precisions/);
  expect(first.text).not.toContain('packed');
  const single = await run(made, { output: `${made}-single` });
  expect(readdirSync(single.made).filter((name) => /\.(onnx|json|bin)$/.test(name))).toEqual([
    'digits-float16.bin',
    'digits-float16.onnx',
    'index_to_name.json',
    'model-float16.json',
    'tabserve.json',
  ]);
});

/** Makes a file of the archive digits its model in half precision, by its `tabserve.json`. */
function withHalf(folder: string, file: string): string {
  const extras = JSON.parse(readFileSync(join(folder, 'tabserve.json'), 'utf8')) as { readonly models: object };
  const models = { ...extras.models, onnx: { file: 'digits.onnx', precisions: { fp16: file } } };
  writeFileSync(join(folder, 'tabserve.json'), JSON.stringify({ ...extras, models }));
  return folder;
}

test('no other file of the archive is replaced, and a precision whose file is missing is no obstacle; .tgz is a packed archive, too', async () => {
  const taken = withHalf(digits(), 'digits-float16.onnx');
  cpSync(join(taken, 'digits.onnx'), join(taken, 'digits-float16.onnx'));
  await expect(run(taken, { keep: true })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('has a file digits-float16.onnx already'),
  });
  const archive = withHalf(digits(), 'none.onnx');
  const made = await optimize(archive, { output: `${archive}.tgz` }, () => {});
  expect(statSync(made).isFile()).toBe(true);
  expect(await checkArchive(made)).toContain('digits-float16.onnx: opens under Node; 1 golden example reproduced');
});

test("a workflow's nodes are optimized in their folders, also in a packed archive", async () => {
  const inner = digits();
  const workflow = join(mkdtempSync(join(tmpdir(), 'tabserve-')), 'pair');
  cpSync(inner, join(workflow, 'first'), { recursive: true });
  cpSync(inner, join(workflow, 'second'), { recursive: true });
  for (const one of ['first', 'second']) rmSync(join(workflow, one, 'samples'), { recursive: true });
  cpSync(join(inner, 'MAR-INF'), join(workflow, 'MAR-INF'), { recursive: true });
  writeFileSync(
    join(workflow, 'MAR-INF/MANIFEST.json'),
    JSON.stringify({ model: { modelName: 'pair', configFile: 'model-config.yaml' } }),
  );
  writeFileSync(join(workflow, 'model-config.yaml'), 'nodes:\n  first: first/\n  second: second/\n');
  const made = await optimize(workflow, { output: `${workflow}.mar` }, () => {});
  const checked = await checkArchive(made);
  expect(checked).toContain('first/digits-float16.onnx: opens under Node; 1 golden example reproduced');
  expect(checked).toContain('second/model-float16.json: opens under Node; 1 golden example reproduced');
  expect(statSync(made).isFile()).toBe(true);
  const again = await optimize(
    made,
    { output: `${workflow}.tar.gz`, weights: 'int8', agreement: 'labels' },
    () => {},
  ).catch((error: Error) => error.message);
  expect(again).toContain('no float32 weights');
});

const refused: readonly (readonly [
  what: string,
  prepare: (folder: string) => string,
  flags: OptimizeFlags,
  words: RegExp,
])[] = [
  [
    'a model file',
    (folder) => join(folder, 'digits.onnx'),
    {},
    /is a model, not an archive.*tabserve archive --golden/,
  ],
  [
    'no archive',
    (folder) => (rmSync(join(folder, 'MAR-INF'), { recursive: true }), folder),
    {},
    /has no MAR-INF\/MANIFEST\.json/,
  ],
  ['no file', (folder) => `${folder}-none`, {}, /There is no file or folder/],
  [
    'no golden examples',
    (folder) => (writeFileSync(join(folder, 'tabserve.json'), '{}'), folder),
    {},
    /no golden examples.*tabserve archive --golden/,
  ],
  ['unknown weights', (folder) => folder, { weights: 'float8' }, /--weights: expected float16 or int8, got "float8"/],
  ['an unknown agreement', (folder) => folder, { weights: 'int8', agreement: 'boxes' }, /--agreement: expected labels/],
  [
    'an output that a slash makes a folder, and is a file',
    (folder) => folder,
    { output: `${goldens}/expected.json/` },
    /expected\.json\/ cannot be written: what is in front of a slash must be a folder/,
  ],
  [
    'an output below a file',
    (folder) => folder,
    { output: `${goldens}/expected.json/a.mar` },
    /a\.mar cannot be written: what is in front of a slash must be a folder/,
  ],
  ['an agreement for float16', (folder) => folder, { agreement: 'labels' }, /--agreement goes with --weights int8/],
];

for (const [what, prepare, flags, words] of refused)
  test(`optimize refuses ${what}`, async () => await expect(run(prepare(digits()), flags)).rejects.toThrow(words));

for (const [what, onnx, words] of [
  [
    'a precision that is none',
    { file: 'm.onnx', precisions: { fp8: 'm8.onnx' } },
    /models\.onnx\.precisions\.fp8 is no precision; expected fp16,/,
  ],
  [
    'another precision for the file itself',
    { file: 'm.onnx', precisions: { fp32: 'm8.onnx' } },
    /fp32 is no precision/,
  ],
  [
    "the model's file as that of another precision",
    { file: 'm.onnx', precisions: { fp16: 'm.onnx' } },
    /models\.onnx\.precisions: expected another file for each precision/,
  ],
  [
    'one file for two precisions',
    { file: 'm.onnx', precisions: { fp16: 'h.onnx', 'float16-weights': 'h.onnx' } },
    /precisions: expected another file for each/,
  ],
  ['a list of precisions', { file: 'm.onnx', precisions: ['fp16'] }, /models\.onnx\.precisions: expected a mapping/],
  [
    'a file of another format',
    { file: 'm.onnx', precisions: { fp16: 'm.json' } },
    /precisions\.fp16: expected the path of a file ending in \.onnx/,
  ],
  [
    'an agreement that is none',
    { file: 'm.onnx', agreement: true },
    /models\.onnx\.agreement: expected "labels", got true/,
  ],
  [
    'an agreement of a precision that is none',
    { file: 'm.onnx', precisions: { fp16: { file: 'a.onnx', agreement: 'boxes' } } },
    /fp16\.agreement: expected "labels"/,
  ],
] as const)
  test(`tabserve.json with ${what} is refused`, () =>
    expect(() => readExtras(JSON.stringify({ models: { onnx } }))).toThrow(
      expect.objectContaining({ code: 'model-format', message: expect.stringMatching(words) }),
    ));
