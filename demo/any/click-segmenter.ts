/** Objects of a photo that the visitor shows by clicks: fields and view are one, because both are on the photo. */
import { paintInstances, type Client, type KeptInput, type PromptedMask } from '../../src/index.js';
import { button, el } from '../page/dom.js';
import { Explained } from '../page/explained.js';
import { segments } from '../page/segments.js';
import { imageFields } from './fields/image.js';
import type { AskOptions, Mounted, Sample, TaskEvents } from './task.js';
import { counted, headed } from './views/headed.js';

/** A photo, and what was clicked in it, in pixels of the photo. */
interface Clicked {
  readonly photo: Blob;
  readonly points: readonly Point[];
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly isIn: boolean;
}

/** The part of the photo's sides that the cross moves by with each key. */
const STEP = 0.02;
const MOVES: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

/** The photo that a model was asked about last. It is encoded once, whatever is clicked. */
const kept = new WeakMap<Client, { readonly photo: Blob; readonly input: Promise<KeptInput> }>();

export function clickSegments(events: TaskEvents): Mounted<Clicked, readonly PromptedMask[]> {
  /** In parts of the photo's sides, 0 to 1; first its middle. */
  let points: readonly Point[] = [];
  let [crossX, crossY] = [0.5, 0.5];
  const image = imageFields({
    ...events,
    chosen() {
      points = [{ x: 0.5, y: 0.5, isIn: true }];
      changed();
    },
  });
  const { layers, canvas } = image.stage;
  const cross = el('span', { class: 'click-cross', 'aria-hidden': 'true' });
  const marks = el('div', { class: 'click-marks' });
  const target = el('div', {
    class: 'click-target',
    role: 'application',
    tabindex: '0',
    'aria-label': 'Click an object. With the keyboard: the arrows move a cross, and Enter clicks there.',
  });
  layers.append(marks, cross, target);
  const kind = segments(
    'click-kind',
    'What a click says',
    { in: 'Part of the object', out: 'Not part of it' },
    () => {},
  );
  const clear = button('Remove the points', () => {
    points = [];
    changed();
  });
  const { element, head } = headed(
    el('p', { class: 'advice' }, 'Click the object; then parts that are missing, or that do not belong to it.'),
  );

  function changed(): void {
    clear.disabled = points.length === 0;
    marks.replaceChildren(
      ...points.map(({ x, y, isIn }) => {
        const mark = el('span', { class: 'click-mark', 'data-kind': isIn ? 'in' : 'out' });
        mark.style.left = `${x * 100}%`;
        mark.style.top = `${y * 100}%`;
        return mark;
      }),
    );
    if (points.length > 0) events.chosen();
    else view.clear();
  }
  const add = (x: number, y: number): void => {
    points = [...points, { x, y, isIn: kind.value === 'in' }];
    changed();
  };
  const move = (x: number, y: number): void => {
    [crossX, crossY] = [x, y].map((one) => Math.min(1, Math.max(0, one))) as [number, number];
    cross.style.left = `${crossX * 100}%`;
    cross.style.top = `${crossY * 100}%`;
  };
  target.addEventListener('click', ({ offsetX, offsetY }) => {
    move(offsetX / target.clientWidth, offsetY / target.clientHeight);
    add(crossX, crossY);
  });
  target.addEventListener('keydown', (event) => {
    const step = MOVES[event.key];
    if (step) move(crossX + step[0], crossY + step[1]);
    else if (event.key === 'Enter') add(crossX, crossY);
    else return;
    event.preventDefault();
  });
  move(crossX, crossY);

  const view: Mounted<Clicked, readonly PromptedMask[]>['view'] = {
    element,
    show(masks) {
      canvas.width = 0;
      const [best] = masks;
      head(counted(masks.length, 'mask'), best && `estimated IoU ${best.score.toFixed(2)}`);
      if (!best) return 'No mask.';
      [canvas.width, canvas.height] = [best.mask.width, best.mask.height];
      canvas.getContext('2d')!.putImageData(paintInstances(masks, { alpha: 0.65 }), 0, 0);
      return `${counted(masks.length, 'mask')}.`;
    },
    clear() {
      canvas.width = 0;
      head(undefined);
    },
  };
  return {
    fields: {
      ...image,
      element: el('div', { class: 'any-input' }, image.element, kind.element, el('div', { class: 'actions' }, clear)),
      input() {
        const { shown } = image.stage;
        if (!shown || points.length === 0) throw new Explained('Click an object in the photo first.');
        const { width, height } = shown;
        return {
          photo: image.input(),
          points: points.map(({ x, y, isIn }) => ({ x: x * width, y: y * height, isIn })),
        };
      },
    },
    view,
  };
}

/** Asks for the object that the points show. */
export async function segmentClicked(
  model: Client,
  { photo, points }: Clicked,
  { params, signal }: AskOptions,
): Promise<readonly PromptedMask[]> {
  const prompts = { points: points.map(({ x, y }) => [x, y]), labels: points.map(({ isIn }) => Number(isIn)) };
  return (await model.predict({ image: await keptPhoto(model, photo), ...prompts } as never, {
    params: params as never,
    signal,
  })) as readonly PromptedMask[];
}

/** Returns the photo as the model keeps it, and frees the one before. One that could not be kept is tried again. */
function keptPhoto(model: Client, photo: Blob): Promise<KeptInput> {
  const before = kept.get(model);
  if (before?.photo === photo) return before.input;
  const current = { photo, input: model.keep(photo) };
  kept.set(model, current);
  current.input.catch(() => kept.get(model) === current && kept.delete(model));
  void before?.input.then(
    (input) => input.release(),
    () => {},
  );
  return current.input;
}

export const CLICK: Sample = {
  imports: ['paintInstances'],
  lines: (options) => `const photo = await model.keep(document.querySelector('img')!); // it is encoded once
const masks = await model.predict({ image: photo, points: [[200, 150]] }${options});
const image = paintInstances(masks);
const { width, height } = image;
const canvas = Object.assign(document.createElement('canvas'), { width, height });
canvas.getContext('2d')!.putImageData(image, 0, 0);
document.body.append(canvas);`,
};
