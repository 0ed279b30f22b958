import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { fetchArchive } from '../../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../../src/worker/models/model-files.ts';
import { buildZip, type ZipFile } from '../../support/zip-builder.ts';

const MIB = 2 ** 20;
const nothing = { fetch: () => Promise.reject(new Error('no request is to be made')) };
const manifest: ZipFile = {
  name: 'MAR-INF/MANIFEST.json',
  data: JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx' } }),
};
const model: ZipFile = { name: 'm.onnx', data: 'weights', method: 8 };
const open = async (bytes: Uint8Array<ArrayBuffer>, name = 'm.mar') =>
  await fetchModel(await fetchArchive(new File([bytes], name), nothing), 'onnx', nothing);

/** Counts what every DecompressionStream gives out while `work` runs. */
async function inflated(work: () => Promise<unknown>): Promise<{ bytes: number; error: unknown }> {
  const Original = globalThis.DecompressionStream;
  let bytes = 0;
  class Counting {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<BufferSource>;
    constructor(format: CompressionFormat) {
      const stream = new Original(format);
      this.writable = stream.writable;
      this.readable = (stream.readable as ReadableStream<Uint8Array>).pipeThrough(
        new TransformStream({
          transform(chunk: Uint8Array, controller) {
            bytes += chunk.byteLength;
            controller.enqueue(chunk);
          },
        }),
      );
    }
  }
  globalThis.DecompressionStream = Counting as never;
  try {
    return {
      error: await work().then(
        () => undefined,
        (reason: unknown) => reason,
      ),
      bytes,
    };
  } finally {
    globalThis.DecompressionStream = Original;
  }
}

test('what the builder writes is a zip file; zip64 is one too', async () => {
  for (const zip64 of [false, true]) {
    const archive = await open(
      buildZip(
        [
          { ...manifest, zip64 },
          { ...model, zip64 },
        ],
        { comment: 'made by hand' },
      ),
    );
    expect(await archive.files['m.onnx']!.text()).toBe('weights');
  }
});

const SLIP = [
  '../m.txt',
  'a/../../m.txt',
  '/etc/passwd',
  'C:\\m.txt',
  'c:m.txt',
  'a\\..\\m.txt',
  '\\\\host\\m',
  'a//m.txt',
  './m.txt',
  'a/./m',
  'm\0.txt',
  'm\n.txt',
  'x'.repeat(2000),
];

for (const [what, files, options, code, message] of [
  ...SLIP.map(
    (name) =>
      [
        `the path ${JSON.stringify(name.slice(0, 20))}`,
        [manifest, model, { name, flags: 0x800 }],
        {},
        'model-format',
        /./,
      ] as const,
  ),
  ['two files of one name', [manifest, model, { ...model, data: 'others' }], {}, 'model-format', /duplicate|twice/],
  [
    'two names that differ in Unicode alone',
    [manifest, model, { name: 'caf\u00e9' }, { name: 'cafe\u0301' }],
    {},
    'model-format',
    /twice/,
  ],
  ['no files at all', [], {}, 'model-not-found', /MANIFEST\.json/],
  ['a list of files cut short', [manifest, model], { cut: 30 }, 'model-format', /damaged zip/],
  ['an end cut short', [manifest, model], { cut: 5 }, 'model-format', /damaged zip/],
  ['a list that promises more files', [manifest, model], { count: 9 }, 'model-format', /damaged zip/],
  ['a list that hides a file', [manifest, model], { count: 1 }, 'model-format', /damaged zip/],
  [
    'two files in one place',
    [manifest, model, { ...model, name: 'n.onnx', offset: 0 }],
    {},
    'model-format',
    /damaged zip|overlap/,
  ],
  ['a file past the end', [manifest, { ...model, offset: 1e6 }], {}, 'model-format', /damaged zip/],
  [
    'another name in front of the data',
    [manifest, { ...model, localName: 'n.onnx' }],
    {},
    'model-format',
    /ambiguous|mismatch/i,
  ],
  ['a wrong checksum, deflated', [manifest, { ...model, crc: 1 }], {}, 'model-format', /CRC32/],
  ['a wrong checksum, stored', [manifest, { ...model, method: 0, crc: 1 }], {}, 'model-format', /CRC32/],
  [
    'bytes that are not deflated',
    [manifest, { ...model, packed: Buffer.from('no deflate stream') }],
    {},
    'model-format',
    /damaged zip/,
  ],
  ['less than its size says', [manifest, { ...model, size: 100 }], {}, 'model-format', /damaged zip/],
  ['an encrypted file', [manifest, { ...model, flags: 1 }], {}, 'unsupported', /encrypted/],
  ['another method', [manifest, { ...model, method: 14 }], {}, 'unsupported', /method 14/],
  ['a link', [manifest, { ...model, externalAttributes: 0xa1ff0000 }], {}, 'unsupported', /link/],
  [
    'a manifest in another spelling',
    [{ ...manifest, name: 'mar-inf/manifest.json' }, model, { name: 'n.onnx' }],
    {},
    'model-not-found',
    /MAR-INF\/MANIFEST\.json.*mar-inf\/manifest\.json/,
  ],
  [
    'a model in another spelling',
    [manifest, { ...model, name: 'M.onnx' }],
    {},
    'model-not-found',
    /"m\.onnx".*M\.onnx/,
  ],
  [
    'a terabyte, as it says',
    [manifest, { ...model, size: 2 ** 40, zip64: true }],
    {},
    'model-format',
    /unpacks to more/,
  ],
  [
    'too many files',
    [manifest, model, ...Array.from({ length: 10_000 }, (_, at) => ({ name: String(at) }))],
    {},
    'model-format',
    /more than 10000 files/,
  ],
  [
    'too many folders',
    [manifest, model, ...Array.from({ length: 10_000 }, (_, at) => ({ name: `${at}/` }))],
    {},
    'model-format',
    /more than 10000 files and folders/,
  ],
] as const)
  test(`a zip file with ${what}: ${code}`, async () => {
    const { error, bytes } = await inflated(() => open(buildZip(files as readonly ZipFile[], options)));
    expect(error).toMatchObject({ name: 'TabServeError', code, message: expect.stringMatching(message) });
    expect(bytes).toBeLessThan(1000);
    // No message repeats what the archive says at length.
    expect((error as Error).message.length).toBeLessThan(2000);
  });

test('inflating stops at the declared size', async () => {
  const bomb = { name: 'm.onnx', data: Buffer.alloc(256 * MIB), method: 8, size: 1000 };
  const { error, bytes } = await inflated(() => open(buildZip([manifest, bomb])));
  expect(error).toMatchObject({ code: 'model-format', message: expect.stringMatching(/uncompressed size/i) });
  expect(bytes).toBeLessThan(32 * MIB);
});

test('a bomb that tells its size is not inflated at all', async () => {
  const bomb = { name: 'm.onnx', data: Buffer.alloc(100 * MIB), method: 8 };
  const { error, bytes } = await inflated(() => open(buildZip([manifest, bomb])));
  expect(error).toMatchObject({ code: 'model-format', message: expect.stringContaining('unpacks to more than') });
  expect(bytes).toBe(0);
});

test('mostly zeros within the limits are no bomb', async () => {
  const archive = await open(buildZip([manifest, { name: 'm.onnx', data: Buffer.alloc(MIB), method: 8 }]));
  expect(archive.files['m.onnx']!.size).toBe(MIB);
});

/** One file of a tar archive (POSIX.1-1988, ustar). */
function tarFile(name: string, data: string | Buffer = '', { type = '0', size = data.length } = {}): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write(
    `0000644\0${'0000000\0'.repeat(2)}${size.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0        ${type}`,
    100,
  );
  header.write('ustar\x0000', 257);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  const body = Buffer.from(data as string);
  return Buffer.concat([header, body, Buffer.alloc(-body.length & 511)]);
}

const END = Buffer.alloc(1024);
const tarManifest = tarFile('MAR-INF/MANIFEST.json', manifest.data as string);
const pack = (...parts: Buffer[]): Uint8Array<ArrayBuffer> => Uint8Array.from(gzipSync(Buffer.concat(parts)));

for (const [what, bytes, code] of [
  ['a path that leads out', pack(tarManifest, tarFile('../m.onnx'), END), 'model-format'],
  ['an absolute path', pack(tarManifest, tarFile('/m.onnx'), END), 'model-format'],
  ['a file twice', pack(tarManifest, tarFile('m.onnx'), tarFile('./m.onnx'), END), 'model-format'],
  ['a link', pack(tarManifest, tarFile('m.onnx', '', { type: '2' }), END), 'unsupported'],
  ['a device', pack(tarManifest, tarFile('m.onnx', '', { type: '3' }), END), 'unsupported'],
  [
    'too many folders',
    pack(tarManifest, ...Array<Buffer>(10_000).fill(tarFile('d/', '', { type: '5' })), END),
    'model-format',
  ],
  ['a sparse file', pack(tarManifest, tarFile('m.onnx', 'weights', { type: 'S' }), END), 'unsupported'],
  ['a file of an unknown type', pack(tarManifest, tarFile('m.onnx', 'weights', { type: 'Z' }), END), 'unsupported'],
  ['no end', pack(tarManifest, tarFile('m.onnx', 'weights')), 'model-format'],
  ['a size beyond its end', pack(tarManifest, tarFile('m.onnx', 'weights', { size: 1e9 }), END), 'model-format'],
  ['a damaged header', pack(tarManifest, Buffer.alloc(512, 7), END), 'model-format'],
  ['a gzip stream cut short', pack(tarManifest, tarFile('m.onnx', 'weights'), END).slice(0, -12), 'model-format'],
] as const)
  test(`a tar file with ${what}: ${code}`, async () => {
    const { error, bytes: produced } = await inflated(() => open(bytes, 'm.tar.gz'));
    expect(error).toMatchObject({ name: 'TabServeError', code });
    expect(produced).toBeLessThan(10_000_000);
  });

test('a tar file, compressed or not: the limit holds while it is inflated', async () => {
  const plain = Buffer.concat([tarManifest, tarFile('./m.onnx', 'weights'), END]);
  for (const bytes of [Uint8Array.from(plain), pack(plain)])
    expect(await (await open(bytes, 'm.tar.gz')).files['m.onnx']!.text()).toBe('weights');
  const bomb = pack(tarManifest, tarFile('m.onnx', Buffer.alloc(200 * MIB)), END);
  const { error, bytes } = await inflated(() => open(bomb, 'm.tgz'));
  expect(error).toMatchObject({ code: 'model-format', message: expect.stringContaining('unpacks to more than') });
  expect(bytes).toBeLessThan(100 * MIB);
});

test('what is no archive, whatever its name', async () => {
  for (const content of ['', 'P', '<!doctype html>'])
    await expect(open(Uint8Array.from(Buffer.from(content)), 'm.mar')).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('m.mar is no packed archive'),
    });
});
