import type { Sample } from '../demo.js';
import { button, el } from '../page/dom.js';
import { Explained } from '../page/explained.js';

export interface SampleList {
  readonly element: HTMLElement;
  /** Shows which sample is the input. */
  select(sample: Sample | undefined): void;
}

/** Creates a button for each sample: the picture, or the name of the text or the recording. */
export function sampleList(samples: readonly Sample[], take: (sample: Sample) => void): SampleList {
  const buttons = samples.map((sample) => {
    const element = button('', () => take(sample));
    element.title = sample.shows;
    element.append(
      /\.(txt|wav)$/.test(sample.url)
        ? sample.shows
        : el('img', { src: sample.url, alt: sample.shows, draggable: 'false' }),
    );
    return { sample, element };
  });
  return {
    element: el('ul', { class: 'samples' }, ...buttons.map(({ element }) => el('li', {}, element))),
    select(selected) {
      for (const { sample, element } of buttons) element.setAttribute('aria-pressed', String(sample === selected));
    },
  };
}

/** Returns a sample's name in the page's address: its file's name. */
export function nameOfSample({ url }: Sample): string {
  return url.replace(/^.*\//, '').replace(/\.\w+$/, '');
}

/** @throws if the server does not answer with it */
export async function fetchSample({ url }: Sample): Promise<Blob> {
  const response = await fetch(url).catch(() => undefined);
  if (!response?.ok)
    throw new Explained('The sample could not be downloaded. Check your network connection, then choose it again.');
  return await response.blob();
}
