import type { Input, InputEvents, Picture } from '../demo.js';
import { button, el } from '../page/dom.js';

const SIDE = 280;
const PEN = 20;

/** Creates a square to draw in, white on black, with mouse, finger or pen. The visitor can draw on an image too. */
export function drawPad({ changed, emptied }: InputEvents, invitation: string): Input {
  const canvas = el('canvas', {
    class: 'pad',
    role: 'img',
    'aria-label': `${invitation} here with a mouse, a finger or a pen. With a keyboard: choose a sample or an image file.`,
  });
  canvas.width = canvas.height = SIDE;
  const context = canvas.getContext('2d', { alpha: false })!;
  context.lineCap = context.lineJoin = 'round';
  context.lineWidth = PEN;
  context.strokeStyle = '#fff';

  const element = el(
    'div',
    { class: 'pad-well' },
    canvas,
    el('p', { class: 'invitation', 'aria-hidden': 'true' }, invitation),
  );
  let current: Picture | undefined;
  let showing = 0;
  const set = (picture: Picture | undefined): void => {
    current = picture;
    showing += 1;
    element.toggleAttribute('data-empty', !picture);
  };

  const wipe = (): void => {
    context.fillStyle = '#000';
    context.fillRect(0, 0, SIDE, SIDE);
  };
  const clear = (): void => {
    wipe();
    set(undefined);
    emptied();
  };
  wipe();
  set(undefined);

  let pen: { readonly id: number; readonly box: DOMRect; x: number; y: number } | undefined;
  const lineTo = ({ clientX, clientY }: PointerEvent): void => {
    if (!pen) return;
    const x = ((clientX - pen.box.left) / pen.box.width) * SIDE;
    const y = ((clientY - pen.box.top) / pen.box.height) * SIDE;
    context.beginPath();
    context.moveTo(Number.isNaN(pen.x) ? x : pen.x, Number.isNaN(pen.y) ? y : pen.y);
    context.lineTo(x, y);
    context.stroke();
    pen.x = x;
    pen.y = y;
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (pen || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pen = { id: event.pointerId, box: canvas.getBoundingClientRect(), x: NaN, y: NaN };
    lineTo(event);
    set(canvas);
    changed();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (event.pointerId !== pen?.id) return;
    const points = event.getCoalescedEvents();
    for (const point of points.length > 0 ? points : [event]) lineTo(point);
    changed();
  });
  const lift = (event: PointerEvent): void => {
    if (event.pointerId === pen?.id) pen = undefined;
  };
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);

  return {
    element,
    actions: [button('Clear', clear)],
    current: () => current,
    async show(picture) {
      set(picture);
      const mine = showing;
      // The worker may read a format that this page cannot show.
      const bitmap = await createImageBitmap(picture).catch(() => undefined);
      if (mine === showing) {
        wipe();
        if (bitmap) drawWhole(context, bitmap);
      }
      bitmap?.close();
    },
    dispose: () => set(undefined),
  };
}

/** Draws the whole picture in the middle, as large as possible; small pictures keep sharp pixels. */
function drawWhole(context: CanvasRenderingContext2D, bitmap: ImageBitmap): void {
  const scale = Math.min(SIDE / bitmap.width, SIDE / bitmap.height);
  const width = bitmap.width * scale;
  const height = bitmap.height * scale;
  context.imageSmoothingEnabled = scale < 2;
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
}
