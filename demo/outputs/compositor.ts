import { paintMask, type SoftMask } from '../../src/index.js';
import type { Shown } from '../inputs/picture-stage.js';
import { blurrer } from './blur.js';
import { drawScenery } from './scenery.js';

/** The new background; `mask` shows the mask alone. */
export type Backdrop = 'blur' | 'scenery' | 'color' | 'mask';

export interface Compositor {
  draw(shown: Shown, mask: SoftMask, backdrop: Backdrop, color: string): void;
  clear(): void;
}

/**
 * Puts the person of a picture in front of another background. JavaScript touches only the mask's pixels, at the
 * model's size; the canvas does the rest.
 * @param largest a picture is drawn no larger than this, in pixels of its longer side
 */
export function compositor(canvas: HTMLCanvasElement, largest: number): Compositor {
  const context = canvas.getContext('2d')!;
  const person = document.createElement('canvas').getContext('2d')!;
  const scenery = document.createElement('canvas').getContext('2d')!;
  const blurred = blurrer();

  const lay = (how: GlobalCompositeOperation, image: CanvasImageSource): void => {
    context.globalCompositeOperation = how;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
  };
  const fill = (how: GlobalCompositeOperation, color: string): void => {
    context.globalCompositeOperation = how;
    context.fillStyle = color;
    context.fillRect(0, 0, canvas.width, canvas.height);
  };
  const drawn = (): HTMLCanvasElement => {
    if (fit(scenery, canvas.width, canvas.height)) drawScenery(scenery);
    return scenery.canvas;
  };

  return {
    draw({ image, width, height }, mask, backdrop, color) {
      const scale = Math.min(1, largest / Math.max(width, height));
      fit(context, Math.round(width * scale), Math.round(height * scale));
      fit(person, mask.width, mask.height);
      person.putImageData(paintMask(mask, { color: [255, 255, 255] }), 0, 0);
      if (backdrop === 'mask') {
        fill('copy', '#000');
        lay('source-over', person.canvas);
        return;
      }
      lay('copy', image);
      const behind = backdrop === 'blur' ? blurred(canvas, person.canvas) : undefined;
      lay('destination-in', person.canvas);
      if (backdrop === 'color') fill('destination-over', color);
      else lay('destination-over', behind ?? drawn());
    },
    clear: () => context.clearRect(0, 0, canvas.width, canvas.height),
  };
}

/** Sizes a canvas. @returns whether that cleared it */
function fit({ canvas }: CanvasRenderingContext2D, width: number, height: number): boolean {
  if (canvas.width === width && canvas.height === height) return false;
  [canvas.width, canvas.height] = [width, height];
  return true;
}
