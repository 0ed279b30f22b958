/** Parts of the requests that are sent to a real server and to ours, and why their answers differ. */
import { readFileSync } from 'node:fs';
import type { Question } from './question.ts';

export const scene = readFileSync(new URL('../../goldens/detection/scene.png', import.meta.url));
export const json = { 'content-type': 'application/json' };
export const text = { 'content-type': 'text/plain' };
export const bytes = { 'content-type': 'application/octet-stream' };

/** TorchServe sends no content type with a handler's answer, unless the handler sets one. */
export const JSON_TYPE = { type: 'application/json', why: 'our answers say what they are' };
export const TEXT_TYPE = { type: 'text/plain; charset=utf-8', why: 'our answers say what they are' };

/** TorchServe answers a wrong input with 503. */
export const BAD_REQUEST: Partial<Question> = {
  without: ['message'],
  ours: {
    status: 400,
    body: { code: 400, type: 'BadRequestException' },
    why: 'the request is wrong; 503 tells callers to try again',
  },
};

/** What TorchServe answers to the scene. */
export const CLASSES = {
  bee: 0.3714197278022766,
  cat: 0.2019067108631134,
  fox: 0.17546291649341583,
  hen: 0.09666214138269424,
  cow: 0.09511971473693848,
};
