/** What MLServer and KServe's Python server are asked: the Open Inference Protocol, and KServe's protocol v1. */
import type { Answer, Question } from './question.ts';
import { bytes, json } from './requests.ts';

const x = { name: 'x', shape: [2, 3], datatype: 'FP32' };
const count = { name: 'count', shape: [2], datatype: 'INT64' };
const inputs = [
  { ...x, data: [1, 2, 3, 4, 5, 6.5] },
  { ...count, data: [2, 3] },
];

/** A request with its tensors as bytes after the JSON. */
const binary = (more: object = {}): Partial<Question> => {
  const sizes = { x: 24, count: 16 };
  const named = [x, count].map((input) => ({
    ...input,
    parameters: { binary_data_size: sizes[input.name as 'x' | 'count'] },
  }));
  const head = Buffer.from(JSON.stringify({ id: 'mine', inputs: named, ...more }));
  const tensors = [Float32Array.of(1, 2, 3, 4, 5, 6.5), BigInt64Array.of(2n, 3n)];
  return {
    headers: { ...bytes, 'inference-header-content-length': String(head.length) },
    body: Buffer.concat([head, ...tensors.map(({ buffer }) => Buffer.from(buffer))]),
  };
};

/** What the protocol lets a server choose: texts of errors, parameters, what it calls itself and its versions. */
const FREE = ['error', 'detail', 'parameters', 'model_version', 'name', 'version', 'versions', 'platform'];

type Ours = Partial<Answer> & { readonly why: string };

/** Every answer of ours has an id. */
const withId = (ours: Ours = { why: 'every answer of ours has an id' }): Ours => ({ hasRequestId: true, ...ours });

/** The request is wrong: the client must not send it again. */
const BAD_REQUEST: Ours = { status: 400, type: 'application/json', why: 'the request is wrong, and not the server' };

/** @param ours what our answer has instead of this server's, by the question's title */
const protocol = (ours: Readonly<Record<string, Ours>>): readonly Question[] => {
  const get = (title: string, path: string, more: Partial<Question> = {}): Question => ({
    title,
    method: 'GET',
    path,
    without: FREE,
    ours: withId(ours[title]),
    ...more,
  });
  const infer = (title: string, body: object, more: Partial<Question> = {}): Question =>
    get(title, '/v2/models/numbers/infer', {
      method: 'POST',
      headers: json,
      body: JSON.stringify(body),
      without: ['error', 'detail', 'parameters', 'model_version'],
      ...more,
    });
  return [
    get('live', '/v2/health/live'),
    get('ready', '/v2/health/ready'),
    get('a model is ready', '/v2/models/numbers/ready'),
    get('an unknown model is ready', '/v2/models/none/ready'),
    get('describe the server', '/v2', { without: [...FREE, 'extensions'] }),
    get('describe a model', '/v2/models/numbers', {
      without: ['parameters', 'platform', 'versions'],
    }),
    get('describe an unknown model', '/v2/models/none'),
    get('describe an unknown version', '/v2/models/numbers/versions/9'),
    infer('infer', { id: 'mine', inputs }),
    infer('infer: no id', { inputs }, { without: ['parameters', 'model_version', 'id'] }),
    infer('infer: one of the outputs', { id: 'mine', inputs, outputs: [{ name: 'twice' }] }),
    infer('infer: lists in lists', {
      id: 'mine',
      inputs: [
        {
          ...x,
          data: [
            [1, 2, 3],
            [4, 5, 6.5],
          ],
        },
        inputs[1],
      ],
    }),
    infer('infer: tensors as bytes', {}, binary()),
    infer('infer: tensors as bytes, and the answer too', {}, binary({ parameters: { binary_data_output: true } })),
    infer('infer: an unknown model', { inputs }, { path: '/v2/models/none/infer' }),
    infer('infer: no inputs', { inputs: [] }),
    infer('infer: JSON that is none', {}, { body: '{bad' }),
    infer('infer: an unknown output', { inputs, outputs: [{ name: 'none' }] }),
    infer('infer: fewer numbers than the shape has', { inputs: [{ ...x, data: [1, 2] }, inputs[1]] }),
    infer('infer: an unknown datatype', { inputs: [{ ...x, datatype: 'FLOAT', data: [1] }, inputs[1]] }),
    get('a method that is none', '/v2/models/numbers', { method: 'DELETE' }),
  ];
};

const predict = (title: string, body: object, more: Partial<Question> = {}): Question => ({
  title: `v1: ${title}`,
  path: '/v1/models/echo:predict',
  headers: json,
  body: JSON.stringify(body),
  ...more,
  ours: withId(more.ours),
});

/** OpenAI's API has the same paths: its fields stand beside KServe's. */
const OPENAI = ['object', 'data', 'id', 'created', 'owned_by'];

/** How `GET /v1/models[/NAME]` lists models. */
const listed = (title: string, path: string, more: Partial<Question> = {}): Question => ({
  title: `v1: ${title}`,
  method: 'GET',
  path,
  without: OPENAI,
  unordered: true,
  ...more,
  ours: withId(more.ours),
});

/** The Open Inference Protocol's model repository, in this order: each request changes what the next one finds. */
const REPOSITORY: readonly Question[] = [
  ['the index', 'index'],
  ['the index of what is ready', 'index', '{"ready":true}'],
  ['unload', 'models/backup/unload'],
  ['the index after that', 'index', '{"ready":true}'],
  ['load', 'models/backup/load'],
  ['the index, and it is there again', 'index', '{"ready":true}'],
  ['load what is not there', 'models/none/load'],
  ['unload what is not there', 'models/none/unload'],
].map(([title, path, body = '{}']) => ({
  title: `repository: ${title}`,
  path: `/v2/repository/${path}`,
  headers: json,
  body,
  without: ['error', 'reason', 'version'],
  unordered: true,
  ours: withId(),
}));

/** The first answer of `numbers`, as the protocol writes it. */
const outputs = [
  { name: 'sums', shape: [2], datatype: 'FP32', data: [12, 46.5] },
  { name: 'twice', shape: [2], datatype: 'INT64', data: [4, 6] },
];
const answer = { model_name: 'numbers', id: 'mine', outputs };

/** The same with its tensors as bytes. */
const binaryAnswer = {
  json: { ...answer, outputs: outputs.map(({ name, shape, datatype }) => ({ name, shape, datatype })) },
  bytes: '0000404100003a4204000000000000000600000000000000',
};

const healthy = (body: object): Ours => ({
  type: 'application/json',
  body,
  why: "the protocol's answer is JSON; MLServer's is empty",
});

export const MLSERVER: Readonly<Record<string, readonly Question[]>> = {
  'Open Inference Protocol': protocol({
    live: healthy({ live: true }),
    ready: healthy({ ready: true }),
    'a model is ready': healthy({ ready: true }),
    'infer: tensors as bytes': {
      status: 200,
      type: 'application/json',
      body: answer,
      why: 'MLServer takes bytes over gRPC alone',
    },
    'infer: tensors as bytes, and the answer too': {
      status: 200,
      type: 'application/octet-stream',
      body: binaryAnswer,
      why: 'MLServer takes bytes over gRPC alone',
    },
    'infer: no inputs': { ...BAD_REQUEST, body: {} },
    'infer: JSON that is none': { status: 400, why: '400 is the status of all wrong requests' },
    'infer: an unknown output': { ...BAD_REQUEST, body: {} },
    'infer: fewer numbers than the shape has': { ...BAD_REQUEST, body: {} },
    'infer: an unknown datatype': { status: 400, why: '400 is the status of all wrong requests' },
  }),
  repository: REPOSITORY,
};

export const KSERVE: Readonly<Record<string, readonly Question[]>> = {
  'Open Inference Protocol': protocol({
    'describe an unknown version': { status: 404, why: 'KServe has no versions; here there is no such version' },
    'infer: tensors as bytes, and the answer too': {
      type: 'application/octet-stream',
      body: binaryAnswer,
      why: "KServe sends no type, and its JSON's keys in another order than without bytes",
    },
    'infer: no inputs': { status: 400, why: BAD_REQUEST.why },
    'infer: JSON that is none': { status: 400, why: '400 is the status of all wrong requests' },
    'infer: an unknown output': { status: 400, why: BAD_REQUEST.why },
    'infer: fewer numbers than the shape has': { status: 400, why: BAD_REQUEST.why },
  }),
  'protocol v1': [
    predict('objects', { instances: [{ x: 1 }, { x: [2.5, null], y: 'z' }] }),
    predict('lists and texts', { instances: [[1, 2], 'abc'] }),
    predict('no instances', { rows: [1] }, { without: ['error'], ours: { status: 400, why: BAD_REQUEST.why } }),
    predict('an unknown model', { instances: [1] }, { path: '/v1/models/none:predict', without: ['error'] }),
    predict('JSON that is none', {}, { body: '{bad', without: ['error'] }),
    listed('the models', '/v1/models'),
    listed('a model', '/v1/models/echo'),
    listed('an unknown model is described', '/v1/models/none', { without: [...OPENAI, 'error'] }),
  ],
};
