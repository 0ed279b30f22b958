/** One session with a stateful handler: the requests of some sequences, in this order. */
import type { Answer, Question } from './question.ts';
import { JSON_TYPE, text } from './requests.ts';

type Ours = Partial<Answer> & { readonly why: string };

const add = (title: string, number: number, headers: Readonly<Record<string, string>>, ours: Ours = JSON_TYPE) => ({
  title: `a sequence: ${title}`,
  path: '/predictions/summing',
  headers: {
    ...text,
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`ts_request_sequence_${name}`, value])),
  },
  body: String(number),
  ours,
});

/** Only the server knows that a request with an id of the client's has opened a sequence. */
const opened = (id: string): Ours => ({
  ...JSON_TYPE,
  sequence: { id, start: 'true' },
  why: 'whoever did not mean to open a sequence is told',
});

export const SEQUENCES: readonly Question[] = [
  add('it begins with an id', 1, { id: 'a', start: 'true' }),
  add('it goes on', 4, { id: 'a' }),
  add('another one begins without saying so', 10, { id: 'b' }, opened('b')),
  add('the first one goes on', 9, { id: 'a' }),
  add('the other one ends', 5, { id: 'b', end: 'true' }),
  add('the first one ends', 1, { id: 'a', end: 'true' }),
  add('the id of one that has ended begins another one', 2, { id: 'a' }, opened('a')),
  add('it begins without an id', 7, { start: 'true' }),
  add('flags of any case', 3, { id: 'c', start: 'True', end: 'false' }, opened('c')),
  add(
    'no sequence',
    3,
    {},
    {
      ...JSON_TYPE,
      sequence: {},
      why: 'a request without these headers belongs to no sequence; TorchServe makes one for it',
    },
  ),
  add(
    'a flag that is none',
    3,
    { start: 'maybe' },
    {
      status: 400,
      type: 'application/json',
      sequence: {},
      body: { code: 400, type: 'BadRequestException', message: 'ts_request_sequence_start: expected true or false.' },
      why: 'it is wrong; TorchServe gives it to the handler',
    },
  ),
];
