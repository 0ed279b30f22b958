import type { ImageTextMessage } from '../../../src/index.js';
import { el } from '../../page/dom.js';
import { literal } from '../../demos/code.js';
import type { Fields, TaskEvents } from '../task.js';
import { imageFields } from './image.js';
import { labelled, line, textOf } from './labelled.js';

/** A conversation with one picture. */
export interface AskedImage {
  readonly messages: readonly ImageTextMessage[];
}

/** Creates the fields of a photo, and of a question about it. */
export function askedImageFields(events: TaskEvents, question: string): Fields<AskedImage> {
  const photo = imageFields(events);
  const asks = line('Question', question);
  return {
    ...photo,
    get code() {
      return `{ messages: [{ role: 'user', content: [{ type: 'image', image: ${photo.code} }, { type: 'text', text: ${literal(asks.value)} }] }] }`;
    },
    get params() {
      return {};
    },
    element: el('div', {}, photo.element, labelled(asks)),
    input() {
      const [image, text] = [photo.input(), textOf(asks)];
      return {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', image },
              { type: 'text', text },
            ],
          },
        ],
      };
    },
  };
}
