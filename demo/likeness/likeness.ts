/** The page that finds pictures by likeness. */
import { load, nearest, type Client, type ImageFeatureExtractor } from '../../src/index.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { el } from '../page/dom.js';
import { chooses } from '../page/drop.js';
import { codePanel } from '../panels/code.js';
import { CODE } from './code.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { inWords } from '../panels/words.js';
import '../styles/instruments.css';
import '../styles/likeness.css';
import { tile, type Entry } from './pictures.js';

const MODEL = 'models/likeness/';
const BYTES = 4_552_281;

const SAMPLES: readonly (readonly [url: string, shows: string])[] = [
  ['models/nanodet/samples/coffee.jpg', 'a cup of coffee on a table'],
  ['models/nanodet/samples/party.jpg', 'a party'],
  ['models/nanodet/samples/cat.jpg', 'a cat'],
  ['models/selfie/samples/astronaut.jpg', 'an astronaut'],
  ['models/nanodet/samples/bar.jpg', 'an evening in a bar'],
  ['models/upscaler/samples/cup.png', 'a cup, close'],
  ['models/nanodet/samples/rocket.jpg', 'a rocket'],
  ['models/nanodet/samples/grace-hopper.jpg', 'Grace Hopper'],
  ['models/upscaler/samples/astronaut.png', 'an astronaut’s face'],
  ['models/selfie/samples/photographer.jpg', 'a photographer'],
  ['models/ocr/samples/receipt.jpg', 'a receipt'],
  ['models/ocr/samples/ticket.jpg', 'a ticket'],
];

export const likeness: Exhibit = {
  id: 'likeness',
  title: 'Likeness',
  summary:
    'Choose a picture: the others are sorted by how similar they are to it. Add your own; they stay on this device.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const state = loadState(() => void open());
  const list = el('ol', { class: 'alike', 'aria-label': 'Pictures, the most alike first' });
  const runs = el('p', { class: 'alike-runs' });
  const code = codePanel();
  const ending = new AbortController();
  let model: Client<ImageFeatureExtractor> | undefined;
  let entries: readonly Entry[] = [];
  let chosen: Entry | undefined;
  let reading = Promise.resolve();

  function add(source: Blob | URL, name: string): Entry {
    const entry: Entry = { source, name, vector: undefined, tile: tile(source, name, () => choose(entry)) };
    entries = [...entries, entry];
    list.append(entry.tile.element);
    reading = reading.then(() => read(entry));
    return entry;
  }

  /** Has the model compute the features of one picture, after those before it. */
  async function read(entry: Entry): Promise<void> {
    if (!model || entry.vector || !entries.includes(entry)) return;
    try {
      entry.vector = (await model.predict(entry.source, { signal: ending.signal })) as Float32Array;
      sort();
    } catch (error) {
      if (ending.signal.aborted) return;
      entry.tile.failed();
      entries = entries.filter((one) => one !== entry);
      note.refused(error, entry.name);
    }
  }

  function choose(entry: Entry): void {
    chosen = entry;
    note.hint();
    sort();
    const [, best] = entries;
    if (best?.vector && entry.vector) announce(`The picture most like ${entry.name} is ${best.name}.`);
  }

  /** Sorts the pictures: the chosen one first, then the most alike; those that are not read yet come last. */
  function sort(): void {
    const query = chosen?.vector;
    const known = entries.filter((entry) => entry !== chosen && entry.vector);
    const found = query
      ? nearest(
          query,
          known.map(({ vector }) => vector!),
          known.length,
        )
      : [];
    const scores = new Map(found.map(({ index, score }) => [known[index]!, score]));
    const rank = (entry: Entry): number => (entry === chosen ? 2 : (scores.get(entry) ?? -2));
    entries = entries.toSorted((a, b) => rank(b) - rank(a));
    for (const entry of entries) entry.tile.say(scores.get(entry), entry === chosen);
    const focused = document.activeElement;
    list.append(...entries.map(({ tile: { element } }) => element));
    // An element that is moved loses the focus.
    if (focused instanceof HTMLElement && list.contains(focused)) focused.focus({ preventScroll: true });
  }

  async function open(): Promise<void> {
    state.start(BYTES, 'on the first backend that works');
    try {
      const opened = await load(MODEL, {
        handler: 'image_feature_extractor',
        signal: ending.signal,
        onProgress: state.progress,
      });
      if (ending.signal.aborted) return void opened.dispose();
      model = opened;
      state.done();
      runs.textContent = `MobileNetV2 (MIT) runs on ${opened.backend!.name === 'wasm' ? 'WASM' : 'WebGPU'}, in ONNX Runtime.`;
      for (const entry of entries) reading = reading.then(() => read(entry));
      await reading;
      if (!ending.signal.aborted && chosen) choose(chosen);
    } catch (error) {
      if (ending.signal.aborted) return;
      state.failed(error);
      announce(`The model could not be opened. ${inWords(error).text}`);
    }
  }

  const take = (file: File): void => choose(add(file, file.name || 'The image'));
  const pick = el('button', { type: 'button' }, 'Add a picture…');
  const chooser = el('input', {
    type: 'file',
    id: 'chooser',
    accept: 'image/*',
    'aria-label': 'Image file',
    tabindex: '-1',
    hidden: '',
  });
  chooses(pick, chooser, take);
  note.set('You can also drop or paste pictures anywhere on the page. Nothing is uploaded.');
  code.show(CODE);
  for (const [url, shows] of SAMPLES) add(new URL(url, document.baseURI), shows);
  chosen = entries[0];
  sort();
  void open();

  return {
    element: el(
      'div',
      { class: 'likeness' },
      el('div', { class: 'alike-head' }, el('div', { class: 'actions' }, pick, chooser), state.element, runs),
      noteElement,
      list,
      code.element,
    ),
    files: { take, refused: note.refused },
    dispose() {
      ending.abort();
      void model?.dispose();
      for (const { tile: shown } of entries) shown.dispose();
    },
  };
}
