/** Which model is opened: a repository of Hugging Face, or a folder of the visitor's. */
import { HANDLERS } from './handlers.js';
import type { HandlerName } from '../../src/worker/handlers/registry.js';
import { button, el } from '../page/dom.js';
import { Explained } from '../page/explained.js';
import { bytes } from '../page/format.js';
import type { Suggestions } from './about.js';
import { fit } from './fit.js';
import { noteLine } from '../panels/note.js';
import { repositoryOf } from '../writing/hub.js';
import { droppedFiles, folderContents, hubContents, precisionsOf, type Contents } from './contents.js';

/** A model that the visitor wants to open. */
interface Choice {
  readonly contents: Contents;
  /** Undefined: it follows from the files. */
  readonly handler: HandlerName | undefined;
  /** Undefined leaves it to the SDK. */
  readonly dtype: string | undefined;
  /** The least bytes that are downloaded. */
  readonly bytes: number;
}

export interface Finder {
  readonly element: HTMLElement;
  takeFolder(folder: FileSystemDirectoryEntry): void;
  dispose(): void;
}

interface FinderOptions {
  /** The page's task; undefined: any. */
  readonly handler?: HandlerName;
  /** The tasks that the visitor can choose. Default: all. */
  readonly handlers?: readonly HandlerName[];
  /** The line before anything was looked at. */
  readonly hint: string;
  readonly suggestions: readonly Suggestions[];
}

interface FinderEvents {
  /** Is called when another repository or folder is looked at. */
  changed(): void;
  /** Is called when the visitor wants to open what was found. */
  opened(choice: Choice): void;
  announce(text: string): void;
}

/** Shows what a repository or a folder has, and how large it is, before anything of it is downloaded. */
export function finder(
  { handler, handlers = Object.keys(HANDLERS) as HandlerName[], hint, suggestions }: FinderOptions,
  { changed, opened, announce }: FinderEvents,
): Finder {
  let looking = new AbortController();
  let contents: Contents | undefined;

  const field = el('input', {
    id: 'any-repository',
    type: 'text',
    placeholder: 'ORG/NAME',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const suggested = (name: string, size: string): HTMLElement => {
    const chip = button('', () => {
      field.value = name;
      search.requestSubmit();
    });
    chip.append(name, ' ', el('small', {}, size));
    return chip;
  };
  const look = el('button', { type: 'submit' }, 'Show what it has');
  const folder = el('input', {
    type: 'file',
    'aria-label': 'A folder',
    hidden: '',
    tabindex: '-1',
    webkitdirectory: '',
  });
  const search = el(
    'form',
    { class: 'repository' },
    el('label', { for: 'any-repository' }, 'Repository of Hugging Face'),
    el(
      'div',
      { class: 'actions' },
      field,
      look,
      button('Pick a folder…', () => folder.click()),
      folder,
    ),
    el(
      'div',
      { class: 'suggestions' },
      ...suggestions.flatMap(({ id, title, sizes }) => [
        el('span', { id: `suggested-${id}` }, title),
        el(
          'div',
          { role: 'group', 'aria-labelledby': `suggested-${id}` },
          ...Object.entries(sizes).map(([name, size]) => suggested(name, size)),
        ),
      ]),
    ),
  );
  const noteElement = el('div', { class: 'note' });
  const note = noteLine(noteElement, announce);
  const about = el('p', { class: 'quiet' });
  const parts = el('ul', { class: 'any-parts', 'aria-label': 'Models' });
  const here = fit();
  const task = el(
    'select',
    { 'aria-label': 'Handler' },
    el('option', { value: '' }, 'the handler that follows from its files'),
    ...handlers.map((name) => el('option', { value: name }, name)),
  );
  task.hidden = handler !== undefined;
  const precision = el('select', { 'aria-label': 'Precision' });
  const opener = button('Open it', () => {
    if (contents) opened({ contents, handler: chosenHandler(), dtype: precision.value || undefined, bytes: least() });
  });
  const found = el(
    'section',
    { hidden: '', 'aria-label': 'What it has', class: 'any-found' },
    about,
    parts,
    here.element,
    el('div', { class: 'actions' }, task, precision, opener),
  );

  const chosenHandler = (): HandlerName | undefined =>
    handler ?? ((task.value || undefined) as HandlerName | undefined);
  const choices = (): ReturnType<typeof precisionsOf> => {
    const of = chosenHandler();
    return contents ? precisionsOf(contents, of && HANDLERS[of].parts) : [];
  };
  const least = (): number => choices()[0]?.bytes ?? contents?.models[0]?.bytes ?? 0;
  const offer = (): void => {
    const all = choices();
    const sizes = [...new Set([all[0], all.at(-1)].flatMap((one) => (one ? bytes(one.bytes) : [])))].join(' to ');
    precision.replaceChildren(
      el('option', { value: '' }, `the precision that suits${sizes && `, ${sizes}`}`),
      ...all.map(({ dtype, bytes: size }) => el('option', { value: dtype }, `${dtype}, at most ${bytes(size)}`)),
    );
    opener.disabled = all.length === 0 && !contents?.models.some(({ path }) => path.endsWith('.json'));
  };
  const assess = (): void => {
    if (contents) void here.show(contents.model, chosenHandler(), precision.value || undefined);
  };
  task.addEventListener('change', () => {
    offer();
    assess();
  });
  precision.addEventListener('change', assess);

  async function show(ask: (signal: AbortSignal) => Promise<Contents>): Promise<void> {
    looking.abort();
    const { signal } = (looking = new AbortController());
    found.hidden = true;
    changed();
    note.set('Looking…');
    try {
      const has = await ask(signal);
      if (signal.aborted) return;
      contents = has;
      found.hidden = false;
      about.textContent = `${has.name}${has.architecture ? `: ${has.architecture}` : ''}; ${bytes(has.beside)} beside its models`;
      parts.replaceChildren(
        ...has.models.map(({ path, bytes: size, isCached }) =>
          el('li', {}, `${path}: ${bytes(size)}${isCached ? ', on this device already' : ''}`),
        ),
      );
      const ofParts = handlerOfParts(has);
      task.value = handlers.some((one) => one === ofParts) ? ofParts : '';
      offer();
      assess();
      if (opener.disabled) note.failed(new Explained(missing(has)));
      else
        note.set(
          has.isRemote
            ? 'Only what the task needs is downloaded, from huggingface.co and the servers that it sends to, *.hf.co. They see your IP address; what you ask the model stays on this device.'
            : 'Nothing is uploaded: the files are read from your disk.',
        );
    } catch (error) {
      if (!signal.aborted) note.failed(error);
    }
  }

  const missing = ({ models }: Contents): string => {
    if (models.length === 0)
      return 'It has no model in ONNX, and none of TensorFlow.js. A repository needs a file such as onnx/model.onnx.';
    return 'It has models in ONNX, but none with the names that this task needs.';
  };

  search.addEventListener('submit', (event) => {
    event.preventDefault();
    void show(async (signal) => await hubContents(repositoryOf(field.value), signal));
  });
  folder.addEventListener('change', () => {
    const files = [...(folder.files ?? [])];
    // The same folder can be picked again.
    folder.value = '';
    if (files.length > 0) void show(() => folderContents(files));
  });
  note.set(hint);
  return {
    element: el('section', { class: 'any-model', 'aria-label': 'Model' }, search, noteElement, found),
    takeFolder: (entry) => void show(async () => await folderContents(await droppedFiles(entry))),
    dispose() {
      looking.abort();
      here.dispose();
    },
  };
}

/** The handlers of models that are exported whole, for another handler, or in parts. */
const OF_PARTS = ['image_text_embedder', 'audio_text_embedder'] as const;

/** Returns the handler whose model a repository has in parts; empty if it has the whole one. */
function handlerOfParts({ models }: Contents): string {
  const has = (name: string): boolean =>
    models.some(({ path }) => new RegExp(`(^|/)${name}(_\\w+)?\\.onnx$`).test(path));
  if (has('model')) return '';
  return OF_PARTS.find((handler) => HANDLERS[handler].parts!.every(has)) ?? '';
}
