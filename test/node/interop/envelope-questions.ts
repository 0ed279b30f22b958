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

/** Bodies with `instances`: those of the envelopes json and kserve. */
const instances = (envelope: string): readonly Question[] => [
  ask(`${envelope}: two rows`, '/v1/models/echo:predict', { instances: [{ x: 1 }, { x: [2.5, null], y: 'z' }] }),
  ask(`${envelope}: lists`, '/v1/models/echo:predict', { instances: [[1, 2], [3]] }),
  ask(`${envelope}: texts`, '/v1/models/echo:predict', { instances: ['one', 'two'] }),
  ask(`${envelope}: bytes in base64`, '/v1/models/echo:predict', { instances: [{ b64: 'AAH/' }] }),
  ask(`${envelope}: a field in base64`, '/v1/models/echo:predict', { instances: [{ data: { b64: 'AAH/' } }] }),
  ask(`${envelope}: images in base64`, '/v1/models/classifier:predict', {
    instances: [{ data: picture }, { data: picture }],
  }),
  ask(`${envelope}: no instances`, '/v1/models/echo:predict', { rows: [1] }, { without: ['message'] }),
  ask(`${envelope}: an empty list`, '/v1/models/echo:predict', { instances: [] }, { without: ['message'] }),
  ask(`${envelope}: an unknown model`, '/v1/models/none:predict', { instances: [1] }),
];

const infer = (title: string, model: string, body: unknown, more: Partial<Question> = {}): Question =>
  ask(`kservev2: ${title}`, `/v2/models/${model}/infer`, body, more);

export const ENVELOPES: Readonly<Record<string, readonly Question[]>> = {
  body: [
    ask('body: JSON', '/predictions/echo', { x: [1, 2.5, null] }),
    ask('body: a JSON list', '/predictions/echo', [1, 2]),
    ask('body: a text', '/predictions/echo', null, { headers: text, body: 'hällo' }),
    ask('body: bytes', '/predictions/echo', null, { headers: bytes, body: new Uint8Array([0, 1, 255]) }),
  ],
  json: instances('json'),
  kserve: instances('kserve'),
  kservev2: [
    infer('an input', 'echo', { id: 'mine', inputs: [{ name: 'x', shape: [2, 2], datatype: 'FP32', data: [1, 2, 3, 4] }] }),
    infer('an image in base64', 'classifier', {
      id: 'mine',
      inputs: [{ name: 'images', shape: [1], datatype: 'BYTES', data: [picture] }],
    }),
    infer('no inputs', 'echo', { id: 'mine' }, { without: ['message'] }),
    infer('an unknown model', 'none', { id: 'mine', inputs: [] }),
  ],
};
