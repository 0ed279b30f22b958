import type { Sample } from '../../demo.js';
import { pictureStage, type PictureStage } from '../../inputs/picture-stage.js';
import { button, el } from '../../page/dom.js';
import { chooses } from '../../page/drop.js';
import { Explained } from '../../page/explained.js';
import { fetchSample, sampleList } from '../../panels/samples.js';
import type { Fields, TaskEvents } from '../task.js';
import { labelled, line, namesOf } from './labelled.js';

export const PHOTOS: readonly [Sample, ...Sample[]] = [
  { url: 'models/selfie/samples/astronaut.jpg', shows: 'an astronaut' },
  { url: 'models/nanodet/samples/bar.jpg', shows: 'an evening in a bar' },
  { url: 'models/nanodet/samples/cat.jpg', shows: 'a cat' },
  { url: 'models/nanodet/samples/coffee.jpg', shows: 'a cup of coffee' },
  { url: 'models/nanodet/samples/rocket.jpg', shows: 'a rocket' },
];

/** For models that enlarge, or whose answer takes long for a large photo. */
export const SMALL_PHOTOS: readonly [Sample, ...Sample[]] = [
  { url: 'models/upscaler/samples/cup.png', shows: 'a cup, close' },
  { url: 'models/upscaler/samples/astronaut.png', shows: 'an astronaut’s face' },
];

interface ImageOptions {
  /** The labels in their field; without it there is no such field. */
  readonly labels?: string;
  readonly photos?: readonly [Sample, ...Sample[]];
}

export interface ImageFields extends Fields<Blob> {
  /** The picture, over which an answer can be drawn. */
  readonly stage: PictureStage;
}

/** Creates the fields of a photo: samples, or a file of the visitor's. */
export function imageFields(
  { chosen, refused }: TaskEvents,
  { labels, photos = PHOTOS }: ImageOptions = {},
): ImageFields {
  const stage = pictureStage({ changed() {}, emptied() {}, refused }, 'environment');
  const names = labels === undefined ? undefined : line('Labels, with commas between them', labels);
  const samples = sampleList(photos, (sample) => void takeSample(sample));
  let showing = 0;

  const show = async (photo: Blob, of?: Sample): Promise<void> => {
    const mine = (showing += 1);
    await stage.show(photo);
    if (mine !== showing) return;
    samples.select(of);
    chosen();
  };
  const takeSample = async (sample: Sample): Promise<void> => {
    const mine = (showing += 1);
    try {
      const photo = await fetchSample(sample);
      if (mine === showing) await show(photo, sample);
    } catch (error) {
      if (mine === showing) refused(error);
    }
  };
  const choose = button('Choose a file…', () => {});
  const chooser = el('input', {
    type: 'file',
    id: 'chooser',
    accept: 'image/*',
    'aria-label': 'Image file',
    tabindex: '-1',
    hidden: '',
  });
  chooses(choose, chooser, (file) => void show(file));
  void takeSample(photos[0]);

  return {
    stage,
    hasPicture: true,
    code: "document.querySelector('img')!",
    element: el(
      'div',
      { class: 'any-input' },
      stage.element,
      samples.element,
      el('div', { class: 'actions' }, choose, chooser),
      ...(names ? [labelled(names)] : []),
    ),
    get params() {
      return names ? { labels: namesOf(names.value, 'what to look for') } : {};
    },
    input() {
      const photo = stage.given();
      if (photo) return photo;
      throw new Explained('Choose a photo first.');
    },
    take: (file) => void show(file),
    dispose() {
      showing += 1;
      stage.dispose();
    },
  };
}
