// The archives of a workflow's nodes: where they are found, what is asked for, and what is wrong with them.
import { createHash } from 'node:crypto';
import { expect, test } from '@playwright/test';
import type { Archive, ModelConfig } from '../../../../src/contract/archive.ts';
import { allParts, enginesOf, fileName } from '../../../../src/contract/archive-parts.ts';
import { loadHandler } from '../../../../src/worker/handlers/registry.ts';
import { openFiles } from '../../../../src/worker/models/model-files.ts';
import { readNodes } from '../../../../src/worker/models/nodes.ts';
import {
  fetchWorkflow,
  fetchWorkflowModels,
  hashWorkflow,
  type WorkflowOptions,
} from '../../../../src/worker/models/fetch.ts';
import { buildZip } from '../../support/zip-builder.ts';

type FileTree = Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>;

const manifest = (model: object): string => JSON.stringify({ model: { modelName: 'm', ...model } });
const child = (name: string, weights = name): FileTree => ({
  [`${name}/MAR-INF/MANIFEST.json`]: manifest({ serializedFile: 'm.onnx', handler: 'base_handler' }),
  [`${name}/m.onnx`]: weights,
});
const workflow = (nodes: string): FileTree => ({
  'MAR-INF/MANIFEST.json': manifest({ configFile: 'model-config.yaml' }),
  'model-config.yaml': `nodes: ${nodes}`,
});
const TWO: FileTree = { ...workflow('{ a: a/, b: ./b }'), ...child('a', 'weights a'), ...child('b', 'weights b') };

/** Reads an archive from a server that has its files at https://example.org/w/, and others by URL. */
async function read(
  files: FileTree,
  options: Partial<WorkflowOptions> = {},
): Promise<{
  archive: Archive;
  loaded: () => Promise<Archive>;
  asked: [url: string, headers: object][];
  progress: Map<string, number | undefined>;
}> {
  const asked: [string, object][] = [];
  const progress = new Map<string, number | undefined>();
  const fetch = async (url: URL | string | Request, init: RequestInit = {}): Promise<Response> => {
    const { href } = new URL(url as URL);
    asked.push([href, init.headers ?? {}]);
    const path = href.replace('https://example.org/w/', '').replace(/\?.*/, '');
    return Object.hasOwn(files, path) ? new Response(files[path]!) : new Response('', { status: 404 });
  };
  const all = {
    fetch: fetch as typeof globalThis.fetch,
    onProgress: ({ file, total }: { file: string; total: number | undefined }) => void progress.set(file, total),
    downloads: new Map(),
    handlerClass: loadHandler,
    ...options,
  };
  const archive = await fetchWorkflow('https://example.org/w/', all);
  return { archive, asked, progress, loaded: () => fetchWorkflowModels(archive, 'onnx', all) };
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );

test('nodes in folders: each archive is read, and the models of all are one download', async () => {
  const { archive, loaded, progress, asked } = await read(TWO);
  expect(Object.keys(archive.nodes!)).toEqual(['a', 'b']);
  expect(enginesOf(archive)).toEqual(['onnx']);
  const all = await loaded();
  expect(await all.nodes!['a']!.files['m.onnx']!.text()).toBe('weights a');
  expect(await all.nodes!['b']!.files['m.onnx']!.text()).toBe('weights b');
  expect([...progress.keys()].sort()).toEqual(expect.arrayContaining(['a/m.onnx', 'b/m.onnx', 'model-config.yaml']));
  expect(allParts(all).map((part) => fileName(part, 'm.onnx'))).toEqual(['m.onnx', 'a/m.onnx', 'b/m.onnx']);
  expect(asked.filter(([url]) => url.endsWith('.onnx'))).toHaveLength(2);
  // Everything is there: another backend's worker downloads nothing, and gets the same object.
  expect(await fetchWorkflowModels(all, 'onnx', { fetch: () => Promise.reject(new Error('asked')) })).toBe(all);
});

test('every model is announced before the first one is there: the total is known', async () => {
  const planned: number[] = [];
  const { archive } = await read(TWO);
  let done = 0;
  const fetch = async (url: URL | string | Request): Promise<Response> => {
    await new Promise((resolve) => setTimeout(resolve));
    done += 1;
    return new Response(String(url));
  };
  await fetchWorkflowModels(archive, 'onnx', { fetch: fetch as typeof globalThis.fetch }, () => planned.push(done));
  expect(planned).toEqual([0]);
});

test('the hash covers the models of all nodes', async () => {
  const hash = async (files: FileTree): Promise<string | undefined> =>
    await hashWorkflow(await (await read(files)).loaded(), 'onnx');
  expect(await hash(TWO)).toBe(await hash(TWO));
  expect(await hash({ ...TWO, 'b/m.onnx': 'others' })).not.toBe(await hash(TWO));
});

test('a zip file with the nodes in folders, and nodes that are packed themselves or are bare models', async () => {
  const packed = buildZip(
    Object.entries(child('x', 'weights b')).map(([path, data]) => ({ name: path.slice(2), data })),
  );
  const files: FileTree = {
    ...workflow(
      '{ a: a/, b: deep/b.mar, c: models/c.onnx, d: { archive: d.onnx, handler: image_classifier, config: { handler: { topK: 2 } } } }',
    ),
    ...child('a', 'weights a'),
    'a/extra.txt': 'not listed',
    'deep/b.mar': packed,
    'models/c.onnx': 'weights c',
    'd.onnx': 'weights d',
  };
  const zip = new File([buildZip(Object.entries(files).map(([name, data]) => ({ name, data })))], 'w.mar');
  const nothing = { fetch: () => Promise.reject(new Error('asked')), handlerClass: loadHandler };
  const local = await fetchWorkflowModels(await fetchWorkflow(zip, nothing), 'onnx', nothing);
  const remote = await (await read(files)).loaded();
  for (const { nodes } of [local, remote]) {
    const texts = Object.entries(nodes!).map(async ([name, node]) => [
      name,
      await node.files[node.models.onnx!]!.text(),
    ]);
    expect(Object.fromEntries(await Promise.all(texts))).toEqual({
      a: 'weights a',
      b: 'weights b',
      c: 'weights c',
      d: 'weights d',
    });
    expect(nodes!['d']).toMatchObject({
      manifest: { model: { handler: 'image_classifier' } },
      config: { handler: { topK: 2 } },
    });
  }
  expect(await (await openFiles(local.nodes!['a']!)).text('extra.txt')).toBe('not listed');
  expect((await openFiles(local.nodes!['a']!)).has('model-config.yaml')).toBe(false);
  expect(
    await failure(
      fetchWorkflow(
        new File(
          [buildZip(Object.entries(workflow('{ a: ../a/ }')).map(([name, data]) => ({ name, data: data as string })))],
          'w.mar',
        ),
        nothing,
      ),
    ),
  ).toMatchObject({ code: 'model-format', node: 'a', message: expect.stringContaining('lies outside of the archive') });
});

test('nodes that name the same archive share it, and a node may be a workflow', async () => {
  const { archive, asked, loaded } = await read({
    ...workflow('{ one: a/, other: a/, inner: inner/ }'),
    ...child('a'),
    ...Object.fromEntries(Object.entries(workflow('{ deep: b/ }')).map(([path, text]) => [`inner/${path}`, text])),
    ...Object.fromEntries(Object.entries(child('b')).map(([path, text]) => [`inner/${path}`, text])),
  });
  expect(archive.nodes!['one']).toBe(archive.nodes!['other']);
  const all = await loaded();
  expect(all.nodes!['one']).toBe(all.nodes!['other']);
  expect(asked.filter(([url]) => url.endsWith('a/m.onnx'))).toHaveLength(1);
  expect(allParts(all).map((part) => [part.node, fileName(part, 'm')])).toEqual([
    ['', 'm'],
    ['one', 'a/m'],
    ['inner', 'inner/m'],
    ['inner/deep', 'inner/b/m'],
  ]);
  // The pair survives the way to another worker.
  const clone = structuredClone(all);
  expect(clone.nodes!['one']).toBe(clone.nodes!['other']);
});

test('sizes and hashes: of the workflow, of a node, and of the app', async () => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const extras = (files: object): string => JSON.stringify({ files });
  const right = {
    ...TWO,
    'tabserve.json': extras({ 'a/m.onnx': { sha256: sha256('weights a') }, 'b/MAR-INF/MANIFEST.json': {} }),
  };
  await (await read(right)).loaded();
  const wrong: Readonly<Record<string, [FileTree, Partial<WorkflowOptions>?]>> = {
    workflow: [{ ...TWO, 'tabserve.json': extras({ 'a/m.onnx': { sha256: sha256('other') } }) }],
    node: [{ ...TWO, 'a/tabserve.json': extras({ 'm.onnx': { sha256: sha256('other') } }) }],
    app: [TWO, { integrity: { 'a/m.onnx': { bytes: 1 } } }],
    misspelled: [{ ...TWO, 'tabserve.json': extras({ 'a/n.onnx': { bytes: 1 } }) }],
  };
  for (const [title, [files, options]] of Object.entries(wrong)) {
    const error = await failure(read(files, options).then(({ loaded }) => loaded()));
    expect(error, title).toMatchObject({ code: 'model-format', node: 'a' });
  }
});

test('a node at a URL of its own: only of an origin that the app has named, and without its headers', async () => {
  const other = 'https://models.example/a/';
  const files = {
    ...workflow(`{ a: "${other}" }`),
    ...Object.fromEntries(Object.entries(child('a')).map(([path, text]) => [`https://models.example/${path}`, text])),
  };
  const headers = { authorization: 'Bearer secret' };
  expect(await failure(read(files, { headers }))).toMatchObject({
    code: 'unsupported',
    node: 'a',
    message: expect.stringContaining('"allowedOrigins"'),
  });
  for (const options of [{ allowedOrigins: ['https://models.example'] }, { config: { nodes: { a: other } } }]) {
    const { loaded, asked, progress } = await read(files, { headers, ...options });
    await loaded();
    expect([...progress.keys()]).toContain('a/m.onnx');
    for (const [url, sent] of asked) expect(sent, url).toEqual(url.startsWith(other) ? {} : headers);
  }
  // The same origin needs no permission.
  const { archive } = await read({ ...workflow('{ a: /w/a/ , b: ../w/a }'), ...child('a') });
  expect(archive.nodes!['a']).toBe(archive.nodes!['b']);
});

test('what is wrong with a node is told with its name', async () => {
  const broken: Readonly<Record<string, [FileTree, object]>> = {
    missing: [
      workflow('{ a: a/ }'),
      { code: 'model-not-found', node: 'a', message: /Node "a": .*no model archive at https:\/\/example.org\/w\/a\// },
    ],
    'its model is missing': [
      { ...workflow('{ a: a/ }'), ...child('a'), 'a/MAR-INF/MANIFEST.json': manifest({ serializedFile: 'n.onnx' }) },
      { code: 'model-not-found', node: 'a' },
    ],
    'no JSON': [
      { ...workflow('{ a: a/ }'), 'a/MAR-INF/MANIFEST.json': '{' },
      { code: 'model-format', node: 'a' },
    ],
    'no model and no nodes': [
      { ...workflow('{ a: a/ }'), 'a/MAR-INF/MANIFEST.json': manifest({}) },
      { code: 'model-format', node: 'a' },
    ],
    'a cycle of one': [
      workflow('{ a: ./ }'),
      {
        code: 'model-config',
        node: 'a',
        message: /names an archive that it lies in itself: https:\/\/example.org\/w\/ →/,
      },
    ],
    'a cycle of two': [
      {
        ...workflow('{ a: a/ }'),
        'a/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml' }),
        'a/c.yaml': 'nodes: { b: ../ }',
      },
      { code: 'model-config', node: 'a/b', message: /^Node "a\/b": / },
    ],
    'too deep': [
      Object.fromEntries(
        Array.from({ length: 6 }, (_, depth) =>
          Object.entries(workflow('{ a: a/ }')).map(([path, text]) => ['a/'.repeat(depth) + path, text]),
        ).flat(),
      ) as FileTree,
      { code: 'model-config', node: 'a/a/a/a/a', message: /at most 4 workflows/ },
    ],
    'too many': [
      workflow(`{ ${Array.from({ length: 40 }, (_, index) => `n${index}: n${index}/`).join(', ')} }`),
      { code: 'model-config', message: /may have 32 nodes/ },
    ],
    'a model in another format': [{ ...workflow('{ a: a.txt }') }, { code: 'model-not-found', node: 'a' }],
    'packed, and damaged': [
      { ...workflow('{ a: a.mar }'), 'a.mar': 'no zip' },
      { code: 'model-format', node: 'a' },
    ],
  };
  for (const [title, [files, error]] of Object.entries(broken)) {
    const { message, ...rest } = error as { message?: RegExp };
    const found = await failure(read(files).then(({ loaded }) => loaded()));
    expect(found, title).toMatchObject(rest);
    if (message) expect((found as Error).message, title).toMatch(message);
  }
});

test('nodes that name one another are refused, whichever of them is read first', async () => {
  const naming = (name: string, nodes: string): FileTree => ({
    [`${name}/MAR-INF/MANIFEST.json`]: manifest({ configFile: 'c.yaml' }),
    [`${name}/c.yaml`]: `nodes: ${nodes}`,
  });
  const circles: readonly FileTree[] = [
    { ...workflow('{ x: x/, y: y/ }'), ...naming('x', '{ n: ../y/ }'), ...naming('y', '{ n: ../x/ }') },
    {
      ...workflow('{ x: x/, y: y/, z: z/ }'),
      ...naming('x', '{ n: ../y/ }'),
      ...naming('y', '{ n: ../z/ }'),
      ...naming('z', '{ n: ../x/ }'),
    },
  ];
  for (const files of circles) {
    const late = new Promise((resolve) => setTimeout(() => resolve('it never settles'), 2000));
    expect(await Promise.race([failure(read(files)), late])).toMatchObject({
      code: 'model-config',
      message: expect.stringContaining('names an archive that it lies in itself'),
    });
  }
  // Two that name a third one are no circle.
  const shared = {
    ...workflow('{ x: x/, y: y/ }'),
    ...naming('x', '{ n: ../y/, m: ../a }'),
    ...naming('y', '{ n: ../a/ }'),
    ...child('a'),
  };
  const { archive } = await read(shared);
  expect(archive.nodes!['x']!.nodes!['m']).toBe(archive.nodes!['y']!.nodes!['n']);
});

test('workflows lie in one another at most four deep, also where nodes share one', async () => {
  const naming = (name: string, nodes: string): FileTree => ({
    [`${name}/MAR-INF/MANIFEST.json`]: manifest({ configFile: 'c.yaml' }),
    [`${name}/c.yaml`]: `nodes: ${nodes}`,
  });
  const chain = {
    ...naming('x', '{ n: ../y/ }'),
    ...naming('y', '{ n: ../z/ }'),
    ...naming('z', '{ n: ../a/ }'),
    ...child('a'),
  };
  const { archive } = await read({ ...workflow('{ x: x/ }'), ...chain });
  expect(allParts(archive).map(({ node }) => node)).toContain('x/n/n/n');
  const deeper = { ...workflow('{ x: x/, w: w/ }'), ...naming('w', '{ n: ../x/ }'), ...chain };
  expect(await failure(read(deeper))).toMatchObject({
    code: 'model-config',
    node: expect.stringMatching(/^[wx]/),
    message: expect.stringContaining('at most 4 workflows may lie in one another'),
  });
});

test("an app's config of a node that is no JSON", async () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  for (const config of [circular, { handler: 10n }])
    expect(
      await failure(
        read({ ...workflow('{}'), ...child('a') }, { config: { nodes: { a: { archive: 'a/', config } } } as never }),
      ),
    ).toMatchObject({ code: 'model-config', node: 'a', message: expect.stringContaining('nodes.a.config') });
});

test('nodes of a wrong form', () => {
  const wrong: Readonly<Record<string, unknown>> = {
    'nodes: expected a mapping': ['a/'],
    'nodes.a: expected the path': { a: 3 },
    'nodes.a/b: expected a name': { 'a/b': 'a/' },
    'nodes.__proto__: expected a name': JSON.parse('{ "__proto__": "a/" }'),
    'nodes.a.archive: expected': { a: { handler: 'base_handler' } },
    'nodes.a has the keys archive, handler and config, not "archiv"': { a: { archiv: 'a/' } },
    'nodes.a.handler: expected': { a: { archive: 'a/', handler: 3 } },
    'nodes.a.config: expected': { a: { archive: 'a/', config: [] } },
  };
  for (const [message, nodes] of Object.entries(wrong))
    expect(() => readNodes({ nodes } as never), message).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringContaining(message) }) as Error,
    );
});

test('engine.dtype of a workflow chooses for its nodes: one precision for all, or one for each', async () => {
  const of = (node: string, own = 'm.onnx'): FileTree => ({
    ...child(node),
    [`${node}/half.onnx`]: 'half',
    [`${node}/tabserve.json`]: JSON.stringify({
      models: { onnx: { file: own, precisions: { 'float16-weights': 'half.onnx' } } },
    }),
  });
  const files = {
    ...workflow('{ a: a/, b: { archive: b/, config: { engine: { dtype: fp32 } } } }'),
    ...of('a'),
    ...of('b'),
  };
  const chosen = async (dtype: NonNullable<ModelConfig['engine']>['dtype']): Promise<unknown[]> => {
    const { archive } = await read(files, { config: { engine: { dtype } } as ModelConfig });
    return Object.values(archive.nodes!).map(({ config }) => config.engine?.dtype);
  };
  // A precision for all yields to what `nodes` says of one.
  expect(await chosen('float16-weights')).toEqual(['float16-weights', 'fp32']);
  expect(await chosen({ a: 'float16-weights' })).toEqual(['float16-weights', 'fp32']);
  expect(await chosen({ b: 'float16-weights' })).toEqual([undefined, 'float16-weights']);
  expect(await failure(chosen({ c: 'fp32' }))).toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/expected a, b/),
  });
});
