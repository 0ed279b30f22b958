import type { Sample } from '../demo.js';
import { button, el } from '../page/dom.js';

/** A button a sample: the picture itself, or what the text is. */
export function sampleButtons(samples: readonly Sample[], take: (sample: Sample) => void): readonly HTMLElement[] {
  return samples.map((sample) => {
    const element = button('', () => take(sample));
    element.title = sample.shows;
    element.append(
      sample.url.endsWith('.txt')
        ? sample.shows
        : el('img', { src: sample.url, alt: sample.shows, draggable: 'false', loading: 'lazy' }),
    );
    return el('li', {}, element);
  });
}

/** @throws if the server does not answer with it */
export async function fetchSample({ url }: Sample): Promise<Blob> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}.`);
  return await response.blob();
}
