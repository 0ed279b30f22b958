import { test } from '@playwright/test';
import * as fc from 'fast-check';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { readSignature } from '../../../../src/worker/engines/onnx/signature.ts';
import { parseConfig } from '../../../../src/worker/models/config.ts';
import { readGolden } from '../../../../src/worker/models/golden.ts';
import { readExtras, readManifest } from '../../../../src/worker/models/manifest.ts';
import { readSafetensors } from '../../../../src/worker/tensors/safetensors.ts';
import { readWeightsManifest } from '../../../../src/worker/models/shards.ts';

/** Names that every object has, and names that the formats know. */
const KEYS = [
  'constructor',
  '__proto__',
  'toString',
  '__metadata__',
  'model',
  'modelName',
  'serializedFile',
  'configFile',
  'models',
  'onnx',
  'tfjs',
  'file',
  'config',
  'golden',
  'files',
  'bytes',
  'sha256',
  'dtype',
  'shape',
  'data_offsets',
  'inputs/x',
  'outputs/y',
  'modelTopology',
  'weightsManifest',
  'paths',
  'weights',
  'quantization',
  'handler',
  'engine',
];
const VALUES = [
  'F32',
  'constructor',
  '__proto__',
  'm.onnx',
  'm.json',
  '{"seed": 1, "dims": [4]}',
  '{"stride": 0, "dims": []}',
  'float32',
  'complex64',
];

const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, -1, 0, 8, 1e300, ...VALUES),
    fc.string(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), tie('value'), { maxKeys: 5 }),
  ),
})).value;

const text = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  fc.string(),
);

/** A `.safetensors` file with any header. */
const tensors = fc.oneof(
  fc.uint8Array(),
  fc.tuple(text, fc.uint8Array({ maxLength: 64 })).map(([header, data]) => {
    const bytes = new TextEncoder().encode(header);
    const file = new Uint8Array(8 + bytes.length + data.length);
    new DataView(file.buffer).setBigUint64(0, BigInt(bytes.length), true);
    file.set(bytes, 8);
    file.set(data, 8 + bytes.length);
    return file;
  }),
);

/** What any input gives: a value, or an error of ours. */
const PARSERS = {
  'a manifest': [text, readManifest],
  'tabserve.json': [text, readExtras],
  'model.json': [text, (value: string) => readWeightsManifest(value, 'tf/model.json')],
  'model-config.yaml': [text, (value: string) => parseConfig(value, 'model-config.yaml')],
  safetensors: [tensors, (value: Uint8Array) => readSafetensors(value, 'x')],
  'a golden example': [tensors, (value: Uint8Array) => readGolden(value, 'x')],
  'an ONNX file': [fc.uint8Array({ maxLength: 200 }), readSignature],
} as unknown as Record<string, [fc.Arbitrary<unknown>, (value: unknown) => unknown]>;

// Node.js prints what the YAML reader warns of.
test.beforeAll(() => void process.removeAllListeners('warning'));

for (const [what, [inputs, parse]] of Object.entries(PARSERS)) {
  test(`${what}: whatever it contains, the error is a TabServeError`, async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        try {
          await parse(input);
        } catch (error) {
          // `expect` reports each call, which takes longer than the parser.
          if (!(error instanceof TabServeError)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });
}
