import { el } from '../page/dom.js';
import { Explained } from '../page/explained.js';

/** Has the browser save a canvas as a PNG file. @throws if the canvas is too large */
export async function savePng(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (!blob) throw new Explained('The picture is too large to be saved as a PNG file. Choose a smaller photo.');
  const url = URL.createObjectURL(blob);
  el('a', { href: url, download: name }).click();
  // The browser has read the address by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
