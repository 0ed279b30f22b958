import type { PictureStage } from '../../inputs/picture-stage.js';
import { compare } from '../../outputs/compare.js';

export interface Overlay {
  /** Draws an answer over the photo. @param behind the color behind it; without it the photo shows through */
  draw(image: ImageData, behind?: string): void;
  clear(): void;
}

/** Draws answers over a stage's photo, with a slider between the photo and the answer. */
export function overlay(stage: PictureStage, answer: string): Overlay {
  const { canvas } = stage;
  const compared = compare(stage.layers, 'Photo', answer);
  compared.show(false);
  return {
    draw(image, behind) {
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext('2d')!;
      context.putImageData(image, 0, 0);
      if (behind !== undefined) {
        context.globalCompositeOperation = 'destination-over';
        context.fillStyle = behind;
        context.fillRect(0, 0, canvas.width, canvas.height);
      }
      compared.show(true);
    },
    clear() {
      canvas.width = 0;
      compared.show(false);
    },
  };
}
