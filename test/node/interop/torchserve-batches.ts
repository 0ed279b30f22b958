/** Requests that are sent at the same time, to models whose batches have two rows. */
import type { Question } from './question.ts';
import { BAD_REQUEST, bytes, CLASSES, json, JSON_TYPE, scene, text } from './requests.ts';

const row = (batch: string, title: string, more: Partial<Question> = {}): Question => ({
  title: `${batch}: ${title}`,
  batch,
  path: '/predictions/batching',
  headers: json,
  ours: JSON_TYPE,
  ...more,
});

const order = (name: string): string => JSON.stringify({ order: name });

const picture = { path: '/predictions/pair', headers: bytes, body: scene };

const ALONE = 'a bad row fails alone; TorchServe fails its batch';

export const BATCHES: readonly Question[] = [
  row('two requests at once', 'the first', { body: order('batch') }),
  row('two requests at once', 'the second', { body: order('batch') }),
  row('rows of two types', 'a text', { headers: text, body: 'abc' }),
  row('rows of two types', 'a list', { body: '[1,2]' }),
  row('a row beside one that fails', 'the one that fails', {
    body: order('prediction-exception'),
    ours: {
      status: 500,
      body: { code: 500, type: 'InternalServerException', message: 'no such thing' },
      why: 'a row that failed has an error code, and no status of its own',
    },
  }),
  row('a row beside one that fails', 'the other one', {
    headers: text,
    body: 'abc',
    ours: { status: 200, body: { body: { text: 'abc' } }, why: ALONE },
  }),
  row('two images', 'a PNG', picture),
  row('two images', 'its base64', { ...picture, headers: text, body: scene.toString('base64') }),
  row('an image beside none', 'the image', { ...picture, ours: { status: 200, body: CLASSES, why: ALONE } }),
  row('an image beside none', 'none', { ...picture, body: 'no image', ...BAD_REQUEST }),
];
