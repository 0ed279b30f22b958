import type { OwnPage } from './any/abouts.js';
import type { Demo } from './demo.js';
import type { Exhibit } from './exhibit.js';
import { home } from './home/home.js';

/** A page of the gallery, as the navigation knows it. */
export interface Page {
  readonly id: string;
  readonly title: string;
  /** Loads the page's code. */
  open(): Promise<Exhibit>;
}

export const HOME: Page = { id: home.id, title: home.title, open: async () => home };

/** Pages of the navigation, under a title. */
interface Group {
  readonly title: string;
  readonly pages: readonly Page[];
}

/**
 * The groups in the order of the navigation, which is that of the first page's cards. Each page is a chunk of its own: a visitor downloads the pages that they open.
 */
export const GROUPS: readonly Group[] = [
  {
    title: 'See',
    pages: [
      demo('detection', 'Objects', async () => (await import('./demos/detection.js')).detection),
      demo('background', 'Background', async () => (await import('./demos/segmentation.js')).segmentation),
      { id: 'people', title: 'People', open: async () => (await import('./people/people.js')).people },
      own('cut-out', 'Cut-out'),
      { id: 'likeness', title: 'Likeness', open: async () => (await import('./likeness/likeness.js')).likeness },
      demo('upscaling', 'Upscaling', async () => (await import('./demos/upscaling.js')).upscaling),
    ],
  },
  {
    title: 'Read',
    pages: [
      demo('text', 'Text', async () => (await import('./demos/text-in-photos.js')).textInPhotos),
      demo('language', 'Language', async () => (await import('./demos/language.js')).language),
      demo('digits', 'Digits', async () => (await import('./demos/digits.js')).digits),
      demo('orientation', 'Orientation', async () => (await import('./demos/orientation.js')).orientation),
    ],
  },
  {
    title: 'Hear',
    pages: [
      { id: 'speech', title: 'Speech', open: async () => (await import('./speech/speech.js')).speech },
      { id: 'voices', title: 'Voices', open: async () => (await import('./voices/voices.js')).voices },
    ],
  },
  {
    title: 'Write',
    pages: [
      { id: 'chat', title: 'Chat', open: async () => (await import('./chat/chat.js')).chat },
      { id: 'writing', title: 'Writing', open: async () => (await import('./writing/writing.js')).writing },
    ],
  },
  {
    title: 'Operate',
    pages: [
      { id: 'reasons', title: 'Reasons', open: async () => (await import('./reasons/reasons.js')).reasons },
      { id: 'backends', title: 'Backends', open: async () => (await import('./lab/lab.js')).lab },
      own('any', 'Any model'),
      { id: 'serving', title: 'Serving', open: async () => (await import('./serving/serving.js')).serving },
      { id: 'fetch', title: 'Fetch', open: async () => (await import('./fetch/fetch.js')).fetchPage },
    ],
  },
];

const PAGES = GROUPS.flatMap(({ pages }) => pages);

/** Returns the page of an address, or undefined if there is none. */
export function pageOf(id: string): Page | undefined {
  if (id === HOME.id) return HOME;
  if (/^(docs|models)(\/|$)/.test(id))
    return { id, title: 'Docs', open: async () => (await import('./reading/reading.js')).reading(id) };
  return PAGES.find((page) => page.id === id);
}

/** Describes a page for which the visitor brings the model. */
function own(id: OwnPage, title: string): Page {
  return { id, title, open: async () => (await import('./any/page.js')).modelPage(id) };
}

function demo(id: string, title: string, load: () => Promise<Demo>): Page {
  return {
    id,
    title,
    async open() {
      const [{ demoPage }, one] = await Promise.all([import('./demo-page.js'), load()]);
      return demoPage(one);
    },
  };
}
