import type { Input } from '../demo.js';
import { el } from '../page/dom.js';

/** A photo on the page, and whatever is put over it. */
export interface PhotoStage extends Input {
  /** Covers the photo exactly. */
  readonly layers: HTMLElement;
  /** The size of the current photo, in pixels; undefined if there is none, or the page cannot show it. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
}

/** Shows a photo. @param longest the longer side in pixels: a larger photo is scaled down to it */
export function photoStage(longest: number): PhotoStage {
  const image = el('img', { alt: 'The photo', hidden: '' });
  const layers = el('div', { class: 'layers' }, image);
  const element = el(
    'div',
    { class: 'picture-stage', 'data-empty': '' },
    layers,
    el('p', { class: 'invitation' }, 'Choose a photo'),
  );
  let given: Blob | undefined;
  let photo: Blob | undefined;
  let size: PhotoStage['size'];
  let showing = 0;

  return {
    element,
    layers,
    actions: [],
    get size() {
      return size;
    },
    current: () => photo,
    given: () => given,
    async show(file) {
      const mine = (showing += 1);
      const shown = await scaledDown(file, longest);
      const bitmap = await createImageBitmap(shown).catch(() => undefined);
      const known = bitmap && { width: bitmap.width, height: bitmap.height };
      bitmap?.close();
      if (mine !== showing) return;
      [given, photo, size] = [file, shown, known];
      URL.revokeObjectURL(image.src);
      image.src = URL.createObjectURL(shown);
      image.hidden = false;
      element.removeAttribute('data-empty');
      layers.style.setProperty('--ratio', String(known ? known.width / known.height : 1.5));
    },
    dispose() {
      showing += 1;
      URL.revokeObjectURL(image.src);
    },
  };
}

/** Returns a photo whose longer side has at most `longest` pixels; what this page cannot show is returned as it is. */
export async function scaledDown(photo: Blob, longest: number): Promise<Blob> {
  const bitmap = await createImageBitmap(photo).catch(() => undefined);
  const scale = bitmap ? longest / Math.max(bitmap.width, bitmap.height) : 1;
  if (!bitmap || scale >= 1) {
    bitmap?.close();
    return photo;
  }
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d')!;
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return await canvas.convertToBlob({ type: 'image/png' });
}
