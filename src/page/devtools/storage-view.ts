import { messageOf } from '../../contract/errors.js';
import { cache } from '../client/cache.js';
import { listVerdicts } from '../selection/verdicts.js';
import { el, setRows, setText, table } from './dom.js';
import { counted, describeVerdict, inBytes, readVerdictKey, shortUrl } from './words.js';

const USED = { dateStyle: 'short', timeStyle: 'short' } as const;

export interface StorageView {
  readonly element: HTMLElement;
  /** Reads the stores again, unless they are being read. */
  update(): void;
}

/** Shows what this origin has stored: the verdicts on backends, and the downloaded files. */
export function storageView(): StorageView {
  const verdicts = table('Cached verdicts', ['Candidate', 'Model', 'Verdict']);
  const files = table('Cached files', ['File', 'Size', 'Store', 'Last used']);
  const found = el('p', { class: 'quiet' });
  const sum = el('p', { class: 'quiet' });
  const element = el(
    'section',
    { class: 'client', 'aria-label': 'Stored by this origin' },
    el('h3', {}, 'Stored by this origin'),
    el('div', {}, el('h4', {}, 'Cached verdicts'), found, verdicts.element),
    el('div', {}, el('h4', {}, 'Cached files'), sum, files.element),
  );
  let isReading = false;
  return {
    element,
    update() {
      if (isReading) return;
      isReading = true;
      const reading = [
        showVerdicts().catch((error: unknown) => setText(found, messageOf(error))),
        showFiles().catch((error: unknown) => setText(sum, messageOf(error))),
      ];
      void Promise.all(reading).then(() => (isReading = false));
    },
  };

  async function showVerdicts(): Promise<void> {
    const all = [...(await listVerdicts())];
    setText(found, all.length === 0 ? 'None: nothing was compared or measured.' : `${counted(all.length, 'verdict')}.`);
    verdicts.element.hidden = all.length === 0;
    setRows(
      verdicts,
      all.map(([key, verdict]) => {
        const { candidate, model } = readVerdictKey(key);
        return [candidate, shortUrl(model), describeVerdict(verdict)];
      }),
    );
  }

  async function showFiles(): Promise<void> {
    const all = await cache.list();
    const { bytes, quota } = await cache.estimate();
    const room = quota === undefined ? '' : `; the browser allows ${inBytes(quota)}`;
    setText(sum, `${counted(all.length, 'file')}, ${inBytes(bytes)}${room}.`);
    files.element.hidden = all.length === 0;
    setRows(
      files,
      all
        .toReversed()
        .map(({ url, bytes, store, usedAt }) => [
          shortUrl(url),
          inBytes(bytes),
          store,
          usedAt.toLocaleString([], USED),
        ]),
    );
  }
}
