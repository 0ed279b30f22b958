import type { Sample } from '../demo.js';
import { button, el } from '../page/dom.js';

/** Creates a button for each sample: the picture, or the name of the text. */
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
  if (!response.ok)
    throw new Error(`The sample ${url} could not be loaded: the server answered ${response.status}. Reload the page.`);
  return await response.blob();
}
