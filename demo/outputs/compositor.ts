import { paintMask, type SoftMask } from '../../src/index.js';
import type { Shown } from '../inputs/picture-stage.js';
import { blurrer } from './blur.js';
import { drawScenery } from './scenery.js';

/** What comes behind the person; `mask` shows the mask alone. */
export type Backdrop = 'blur' | 'scenery' | 'colour' | 'mask';

export interface Compositor {
  draw(shown: Shown, mask: SoftMask, backdrop: Backdrop, colour: string): void;
  clear(): void;
}

/** A picture is drawn no larger than this, in pixels of its longer side. */
const LARGEST = 1920;

/** Puts the person of a picture before another background. The page touches pixels of the mask alone, at the model's own size; everything larger the canvas does. */
export function compositor(canvas: HTMLCanvasElement): Compositor {
  const context = canvas.getContext('2d')!;
  const stencil = layer();
  const person = layer();
  const background = layer();
  const scenery = layer();
  const blurred = blurrer();
  const blurredBackground = blurrer();

  /** Sizes a layer; true where that emptied it. */
  const fit = (own: CanvasRenderingContext2D, width: number, height: number): boolean => {
    if (own.canvas.width === width && own.canvas.height === height) return false;
    [own.canvas.width, own.canvas.height] = [width, height];
    return true;
  };
  const cut = (own: CanvasRenderingContext2D, image: CanvasImageSource, how: 'destination-in' | 'destination-out'): void => {
    const { width, height } = canvas;
    fit(own, width, height);
    own.globalCompositeOperation = 'copy';
    own.drawImage(image, 0, 0, width, height);
    own.globalCompositeOperation = how;
    own.imageSmoothingQuality = 'high';
    own.drawImage(stencil.canvas, 0, 0, width, height);
  };
  const drawBackdrop = (image: CanvasImageSource, backdrop: Backdrop, colour: string): void => {
    const { width, height } = canvas;
    if (backdrop === 'blur') {
      // What the person covers is filled from around them: blurred together, they would glow.
      cut(background, image, 'destination-out');
      context.drawImage(blurred(image, width, height), 0, 0);
      const own = blurredBackground(background.canvas, width, height);
      for (let i = 0; i < 3; i++) context.drawImage(own, 0, 0);
    } else if (backdrop === 'scenery') {
      if (fit(scenery, width, height)) drawScenery(scenery);
      context.drawImage(scenery.canvas, 0, 0);
    } else {
      context.fillStyle = backdrop === 'mask' ? '#000' : colour;
      context.fillRect(0, 0, width, height);
    }
  };

  return {
    draw({ image, width, height }, mask, backdrop, colour) {
      const scale = Math.min(1, LARGEST / Math.max(width, height));
      fit(context, Math.round(width * scale), Math.round(height * scale));
      fit(stencil, mask.width, mask.height);
      stencil.putImageData(paintMask(mask, { color: [255, 255, 255] }), 0, 0);
      drawBackdrop(image, backdrop, colour);
      if (backdrop === 'mask') return context.drawImage(stencil.canvas, 0, 0, canvas.width, canvas.height);
      cut(person, image, 'destination-in');
      context.drawImage(person.canvas, 0, 0);
    },
    clear: () => context.clearRect(0, 0, canvas.width, canvas.height),
  };
}

function layer(): CanvasRenderingContext2D {
  return document.createElement('canvas').getContext('2d')!;
}
