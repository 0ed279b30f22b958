import type { Input, InputEvents, Picture } from '../demo.js';
import { button, el } from '../page/dom.js';
import { penKeys } from './pen-keys.js';

const SIDE = 280;
const PEN = 20;

/**
 * Creates a square to draw in, white on black, with mouse, finger, pen or keyboard. The first stroke replaces an image.
 */
export function drawPad({ changed, emptied }: InputEvents, invitation: string): Input {
  const canvas = el('canvas', {
    class: 'pad',
    tabindex: '0',
    role: 'application',
    'aria-label': `${invitation} here`,
    'aria-describedby': 'pad-keys',
  });
  canvas.width = canvas.height = SIDE;
  const context = canvas.getContext('2d', { alpha: false })!;
  context.lineCap = context.lineJoin = 'round';
  context.lineWidth = PEN;
  context.strokeStyle = '#fff';

  const tip = el('span', { class: 'pen-tip', 'aria-hidden': 'true' });
  const penState = el('strong', { 'aria-live': 'polite' });
  const element = el(
    'div',
    { class: 'pad-well' },
    canvas,
    el('p', { class: 'invitation', 'aria-hidden': 'true' }, invitation),
    tip,
    el(
      'p',
      { class: 'pad-keys', id: 'pad-keys' },
      'Keyboard: arrow keys move the pen, Space lowers or lifts it, Delete clears. ',
      penState,
    ),
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
  const line = (fromX: number, fromY: number, x: number, y: number): void => {
    if (current !== canvas) wipe();
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.lineTo(x, y);
    context.stroke();
    set(canvas);
  };
  wipe();
  set(undefined);

  // ── Mouse, finger, pen ──

  let pen: { readonly id: number; readonly box: DOMRect; x: number; y: number } | undefined;
  const lineTo = ({ clientX, clientY }: PointerEvent): void => {
    if (!pen) return;
    const x = ((clientX - pen.box.left) / pen.box.width) * SIDE;
    const y = ((clientY - pen.box.top) / pen.box.height) * SIDE;
    line(Number.isNaN(pen.x) ? x : pen.x, Number.isNaN(pen.y) ? y : pen.y, x, y);
    pen.x = x;
    pen.y = y;
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (pen || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pen = { id: event.pointerId, box: canvas.getBoundingClientRect(), x: NaN, y: NaN };
    lineTo(event);
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

  // ── Keyboard ──

  const keys = penKeys(canvas, SIDE, {
    clear,
    moved([fromX, fromY], [x, y], draws) {
      tip.style.left = `${(x / SIDE) * 100}%`;
      tip.style.top = `${(y / SIDE) * 100}%`;
      tip.toggleAttribute('data-down', keys.isDown);
      const state = keys.isDown ? 'The pen is down.' : 'The pen is up.';
      if (penState.textContent !== state) penState.textContent = state;
      if (!draws) return;
      line(fromX, fromY, x, y);
      changed();
    },
  });

  return {
    element,
    actions: [button('Clear', clear)],
    current: () => current,
    given: () => (current instanceof Blob ? current : undefined),
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
