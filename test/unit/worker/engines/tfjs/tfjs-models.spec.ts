import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { checkGraph } from '../../../../../src/worker/engines/tfjs/check-graph.ts';
import { checkLayers } from '../../../../../src/worker/engines/tfjs/check-layers.ts';
import { readWeightsManifest } from '../../../../../src/worker/models/shards.ts';

type Json = Record<string, unknown>;
const folder = new URL('../../../../models/tfjs/', import.meta.url);
const node = (name: string, ...input: string[]) => ({ name, op: 'Identity', input });
const layer = (name: string, calls: unknown = [], config: unknown = { name }) => ({
  name,
  class_name: 'Dense',
  config,
  inbound_nodes: calls,
});
const model = (...layers: unknown[]) => ({ model_config: { class_name: 'Functional', config: { name: 'm', layers } } });
const reads = (...names: string[]) => names.map((name) => [name, 0, 0, {}]);

test('every committed model passes, and none that lacks the first of its nodes or layers, which others read', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const checked = files.map((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    const { modelTopology } = JSON.parse(text) as { modelTopology: Json };
    readWeightsManifest(text, file);
    const isGraph = 'node' in modelTopology;
    const check = (topology: Json): void => (isGraph ? checkGraph : checkLayers)(topology, file);
    check(modelTopology);
    const { node: nodes, model_config: { config } = {} } = modelTopology as {
      readonly node?: readonly { readonly name: string; readonly input?: readonly string[] }[];
      readonly model_config?: { readonly config?: { readonly layers: readonly Json[] } };
    };
    const isRead = ({ name }: { readonly name: string }): boolean =>
      nodes!.some(({ input = [] }) => input.some((one) => one.replace('^', '').split(':')[0] === name));
    const lacking = nodes
      ? { ...modelTopology, node: nodes.filter((one) => one !== nodes.find(isRead)) }
      : model(...config!.layers.slice(1));
    expect(() => check(lacking), file).toThrow(/reads .*which is missing/);
    return file.endsWith('.layers.json') ? 'layers' : isGraph ? 'graph' : 'other';
  });
  expect(checked.filter((kind) => kind === 'graph').length).toBeGreaterThan(15);
  expect(checked.filter((kind) => kind === 'layers')).toHaveLength(3);
  expect(checked).not.toContain('other');
});

for (const [what, nodes, words] of [
  ['no list', {}, 'no list'],
  ['a node that is null', [null], 'node 0'],
  ['inputs that are numbers', [{ name: 'a', op: 'Add', input: [1] }], 'node 0'],
  ['attributes that are a list', [{ name: 'a', op: 'Add', attr: [] }], 'node 0'],
  ['one name twice', [node('a'), node('a')], 'same name'],
  ['a missing input', [node('a', 'b:0')], '"a" reads "b"'],
  ['a missing control input', [node('a', '^b')], '"a" reads "b"'],
  ['a node that reads itself', [node('a', 'a')], 'own output'],
  ['a cycle', [node('a', 'c'), node('b', 'a:1'), node('c', '^b')], 'own output'],
] as const) {
  test(`a graph model with ${what}`, () =>
    expect(() => checkGraph({ node: nodes }, 'm.json')).toThrow(
      expect.objectContaining({ code: 'model-format', message: expect.stringContaining(words) }),
    ));
}

test('a graph model may have the loops of TensorFlow 1, and functions that read their arguments', () => {
  const loop = [
    node('start'),
    { name: 'merge', op: 'Merge', input: ['start', 'next'] },
    { name: 'next', op: 'NextIteration', input: ['merge:0'] },
  ];
  const library = {
    function: [{ signature: { inputArg: [{ name: 'x' }] }, nodeDef: [node('y', 'x'), node('z', 'y:out:0')] }],
  };
  checkGraph({ node: loop, library }, 'm.json');
  const broken = { function: [{ signature: {}, nodeDef: [node('y', 'x')] }] };
  expect(() => checkGraph({ node: loop, library: broken }, 'm.json')).toThrow('"y" reads "x"');
});

for (const [what, topology, words] of [
  ['no layers', { class_name: 'Model', config: {} }, 'no list of layers'],
  ['a layer without a name', model({}), 'layer 0'],
  ['another name in the config', model(layer('a', [], { name: 'b' })), 'layer 0'],
  ['one name twice', model(layer('a'), layer('a')), 'same name'],
  ['a missing layer', model(layer('a'), layer('b', [reads('c')])), '"b" reads the layer "c"'],
  ['a layer that reads itself', model(layer('a', [reads('a')])), 'reads itself'],
  ['a cycle', model(layer('i'), layer('a', [reads('i', 'b')]), layer('b', [reads('a')])), 'reads itself'],
  ['a call that is not made', model(layer('i'), layer('a', [[['i', 1, 0, {}]]])), 'output that no layer has'],
  ['a call number of 1e300', model(layer('i'), layer('a', [[['i', 1e300, 0, {}]]])), 'inbound_nodes'],
  ['calls that are a string', model(layer('i'), layer('a', ['iii'])), 'inbound_nodes'],
  [
    'a missing layer in a nested model',
    model({
      ...layer('i'),
      config: { name: 'i', layer: { class_name: 'Model', config: { layers: [layer('x', [reads('y')])] } } },
    }),
    '"x" reads the layer "y"',
  ],
] as const) {
  test(`a layers model with ${what}`, () =>
    expect(() => checkLayers(topology, 'm.json')).toThrow(
      expect.objectContaining({ code: 'model-format', message: expect.stringContaining(words) }),
    ));
}

test('a layers model of Keras 3 is named, with what to export', () => {
  const policy = { module: 'keras', class_name: 'DTypePolicy', config: { name: 'float32' } };
  const input = { class_name: 'InputLayer', config: { batch_shape: [null, 32, 32, 3], name: 'input_layer' } };
  const sequential = (layers: unknown[]) => ({
    model_config: { class_name: 'Sequential', config: { name: 's', layers } },
  });
  for (const topology of [
    sequential([input]),
    sequential([{ class_name: 'Dense', config: { name: 'd', dtype: policy } }]),
    model(input),
  ])
    expect(() => checkLayers(topology, 'm.json')).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringMatching(/Keras 3.*tf_saved_model/) }),
    );
});

test('layers may come in any order, be called twice, and be models', () => {
  const inner = { ...layer('inner', [reads('i')], { name: 'inner', layers: [layer('j')] }), class_name: 'Functional' };
  checkLayers(
    model(layer('b', [reads('a'), [['a', 1, 0, {}]]]), layer('a', [reads('i'), reads('i')]), layer('i')),
    'm.json',
  );
  checkLayers(model(layer('i'), inner, layer('b', [[['inner', 1, 0, {}]]])), 'm.json');
  // Each call has one output, and a model as a layer has one of its own before that of its first call.
  for (const broken of [
    model(layer('b', [[['a', 2, 0, {}]]]), layer('a', [reads('i'), reads('i')]), layer('i')),
    model(layer('b', [[['a', 1, 0, {}]]]), layer('a', [reads('i')]), layer('i')),
    model(layer('i'), inner, layer('b', [[['inner', 2, 0, {}]]])),
    model(layer('i'), layer('inner', [reads('i')]), layer('b', [[['inner', 1, 0, {}]]])),
  ])
    expect(() => checkLayers(broken, 'm.json')).toThrow('"b" reads itself through other layers, or an output that no');
});

for (const [what, weights, words] of [
  ['no name', { dtype: 'float32', shape: [1] }, 'name'],
  ['a negative dim', { name: 'w', dtype: 'float32', shape: [-1] }, 'shape'],
  ['a dim of 1e15', { name: 'w', dtype: 'float32', shape: [1e15, 1e15] }, 'shape'],
  ['a dim that is text', { name: 'w', dtype: 'float32', shape: ['4'] }, 'shape'],
  ['no shape', { name: 'w', dtype: 'float32' }, 'shape'],
  ['an unknown dtype', { name: 'w', dtype: 'float128', shape: [1] }, 'float128'],
  [
    'a quantization without a scale',
    { name: 'w', dtype: 'float32', shape: [1], quantization: { dtype: 'uint8', min: 0 } },
    'quantization',
  ],
  [
    'a quantization to text',
    { name: 'w', dtype: 'float32', shape: [1], quantization: { dtype: 'string' } },
    'quantization',
  ],
] as const) {
  test(`weights with ${what}`, () =>
    expect(() =>
      readWeightsManifest(
        JSON.stringify({ modelTopology: {}, weightsManifest: [{ paths: [], weights: [weights] }] }),
        'm.json',
      ),
    ).toThrow(expect.objectContaining({ code: 'model-format', message: expect.stringContaining(words) })));
}
