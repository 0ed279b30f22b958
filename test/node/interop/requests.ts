/** Parts of the requests that are sent to a real server and to ours, and why their answers differ. */
import { readFileSync } from 'node:fs';

export const scene = readFileSync(new URL('../../goldens/detection/scene.png', import.meta.url));
export const json = { 'content-type': 'application/json' };
export const text = { 'content-type': 'text/plain' };
export const bytes = { 'content-type': 'application/octet-stream' };

/** TorchServe sends no content type with a handler's answer, unless the handler sets one. */
export const JSON_TYPE = { type: 'application/json', why: 'our answers say what they are' };
export const TEXT_TYPE = { type: 'text/plain; charset=utf-8', why: 'our answers say what they are' };
