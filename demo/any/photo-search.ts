/** Photos that are found by words: fields and view are one, because the answer is the order of the photos. */
import { nearest, type Client, type Embedding } from '../../src/index.js';
import { button, el } from '../page/dom.js';
import { chooses } from '../page/drop.js';
import { labelled, line, textOf } from './fields/labelled.js';
import { PHOTOS } from './fields/image.js';
import type { AskOptions, Mounted, TaskEvents } from './task.js';
import { headed } from './views/headed.js';

/** A photo that can be found. */
interface Photo {
  readonly source: Blob | URL;
  readonly name: string;
  readonly element: HTMLElement;
  readonly score: HTMLElement;
}

interface Search {
  readonly words: string;
  readonly photos: readonly Photo[];
}

/** A photo and how near it is to the words, −1 to 1. */
interface FoundPhoto {
  readonly index: number;
  readonly name: string;
  readonly score: number;
}

const MORE = [
  { url: 'models/nanodet/samples/party.jpg', shows: 'a party' },
  { url: 'models/upscaler/samples/cup.png', shows: 'a cup, close' },
  { url: 'models/selfie/samples/friends.jpg', shows: 'friends' },
  { url: 'models/selfie/samples/photographer.jpg', shows: 'a photographer' },
  { url: 'models/ocr/samples/receipt.jpg', shows: 'a receipt' },
  { url: 'models/ocr/samples/ticket.jpg', shows: 'a ticket' },
];

/** The vectors that a model has made of photos: a photo is read once. */
const vectors = new WeakMap<Client, Map<Photo, Embedding>>();

export function photoSearch({ chosen }: TaskEvents): Mounted<Search, readonly FoundPhoto[]> {
  const words = line('Words', 'a cat that sleeps');
  const list = el('ol', { class: 'alike', 'aria-label': 'Photos, the best first', tabindex: '0' });
  const { element: heading, head } = headed();
  let photos: readonly Photo[] = [];

  const add = (source: Blob | URL, name: string): void => {
    const src = source instanceof URL ? source.href : URL.createObjectURL(source);
    const score = el('figcaption', {}, '');
    const element = el('li', {}, el('figure', {}, el('img', { src, alt: name }), score));
    photos = [...photos, { source, name, element, score }];
    list.append(element);
  };
  for (const { url, shows } of [...PHOTOS, ...MORE]) add(new URL(url, document.baseURI), shows);

  const pick = button('Add a photo…', () => {});
  const chooser = el('input', {
    type: 'file',
    id: 'chooser',
    accept: 'image/*',
    'aria-label': 'Image file',
    tabindex: '-1',
    hidden: '',
  });
  const take = (file: File): void => {
    add(file, file.name || 'The photo');
    chosen();
  };
  chooses(pick, chooser, take);

  return {
    fields: {
      code: '',
      element: el('div', { class: 'any-input' }, labelled(words), el('div', { class: 'actions' }, pick, chooser)),
      input: () => ({ words: textOf(words), photos }),
      take,
      dispose() {
        for (const { source, element } of photos)
          if (source instanceof Blob) URL.revokeObjectURL(element.querySelector('img')!.src);
      },
    },
    view: {
      element: el('div', {}, heading, list),
      show(found, { photos: asked }) {
        for (const { index, score } of found) {
          const photo = asked[index]!;
          photo.score.textContent = score.toFixed(3);
          list.append(photo.element);
        }
        head(found[0]?.name ?? 'No photo');
        return `The best photo shows ${found[0]?.name ?? 'nothing'}.`;
      },
      clear() {
        head(undefined);
        for (const { score } of photos) score.textContent = '';
      },
    },
  };
}

/** Has a model make vectors of the photos that it has not read yet, and of the words, and returns the nearest photos. */
export async function findPhotos(
  model: Client,
  { words, photos }: Search,
  { signal, says }: AskOptions,
): Promise<readonly FoundPhoto[]> {
  const known = vectors.get(model) ?? new Map<Photo, Embedding>();
  vectors.set(model, known);
  for (const [at, photo] of photos.entries()) {
    if (known.has(photo)) continue;
    says(`Reading photo ${at + 1} of ${photos.length}…`);
    known.set(photo, (await model.predict(photo.source as never, { signal })) as Embedding);
  }
  const query = (await model.predict(words as never, { signal })) as Embedding;
  const all = photos.map((photo) => known.get(photo)!);
  return nearest(query, all, all.length).map(({ index, score }) => ({ index, name: photos[index]!.name, score }));
}

/** The code of the search. */
export const SEARCH = `const photos = [...document.querySelectorAll('img')];
const vectors = await Promise.all(photos.map((photo) => model.predict(photo)));
const words = await model.predict('a cat that sleeps');
for (const { index, score } of nearest(words, vectors, 3)) console.log(photos[index], score);`;
