/** What a TorchServe with a `service_envelope` is asked, by the envelope. Ours reads the same bodies without a setting. */
import type { Question } from './question.ts';
import { bytes, json, JSON_TYPE, scene, text } from './requests.ts';

const picture = scene.toString('base64');

const ask = (title: string, path: string, body: unknown, more: Partial<Question> = {}): Question => ({
  title,
  path,
  headers: json,
  body: JSON.stringify(body),
  ours: JSON_TYPE,
  ...more,
});

const BASE64 = "a value in base64 is bytes in KServe's protocol, too";

const PROTOCOL = "an error has the protocol's form";

/** TorchServe answers 503. */
const WRONG: Partial<Question> = {
  without: ['message', 'error'],
  ours: { status: 400, body: {}, why: `the request is wrong, and not the server; ${PROTOCOL}` },
};

/** Bodies with `instances`: those of the envelopes json and kserve. */
const instances = (
  envelope: string,
  more: Readonly<Record<'b64' | 'field', Partial<Question>>>,
): readonly Question[] => [
  ask(`${envelope}: two rows`, '/v1/models/echo:predict', { instances: [{ x: 1 }, { x: [2.5, null], y: 'z' }] }),
  ask(`${envelope}: lists`, '/v1/models/echo:predict', { instances: [[1, 2], [3]] }),
  ask(`${envelope}: texts`, '/v1/models/echo:predict', { instances: ['one', 'two'] }),
  ask(`${envelope}: bytes in base64`, '/v1/models/echo:predict', { instances: [{ b64: 'AAH/' }] }, more.b64),
  ask(
    `${envelope}: a field in base64`,
    '/v1/models/echo:predict',
    { instances: [{ data: { b64: 'AAH/' } }] },
    more.field,
  ),
  ask(`${envelope}: images in base64`, '/v1/models/classifier:predict', {
    instances: [{ data: picture }, { data: picture }],
  }),
  ask(`${envelope}: no instances`, '/v1/models/echo:predict', { rows: [1] }, WRONG),
  ask(`${envelope}: an empty list`, '/v1/models/echo:predict', { instances: [] }, WRONG),
  {
    title: `${envelope}: an unknown model`,
    path: '/v1/models/none:predict',
    headers: json,
    body: '{"instances":[1]}',
    ours: { body: { error: 'Model not found: none' }, why: PROTOCOL },
  },
];

const infer = (title: string, model: string, body: unknown, more: Partial<Question> = {}): Question =>
  ask(`kservev2: ${title}`, `/v2/models/${model}/infer`, body, { without: ['message', 'error'], ...more });

const TENSORS = "the tensors are the model's inputs, as in the protocol; TorchServe gives them to the handler as rows";
export const ENVELOPES: Readonly<Record<string, readonly Question[]>> = {
  body: [
    ask('body: JSON', '/predictions/echo', { x: [1, 2.5, null] }),
    ask('body: a JSON list', '/predictions/echo', [1, 2]),
    ask('body: a text', '/predictions/echo', null, { headers: text, body: 'hällo' }),
    ask('body: bytes', '/predictions/echo', null, { headers: bytes, body: new Uint8Array([0, 1, 255]) }),
  ],
  json: instances('json', { b64: {}, field: {} }),
  kserve: instances('kserve', {
    b64: { ours: { ...JSON_TYPE, body: { predictions: [{ body: { bytes: '0001ff' } }] }, why: BASE64 } },
    field: { ours: { ...JSON_TYPE, body: { predictions: [{ data: { bytes: '0001ff' } }] }, why: BASE64 } },
  }),
  kservev2: [
    infer(
      'an input',
      'echo',
      { id: 'mine', inputs: [{ name: 'x', shape: [2, 2], datatype: 'FP32', data: [1, 2, 3, 4] }] },
      { ours: { ...JSON_TYPE, status: 400, body: {}, why: TENSORS } },
    ),
    infer(
      'an image in base64',
      'classifier',
      { id: 'mine', inputs: [{ name: 'images', shape: [1], datatype: 'BYTES', data: [picture] }] },
      { ours: { ...JSON_TYPE, status: 400, body: {}, why: TENSORS } },
    ),
    infer('no inputs', 'echo', { id: 'mine' }, { ours: { status: 400, body: {}, why: PROTOCOL } }),
    infer('an unknown model', 'none', { id: 'mine', inputs: [] }, { ours: { body: {}, why: PROTOCOL } }),
  ],
};
