import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { createArchive, type ArchiveFlags } from '../../../../src/tools/cli/archive.ts';
import { addExtraFiles, type ArchiveFiles } from '../../../../src/tools/cli/archive-files.ts';
import { checkArchive } from '../../../../src/tools/cli/check.ts';
import { testArchive } from '../../../../src/tools/cli/test.ts';
import { withToolAdvice } from '../../../../src/tools/cli/load-options.ts';
import { formatRows, printable } from '../../../../src/tools/cli/text.ts';
import { updateHashes } from '../../../../src/tools/cli/update-hashes.ts';
import { writeSafetensors } from '../../../../src/tools/cli/write-safetensors.ts';
import { readSafetensors } from '../../../../src/worker/tensors/safetensors.ts';
import { readForTest } from '../../../../src/tools/testing/run.ts';
import { proveHandlers } from '../../../../src/worker/host/prove.ts';
import { GENERATION } from '../../worker/generation/models.ts';
import { open } from '../../worker/generation/pair-models.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
const folder = (): string => mkdtempSync(join(tmpdir(), 'tabserve-'));

const digits = (more: ArchiveFlags = {}): ArchiveFlags => ({
  'model-name': 'digits',
  version: '1.2',
  'serialized-file': path('public/models/digits/digits.onnx'),
  handler: 'image_classifier',
  'config-file': path('public/models/digits/model-config.yaml'),
  'extra-files': path('public/models/digits/index_to_name.json'),
  'export-path': folder(),
  ...more,
});

for (const what of ['a model', 'a folder without a manifest']) {
  test(`--check of ${what}, which names no handler: the error says to pack it`, async () => {
    const model = path('public/models/digits/digits.onnx');
    const given = what === 'a model' ? model : folder();
    if (given !== model) copyFileSync(model, join(given, 'digits.onnx'));
    const expected = {
      code: 'unknown-handler',
      message: `${given} names no handler, as an archive does. Pack it with npx tabserve archive --serialized-file and --handler.`,
    };
    await expect(checkArchive(given)).rejects.toMatchObject(expected);
    await expect(readForTest(given, true)).rejects.toMatchObject(expected);
  });
}

const FORMATS = { default: 'digits.mar', 'zip-store': 'digits.mar', tgz: 'digits.tar.gz', 'no-archive': 'digits' };

for (const [format, name] of Object.entries(FORMATS)) {
  test(`an archive in the format ${format} passes its own check`, async () => {
    const flags = digits({ 'archive-format': format, golden: 'seed:1' });
    const { path: made, files } = await createArchive(flags);
    expect(made).toBe(join(flags['export-path']!, name));
    expect(files.map(([file]) => file).sort()).toEqual([
      'MAR-INF/MANIFEST.json',
      'digits.onnx',
      'golden/seed-1.safetensors',
      'index_to_name.json',
      'model-config.yaml',
      'tabserve.json',
    ]);
    expect(await checkArchive(made)).toMatch(/digits\.onnx: opens under Node; 1 golden example reproduced/);
  });
}

test('other programs unpack the archives, and find the manifest that torch-model-archiver writes', async () => {
  const zip = await createArchive(digits());
  const tar = await createArchive(digits({ 'archive-format': 'tgz' }));
  const unzipped = execFileSync('python3', ['-m', 'zipfile', '-l', zip.path], { encoding: 'utf8' });
  expect(unzipped).toContain('MAR-INF/MANIFEST.json');
  const listed = execFileSync('tar', ['-tzf', tar.path], { encoding: 'utf8' }).trim().split('\n').sort();
  expect(listed).toContain('digits/MAR-INF/MANIFEST.json');
  const text = execFileSync('tar', ['-xzOf', tar.path, 'digits/MAR-INF/MANIFEST.json'], { encoding: 'utf8' });
  expect(JSON.parse(text)).toMatchObject({
    createdOn: expect.stringMatching(/^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d$/),
    runtime: 'python',
    model: {
      modelName: 'digits',
      serializedFile: 'digits.onnx',
      handler: 'image_classifier',
      modelVersion: '1.2',
      configFile: 'model-config.yaml',
    },
  });
});

test('every file but the manifest has its size and SHA-256', async () => {
  const { path: made } = await createArchive(digits({ 'archive-format': 'no-archive' }));
  const { files } = JSON.parse(readFileSync(join(made, 'tabserve.json'), 'utf8')) as { files: Record<string, unknown> };
  const model = readFileSync(path('public/models/digits/digits.onnx'));
  expect(files['digits.onnx']).toEqual({
    bytes: model.length,
    sha256: createHash('sha256').update(model).digest('hex'),
  });
  expect(Object.keys(files).sort()).toEqual(['digits.onnx', 'index_to_name.json', 'model-config.yaml']);
});

test('a check finds a damaged file, and a golden example that the model does not reproduce', async () => {
  const { path: made } = await createArchive(digits({ 'archive-format': 'no-archive', golden: 'seed:1' }));
  const labels = join(made, 'index_to_name.json');
  writeFileSync(labels, readFileSync(labels, 'utf8').replace('7', '8'));
  await expect(checkArchive(made)).rejects.toMatchObject({ code: 'model-format' });

  const { path: other } = await createArchive(digits({ 'archive-format': 'no-archive', golden: 'seed:1' }));
  const golden = join(other, 'golden/seed-1.safetensors');
  const bytes = readFileSync(golden);
  new DataView(bytes.buffer, bytes.byteOffset).setFloat32(bytes.length - 4, 99, true);
  writeFileSync(golden, bytes);
  const extras = join(other, 'tabserve.json');
  const json = JSON.parse(readFileSync(extras, 'utf8')) as { files: Record<string, unknown> };
  delete json.files['golden/seed-1.safetensors'];
  writeFileSync(extras, JSON.stringify(json));
  await expect(checkArchive(other)).rejects.toMatchObject({ code: 'backend-wrong' });
});

test('files that were edited: the error says what to do, and that brings their sizes and hashes up to date', async () => {
  const { path: made } = await createArchive(digits({ 'archive-format': 'no-archive', golden: 'seed:1' }));
  const extras = join(made, 'tabserve.json');
  const json = JSON.parse(readFileSync(extras, 'utf8')) as { files: Record<string, Record<string, unknown>> };
  // What is not listed stays so, and what an entry lacks.
  delete json.files['digits.onnx'];
  delete json.files['model-config.yaml']!['bytes'];
  writeFileSync(extras, JSON.stringify(json));
  expect(await updateHashes(made)).toBe('digits: 0 of 3 hashes updated');
  expect(readFileSync(extras, 'utf8')).toBe(JSON.stringify(json));
  const edit = (name: string, by: (text: string) => string): void =>
    writeFileSync(join(made, name), by(readFileSync(join(made, name), 'utf8')));
  edit('model-config.yaml', (text) => `${text}\n# edited\n`);
  await expect(checkArchive(made)).rejects.toThrow(
    /^model-config\.yaml has the SHA-256 .*npx tabserve archive --update-hashes FOLDER/,
  );
  edit('index_to_name.json', (text) => text.replace('seven', 'sieben'));
  expect(await updateHashes(made)).toBe(
    'digits: 2 of 3 hashes updated\n  model-config.yaml\n  index_to_name.json\n  tabserve.json: parsedConfig',
  );
  const updated = JSON.parse(readFileSync(extras, 'utf8')) as typeof json;
  const config = readFileSync(join(made, 'model-config.yaml'));
  expect(updated.files['model-config.yaml']).toEqual({ sha256: createHash('sha256').update(config).digest('hex') });
  expect(updated).toEqual({
    ...json,
    files: {
      ...json.files,
      'model-config.yaml': expect.anything(),
      'index_to_name.json': {
        bytes: readFileSync(join(made, 'index_to_name.json')).length,
        sha256: expect.any(String),
      },
    },
    parsedConfig: {
      sha256: updated.files['model-config.yaml']!['sha256'],
      // As public/models/digits/model-config.yaml has it.
      config: {
        handler: {
          imageProcessing: [
            'grayscale',
            { resize: [28, 28] },
            'toTensor',
            { normalize: { mean: [0.1307], std: [0.3081] } },
          ],
          output: 'logits',
          topK: 5,
        },
      },
    },
  });
  expect(await checkArchive(made)).toContain('with a SHA-256: 3 files');
});

test('an empty tabserve.json among the extra files says nothing', async () => {
  const extras = join(folder(), 'tabserve.json');
  writeFileSync(extras, 'null');
  const { path: made } = await createArchive(digits({ 'extra-files': extras, 'archive-format': 'no-archive' }));
  const written = JSON.parse(readFileSync(join(made, 'tabserve.json'), 'utf8')) as object;
  expect(Object.keys(written)).toEqual(['files', 'parsedConfig']);
});

test('a config that JSON cannot hold is left to the visitor’s parser', async () => {
  const config = join(folder(), 'model-config.yaml');
  writeFileSync(config, 'handler: { custom: .inf }\n');
  const { path: made } = await createArchive(digits({ 'config-file': config, 'archive-format': 'no-archive' }));
  const written = JSON.parse(readFileSync(join(made, 'tabserve.json'), 'utf8')) as object;
  expect(Object.keys(written)).toEqual(['files']);
});

test('hashes of a workflow: those of its nodes first, which it may list', async () => {
  const root = folder();
  mkdirSync(join(root, 'node'));
  const list = (where: string, files: object): void => writeFileSync(join(root, where), JSON.stringify({ files }));
  writeFileSync(join(root, 'node/a.json'), '{}');
  list('node/tabserve.json', { 'a.json': { bytes: 1 } });
  list('tabserve.json', { 'node/tabserve.json': { bytes: 1 }, 'node/a.json': { bytes: 2 } });
  const lines = (await updateHashes(root)).split('\n');
  expect(lines.slice(1)).toEqual(['  node/a.json', '  node/tabserve.json']);
  expect(await updateHashes(root)).toBe(`${basename(root)}: 0 of 3 hashes updated`);
});

test('hashes that cannot be updated', async () => {
  const root = folder();
  await expect(updateHashes(root)).rejects.toMatchObject({ code: 'model-config' });
  await expect(updateHashes(path('package.json'))).rejects.toMatchObject({ code: 'model-config' });
  writeFileSync(join(root, 'tabserve.json'), JSON.stringify({ files: { 'a.json': { bytes: 1 } } }));
  await expect(updateHashes(root)).rejects.toThrow('tabserve.json: a.json is listed under files, and is not there.');
  writeFileSync(join(root, 'tabserve.json'), JSON.stringify({ files: { 'tabserve.json': { bytes: 1 } } }));
  await expect(updateHashes(root)).rejects.toThrow('tabserve.json lists itself under files');
  writeFileSync(join(root, 'tabserve.json'), 'null');
  await expect(updateHashes(root)).rejects.toMatchObject({ code: 'model-config' });
});

test('hashes of a file whose name is composed in another way than its entry', async () => {
  const [composed, decomposed] = ['\u00fc.json', 'u\u0308.json'];
  for (const [file, entry] of [
    [composed, decomposed],
    [decomposed, composed],
  ] as const) {
    const root = folder();
    writeFileSync(join(root, file), '{}');
    writeFileSync(join(root, 'tabserve.json'), JSON.stringify({ files: { [entry]: { bytes: 1 } } }));
    expect(await updateHashes(root)).toContain('1 of 1 hashes updated');
    const updated = JSON.parse(readFileSync(join(root, 'tabserve.json'), 'utf8')) as unknown;
    expect(updated).toEqual({ files: { [entry]: { bytes: 2 } } });
  }
});

test('hashes are updated in all files or in none, without what an interruption could lose', async () => {
  const root = folder();
  const list = join(root, 'tabserve.json');
  const node = join(root, 'node/tabserve.json');
  mkdirSync(join(root, 'node'));
  writeFileSync(join(root, 'node/a.json'), '{}');
  const stale = JSON.stringify({ files: { 'a.json': { bytes: 1, source: 'a key of the app' } } });
  writeFileSync(node, stale);
  for (const [wrong, message] of [
    ['{', /^tabserve\.json is not JSON/],
    ['{ "files": [] }', /^tabserve\.json: files: expected/],
    ['{ "files": { "b.json": {} } }', /^tabserve\.json: b\.json is listed/],
  ] as const) {
    writeFileSync(list, wrong);
    await expect(updateHashes(root)).rejects.toThrow(message);
    expect(readFileSync(node, 'utf8')).toBe(stale);
  }
  writeFileSync(node, '{');
  await expect(updateHashes(root)).rejects.toThrow(/^node\/tabserve\.json is not JSON/);
  writeFileSync(node, stale);
  renameSync(list, join(root, 'other.json'));
  symlinkSync('other.json', list);
  await expect(updateHashes(root)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/^tabserve\.json is a symbolic link/),
  });
  expect(readFileSync(node, 'utf8')).toBe(stale);
  rmSync(list);
  // One list that cannot be written leaves the others as they are.
  writeFileSync(list, JSON.stringify({ files: { 'node/tabserve.json': { bytes: 1 } } }));
  mkdirSync(join(root, '.tabserve.json.new'));
  await expect(updateHashes(root)).rejects.toThrow('.tabserve.json.new');
  expect(readFileSync(node, 'utf8')).toBe(stale);
  rmSync(join(root, '.tabserve.json.new'), { recursive: true });
  rmSync(list);
  // More than the umask grants a new file.
  chmodSync(node, 0o666);
  await updateHashes(root);
  expect(JSON.parse(readFileSync(node, 'utf8'))).toEqual({
    files: { 'a.json': { bytes: 2, source: 'a key of the app' } },
  });
  expect(statSync(node).mode & 0o777).toBe(0o666);
  expect(readdirSync(join(root, 'node')).sort()).toEqual(['a.json', 'tabserve.json']);
});

test('an image, a text and tensors become golden examples', async () => {
  const image = await createArchive(
    digits({ 'archive-format': 'no-archive', golden: path('public/models/digits/samples/digit-8.png') }),
  );
  expect(readdirSync(join(image.path, 'golden'))).toEqual(['digit-8.safetensors']);
  expect(await checkArchive(image.path)).toMatch(/1 golden example/);

  // Tensors without outputs are inputs.
  const { tensors: all } = readSafetensors(readFileSync(join(image.path, 'golden/digit-8.safetensors')), 'example');
  const inputs = join(folder(), 'inputs.safetensors');
  writeFileSync(inputs, writeSafetensors({ image: all['inputs/image']! }, {}));
  const tensors = await createArchive(digits({ golden: inputs }));
  expect(await checkArchive(tensors.path)).toMatch(/1 golden example/);

  const text = join(folder(), 'hello.txt');
  writeFileSync(text, 'Guten Morgen, wie geht es dir heute?');
  const languages = path('public/models/languages');
  const made = await createArchive({
    'model-name': 'languages',
    'serialized-file': join(languages, 'languages.onnx'),
    handler: 'text_classifier',
    'config-file': join(languages, 'model-config.yaml'),
    'extra-files': `${join(languages, 'index_to_name.json')}, ${join(languages, 'token*.json')}`,
    'export-path': folder(),
    golden: text,
  });
  expect(await checkArchive(made.path)).toMatch(/1 golden example reproduced/);
});

test('a golden example that a backend of zeros would reproduce causes a warning', async () => {
  const image = path('public/models/digits/samples/digit-8.png');
  expect((await createArchive(digits({ golden: `seed:1,${image}` }))).warnings).toEqual([]);
  const example = (data: Float32Array): string => {
    const file = join(folder(), 'flat.safetensors');
    const tensor = { dtype: 'float32', dims: [1, 10], data } as const;
    writeFileSync(
      file,
      writeSafetensors(
        {
          'inputs/image': { dtype: 'float32', dims: [1, 1, 28, 28], data: new Float32Array(784) },
          'outputs/logits': tensor,
        },
        {},
      ),
    );
    return file;
  };
  for (const value of [0, 5e-5, -7])
    expect(
      (await createArchive(digits({ golden: example(new Float32Array(10).fill(value)) }))).warnings,
      `${value}`,
    ).toEqual([expect.stringContaining('golden/flat.safetensors')]);
  expect(
    (await createArchive(digits({ golden: example(Float32Array.from({ length: 10 }, (_, at) => at / 100)) }))).warnings,
  ).toEqual([]);
});

test('the check of a folder of Hugging Face’s layout has the folder’s name', async () => {
  expect(await checkArchive(path('test/models/hugging-face/vit'))).toMatch(/^vit: vit, image_classifier\n/);
});

test('a file with outputs is a golden example as it is, and a check compares the model with it', async () => {
  const made = await createArchive(digits({ 'archive-format': 'no-archive', golden: 'seed:1' }));
  const example = readFileSync(join(made.path, 'golden/seed-1.safetensors'));
  const right = join(folder(), 'python.safetensors');
  writeFileSync(right, example);
  const same = await createArchive(digits({ 'archive-format': 'no-archive', golden: right }));
  expect(readFileSync(join(same.path, 'golden/python.safetensors'))).toEqual(example);
  expect(await checkArchive(same.path)).toMatch(/1 golden example reproduced/);

  const wrong = Buffer.from(example);
  wrong.writeFloatLE(99, wrong.length - 4);
  writeFileSync(right, wrong);
  const other = await createArchive(digits({ golden: right }));
  await expect(checkArchive(other.path)).rejects.toMatchObject({ code: 'backend-wrong' });
});

test('a TensorFlow.js model takes its shards along', async () => {
  const { files } = await createArchive({
    'model-name': 'tiny',
    'serialized-file': path('public/models/digits/model.json'),
    handler: 'image_classifier',
    'config-file': path('public/models/digits/model-config.yaml'),
    'extra-files': path('public/models/digits/index_to_name.json'),
    'export-path': folder(),
  });
  expect(files.map(([file]) => file)).toContainEqual(expect.stringMatching(/\.bin$/));
});

test('an ONNX model takes its external data along', async () => {
  const external = path('test/models/external-data');
  const { path: made, files } = await createArchive({
    'model-name': 'external',
    'serialized-file': join(external, 'model.onnx'),
    handler: 'base_handler',
    'export-path': folder(),
  });
  expect(files.map(([file]) => file)).toContain('model.onnx_data');
  expect(await checkArchive(made)).toMatch(/opens under Node/);
});

for (const [model, handler] of Object.entries({
  vit: 'image_classifier',
  rtdetr: 'object_detector',
  segformer: 'image_segmenter',
  bert: 'text_classifier',
})) {
  test(`a folder of Hugging Face's layout becomes an archive of TorchServe's: ${model}`, async () => {
    const flags = {
      'model-name': model,
      'serialized-file': path(`test/models/hugging-face/${model}`),
      'export-path': folder(),
    };
    const made = await createArchive({ ...flags, 'archive-format': 'no-archive' });
    const names = made.files.map(([file]) => file);
    // The folder of this SegFormer has its model in 8 bits only.
    const file = model === 'segformer' ? 'model_quantized.onnx' : 'model.onnx';
    expect(names).toEqual(expect.arrayContaining(['MAR-INF/MANIFEST.json', file, 'model-config.yaml']));
    expect(names).not.toContain('config.json');
    expect(names.includes('tokenizer.json')).toBe(handler === 'text_classifier');
    expect(await checkArchive(made.path)).toMatch(new RegExp(`${handler}\\n  ${file}: opens under Node`));
  });
}

test('an architecture that no handler is for is refused, unless a handler is named', async () => {
  const source = folder();
  cpSync(path('test/models/hugging-face/bert'), source, { recursive: true });
  const config = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8')) as object;
  writeFileSync(join(source, 'config.json'), JSON.stringify({ ...config, architectures: ['BertForFrobnication'] }));
  const flags = { 'model-name': 'own', 'serialized-file': source, 'export-path': folder() };
  await expect(createArchive(flags)).rejects.toMatchObject({
    code: 'unknown-handler',
    message: expect.stringMatching(/architecture BertForFrobnication\. Set --handler/),
  });
  const uncompared = { ...config, architectures: ['FrobnicatedForSequenceClassification'] };
  writeFileSync(join(source, 'config.json'), JSON.stringify(uncompared));
  await expect(createArchive(flags)).rejects.toMatchObject({
    code: 'unknown-handler',
    message: expect.stringMatching(/class FrobnicatedFor.* Set --handler to 'text_classifier' to open it/),
  });
  expect(readdirSync(flags['export-path'])).toEqual([]);
  const { path: made } = await createArchive({ ...flags, handler: 'text_handler' });
  expect(await checkArchive(made)).toContain('own, text_handler');
});

test('a URL is refused with how to get its files', async () => {
  const url = 'https://huggingface.co/ORG/NAME';
  const given = { 'model-name': 'own', handler: 'base_handler', 'export-path': folder() };
  const expected = { code: 'model-config', message: expect.stringContaining('hf download ORG/NAME') };
  await expect(createArchive({ ...given, 'serialized-file': url })).rejects.toMatchObject(expected);
  const flags = { ...given, 'serialized-file': path('public/models/digits/digits.onnx') };
  await expect(createArchive({ ...flags, 'config-file': url })).rejects.toMatchObject(expected);
  await expect(createArchive({ ...flags, 'extra-files': url })).rejects.toMatchObject(expected);
  for (const one of [url, 'hf:org/name@v1']) {
    await expect(checkArchive(one)).rejects.toMatchObject(expected);
    await expect(testArchive(one, {}, () => {})).rejects.toMatchObject(expected);
  }
});

test('an error that names an option of `load` says what the tool has in its place', () => {
  expect(withToolAdvice('There is none. Set the option `handler` to one of them.')).toMatch(
    /With this tool, instead of the option handler: pack .* --handler NAME/,
  );
  expect(withToolAdvice('A private model needs the option "request", with headers.')).toContain('download the files');
  expect(withToolAdvice('Set the option assets.')).toBe('Set the option assets.');
});

test('a golden example of a photo with points is JSON with the photo in base64', async () => {
  const to = folder();
  const photo = readFileSync(path('public/models/hand/samples/sofa.jpg')).toString('base64');
  const write = (name: string, image: unknown): string => {
    writeFileSync(join(to, name), JSON.stringify({ image, points: [[40, 30]] }));
    return join(to, name);
  };
  const flags = {
    'model-name': 'sam',
    'serialized-file': path('test/models/tasks/prompt-sam'),
    'export-path': to,
    'archive-format': 'no-archive',
    golden: write('click.json', { b64: photo }),
  };
  const { path: made, warnings } = await createArchive(flags);
  expect(warnings).toEqual([]);
  const { tensors } = readSafetensors(readFileSync(join(made, 'decoder/golden/click.safetensors')), 'click');
  expect(tensors['inputs/input_points']!.dims).toEqual([1, 1, 1, 2]);
  expect(await checkArchive(made)).toMatch(/decoder\.onnx: opens under Node; 1 golden example reproduced/);
  await expect(
    createArchive({ ...flags, force: true, golden: write('no.json', { b64: 'no base64!' }) }),
  ).rejects.toMatchObject({ code: 'invalid-input', message: expect.stringMatching(/no\.json: .*base64/) });
});

test('a folder with two models becomes an archive whose nodes they are, with one golden answer of both', async () => {
  const { prompt, text, tokens } = GENERATION['marian']!.prompts[0]!;
  const input = join(folder(), 'sea.txt');
  writeFileSync(input, prompt);
  const flags = { 'model-name': 'marian', 'serialized-file': path('test/models/generation/marian'), golden: input };
  const { path: made, files } = await createArchive({ ...flags, 'export-path': folder(), check: true });
  const names = files.map(([name]) => name);
  for (const [node, file] of Object.entries({ encoder: 'encoder_model', decoder: 'decoder_model_merged' }))
    expect(names).toEqual(expect.arrayContaining([`${node}/MAR-INF/MANIFEST.json`, `${node}/${file}.onnx`]));
  expect(names).toEqual(
    expect.arrayContaining(['tokenizer.json', 'generation_config.json', 'config.json', 'golden/sea.safetensors']),
  );
  const checked = await checkArchive(made);
  expect(checked).toMatch(/encoder\/encoder_model\.onnx: opens under Node; no golden examples/);
  expect(checked).toMatch(/all models together: opens under Node; 1 golden example reproduced/);
  // It answers as its folder does.
  const { ask, handlers } = await open(new File([readFileSync(made)], 'marian.mar'));
  expect((await ask(prompt)).text).toBe(text);
  expect(await proveHandlers(handlers.open)).toMatchObject({ golden: 1 });
  // The example has transformers' tokens, and another one is an error.
  const { path: at } = await createArchive({ ...flags, 'export-path': folder(), 'archive-format': 'no-archive' });
  const example = join(at, 'golden/sea.safetensors');
  const { tensors: all } = readSafetensors(readFileSync(example), 'example');
  const found = [...(all['outputs/tokens']!.data as Int32Array)];
  expect(found).toEqual(tokens.slice(0, found.length));
  const other = {
    ...all['outputs/tokens']!,
    data: Int32Array.from(found, (token, at) => (at === 1 ? token + 1 : token)),
  };
  writeFileSync(example, writeSafetensors({ ...all, 'outputs/tokens': other }));
  rmSync(join(at, 'tabserve.json'));
  writeFileSync(join(at, 'tabserve.json'), JSON.stringify({ golden: ['golden/sea.safetensors'] }));
  await expect(checkArchive(at)).rejects.toMatchObject({
    code: 'backend-wrong',
    message: expect.stringContaining('output "tokens" is') as unknown,
  });
  for (const golden of ['seed:1', path('test/models/optimized/golden.safetensors')])
    await expect(
      createArchive({ ...flags, golden, 'model-name': 'other', 'export-path': folder() }),
    ).rejects.toMatchObject({ code: 'unsupported', message: expect.stringMatching(/several/) });
});

test("a language model's golden example is what follows a prompt: transformers' tokens, which a backend must give", async () => {
  const { prompt, input_ids: ids, tokens } = GENERATION['qwen3']!.prompts[0]!;
  const text = join(folder(), 'story.txt');
  writeFileSync(text, prompt);
  const flags: ArchiveFlags = {
    'model-name': 'writer',
    'serialized-file': path('test/models/generation/qwen3'),
    'archive-format': 'no-archive',
  };
  const { path: made } = await createArchive({ ...flags, golden: text, 'export-path': folder() });
  const file = join(made, 'golden/story.safetensors');
  const { tensors } = readSafetensors(readFileSync(file), 'story');
  const found = tensors['outputs/tokens']!;
  expect(Array.from(tensors['inputs/prompt']!.data as Int32Array)).toEqual(ids);
  expect(found.data.length).toBeGreaterThan(5);
  expect(Array.from(found.data as Int32Array)).toEqual(tokens.slice(0, found.data.length));
  expect(await checkArchive(made)).toMatch(/1 golden example reproduced/);

  // Another example, with its hash and size left out.
  const extras = JSON.parse(readFileSync(join(made, 'tabserve.json'), 'utf8')) as { files: Record<string, unknown> };
  delete extras.files['golden/story.safetensors'];
  writeFileSync(join(made, 'tabserve.json'), JSON.stringify(extras));
  const changed = (name: string, value: number, at = 0): void => {
    const data = Int32Array.from(tensors[name]!.data as Int32Array);
    data[at] = value;
    writeFileSync(file, writeSafetensors({ ...tensors, [name]: { ...tensors[name]!, data } }));
  };
  changed('outputs/tokens', 9, 2);
  await expect(checkArchive(made)).rejects.toMatchObject({
    code: 'backend-wrong',
    message: expect.stringContaining(
      `on golden/story.safetensors, output "tokens" is ${tokens[2]} at 2, expected 9`,
    ) as unknown,
  });
  changed('inputs/prompt', 480);
  await expect(checkArchive(made)).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/of another model/),
  });
  changed('inputs/count', 17);
  await expect(checkArchive(made)).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/its "count" is 17/),
  });
});

test('of several precisions, full precision or the chosen one goes into the archive, with its external data', async () => {
  const pack = async (
    config?: string,
    model = path('test/models/hugging-face/precisions'),
  ): Promise<readonly [path: string, names: string[]]> => {
    const file = join(folder(), 'model-config.yaml');
    if (config !== undefined) writeFileSync(file, config);
    const { path: made, files } = await createArchive({
      'model-name': 'colors',
      'serialized-file': model,
      'export-path': folder(),
      'archive-format': 'no-archive',
      ...(config !== undefined && { 'config-file': file }),
    });
    return [made, files.map(([name]) => name).filter((name) => name.includes('.onnx'))];
  };
  expect((await pack())[1]).toEqual(['model.onnx']);
  const [made, names] = await pack('engine: { dtype: fp16 }');
  expect(names).toEqual(['model_fp16.onnx', 'model_fp16.onnx_data']);
  expect(readFileSync(join(made, 'model-config.yaml'), 'utf8')).not.toContain('dtype');
  expect(await checkArchive(made)).toContain('model_fp16.onnx: opens under Node');
  // The same files beside config.json.
  const flat = folder();
  for (const name of ['config.json', 'preprocessor_config.json', 'onnx/model_fp16.onnx', 'onnx/model_fp16.onnx_data'])
    copyFileSync(path(`test/models/hugging-face/precisions/${name}`), join(flat, basename(name)));
  expect((await pack(undefined, flat))[1]).toEqual(names);
  await expect(pack('engine: { dtype: q4 }')).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/model_q4\.onnx/),
  });
});

test('what cannot become an archive is refused, and leaves nothing', async () => {
  const cases: [ArchiveFlags, string][] = [
    [digits({ 'model-name': undefined }), 'model-config'],
    [digits({ 'model-name': '../up' }), 'model-config'],
    [digits({ 'archive-format': 'rar' }), 'model-config'],
    [digits({ handler: 'my_handler.py' }), 'unsupported'],
    [digits({ handler: 'nobody' }), 'unknown-handler'],
    [digits({ 'serialized-file': 'weights.pt' }), 'unsupported'],
    [digits({ 'serialized-file': 'none.onnx' }), 'model-not-found'],
    [digits({ 'serialized-file': path('docs') }), 'model-config'],
    [digits({ 'extra-files': 'none.json' }), 'model-not-found'],
    [digits({ 'extra-files': '*.nothing' }), 'model-not-found'],
    [digits({ golden: 'none.txt' }), 'model-not-found'],
    [digits({ 'extra-files': path('public/models/digits/digits.onnx') }), 'model-format'],
  ];
  for (const [flags, code] of cases) {
    await expect(createArchive(flags), JSON.stringify(flags)).rejects.toMatchObject({ code });
    expect(readdirSync(flags['export-path']!)).toEqual([]);
  }
  const flags = digits();
  const { path: made } = await createArchive(flags);
  await expect(createArchive(flags)).rejects.toMatchObject({ code: 'model-config' });
  expect(existsSync((await createArchive({ ...flags, force: true })).path)).toBe(true);
  expect(existsSync(made)).toBe(true);
});

test('--force replaces archives, and nothing else', async () => {
  const flags = digits({ 'archive-format': 'no-archive', force: true });
  const own = join(flags['export-path']!, 'digits');
  mkdirSync(own);
  writeFileSync(join(own, 'train.py'), 'print()');
  await expect(createArchive(flags)).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/is no archive/),
  });
  expect(readdirSync(own)).toEqual(['train.py']);

  // A repository whose root is an archive keeps its history.
  const repository = digits({ 'archive-format': 'no-archive', force: true });
  const { path } = await createArchive(repository);
  mkdirSync(join(path, '.git'));
  await expect(createArchive(repository)).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/holds \.git/),
  });
  expect(existsSync(join(path, '.git'))).toBe(true);

  const packed = digits({ force: true });
  mkdirSync(join(packed['export-path']!, 'digits.mar'));
  await expect(createArchive(packed)).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/is no archive/),
  });
});

test('an archive that fails its check is not written, and the one before it stays', async () => {
  const flags = digits({ check: true });
  const { path: made, checked } = await createArchive(flags);
  expect(checked).toMatch(/^digits\.mar: digits, image_classifier\n/);
  const before = readFileSync(made);
  const config = join(folder(), 'model-config.yaml');
  writeFileSync(config, `${readFileSync(flags['config-file']!, 'utf8')}\n  ouput: logits\n`);
  const misspelt = createArchive({ ...flags, 'config-file': config, force: true });
  await expect(misspelt).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/handler\.ouput is not a known key; probably output is meant\.$/),
  });
  writeFileSync(config, `${readFileSync(flags['config-file']!, 'utf8')}\n  feathers: 3\n`);
  const own = createArchive({ ...flags, 'config-file': config, force: true });
  await expect(own).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(
      /handler\.feathers is not a known key\.\nIf a handler of your own adds it, leave out --check/,
    ),
  });
  expect(readFileSync(made)).toEqual(before);
  expect(readdirSync(flags['export-path']!)).toEqual(['digits.mar']);
});

test('extra files: what a shell would take, links followed, hidden files left out', async () => {
  const from = folder();
  for (const [name, text] of Object.entries({
    '.env': 'SECRET',
    'a.txt': 'a',
    'b.txt': 'b',
    'labels[1].json': '[]',
    'Thumbs.db': 'w',
  }))
    writeFileSync(join(from, name), text);
  mkdirSync(join(from, '.git'));
  writeFileSync(join(from, '.git/config'), 'SECRET');
  symlinkSync(join(from, 'a.txt'), join(from, 'link.txt'));
  const take = async (list: string): Promise<readonly string[]> => {
    const files: ArchiveFiles = new Map();
    await addExtraFiles(files, list);
    return [...files.keys()].sort();
  };
  expect(await take(from)).toEqual(['a.txt', 'b.txt', 'labels[1].json', 'link.txt']);
  expect(await take(join(from, '*'))).toEqual(['a.txt', 'b.txt', 'labels[1].json', 'link.txt']);
  expect(await take(join(from, '[!b].txt'))).toEqual(['a.txt']);
  expect(await take(join(from, 'labels[1].json'))).toEqual(['labels[1].json']);
  await expect(take(join(from, 'x[.json'))).rejects.toMatchObject({ code: 'model-not-found' });
  await expect(take(join(from, '[z-a]*'))).rejects.toMatchObject({ code: 'model-config' });
  symlinkSync(from, join(from, 'again'));
  await expect(take(from)).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/links to a folder above it/),
  });
});

test('names that no manifest can hold, seeds that no number can, and places that no file can have are refused', async () => {
  const extra = join(folder(), 'b,c.txt');
  writeFileSync(extra, 'b');
  const parent = join(extra, '..');
  const hidden = join(folder(), '.vocab');
  writeFileSync(hidden, 'words');
  const cases: [ArchiveFlags, RegExp][] = [
    [digits({ 'extra-files': parent }), /^Rename b,c\.txt/],
    // Read from a folder, an archive has no such files.
    [digits({ 'extra-files': hidden }), /^Rename \.vocab: hidden files/],
    [
      digits({ 'extra-files': join(hidden, '../.v*'), 'archive-format': 'no-archive' }),
      /^Rename \.vocab: hidden files/,
    ],
    [digits({ golden: 'seed:9007199254740993' }), /too large/],
    [digits({ golden: 'sed:1' }), /seed:N/],
    [digits({ 'export-path': extra }), /cannot be written/],
  ];
  for (const [flags, message] of cases) await expect(createArchive(flags)).rejects.toThrow(message);
});

test('what a stranger has named cannot steer the terminal', () => {
  expect(printable('\u001b]0;owned\u0007\u009b31m\u202e')).toBe('\\u{1b}]0;owned\\u{7}\\u{9b}31m\\u{202e}');
  expect(printable('Größe: 3 × 224\nnext')).toBe('Größe: 3 × 224\nnext');
  expect(formatRows([['inputs', ['a\n  onnx/wasm  opens']]])).not.toContain('\n');
});
