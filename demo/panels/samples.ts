import type { Sample } from '../demo.js';
import { button, el } from '../page/dom.js';

/** A button a sample: the picture itself, or what the text is. */
export function sampleButtons(samples: readonly Sample[], take: (sample: Sample) => void): readonly HTMLElement[] {
  return samples.map((sample) => {
    const element = button('', () => take(sample));
    element.title = 'text' in sample ? sample.text : sample.shows;
    if ('text' in sample) element.append(sample.shows);
    else element.append(el('img', { src: sample.url, alt: sample.shows, draggable: 'false', loading: 'lazy' }));
    return el('li', {}, element);
  });
}

/** @throws if the server does not answer with it */
export async function fetchSample(sample: Sample): Promise<Blob> {
  if ('text' in sample) return new Blob([sample.text]);
  const response = await fetch(sample.url);
  if (!response.ok) throw new Error(`${sample.url}: the server answered ${response.status}.`);
  return await response.blob();
}
