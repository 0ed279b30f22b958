/** The page on which a visitor runs a repository or a folder of their own. */
import '../styles/instruments.css';
import '../styles/any.css';
import '../styles/repository.css';
import { load, type Client } from '../../src/index.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { button, el } from '../page/dom.js';
import { Explained } from '../page/explained.js';
import { bytes, milliseconds } from '../page/format.js';
import { codePanel } from '../panels/code.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { inWords } from '../panels/words.js';
import { repositoryOf } from '../writing/hub.js';
import { asking, type Asking } from './asking.js';
import { codeOf } from './code.js';
import { folderContents, hubContents, type Contents } from './contents.js';
import { inJson } from './in-json.js';

export const any: Exhibit = {
  id: 'any',
  title: 'Any model',
  summary:
    'A repository of Hugging Face by its address, or a folder of your own: see what it has and how large it is, then run it in this tab. The handler follows from its files.',
  mount,
};

const HINT = 'Write ORG/NAME or an address of huggingface.co, which is asked for the list of files; or pick a folder.';

function mount(announce: (text: string) => void): Exhibited {
  let looking = new AbortController();
  let opening = new AbortController();
  let contents: Contents | undefined;
  let client: Client | undefined;
  let form: Asking | undefined;

  const field = el('input', {
    id: 'any-repository',
    type: 'text',
    placeholder: 'ORG/NAME',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
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
  );
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const parts = el('ul', { class: 'any-parts', 'aria-label': 'Models' });
  const about = el('p', { class: 'quiet' });
  const precision = el('select', { 'aria-label': 'Precision' });
  const opener = button('Open it', () => void open());
  const found = el(
    'section',
    { hidden: '', 'aria-label': 'What it has' },
    about,
    parts,
    el('div', { class: 'actions' }, precision, opener),
  );
  const progress = loadState(() => void open());
  const runs = el('p', { class: 'quiet', role: 'status' });
  const inputs = el('div');
  const runner = button('Run', () => void run());
  const result = el('pre', { class: 'any-result', tabindex: '0', 'aria-label': 'Answer' });
  const opened = el(
    'section',
    { hidden: '', 'aria-label': 'The model' },
    progress.element,
    runs,
    inputs,
    runner,
    result,
  );
  const code = codePanel();
  const element = el('div', { class: 'any' }, search, noteElement, found, opened, code.element);

  async function show(ask: (signal: AbortSignal) => Promise<Contents>): Promise<void> {
    looking.abort();
    const { signal } = (looking = new AbortController());
    close();
    found.hidden = opened.hidden = true;
    note.set('Looking…');
    try {
      const has = await ask(signal);
      if (signal.aborted) return;
      contents = has;
      found.hidden = false;
      about.textContent = `${has.name}${has.architecture ? `: ${has.architecture}` : ''}; ${bytes(has.beside)} beside its models`;
      parts.replaceChildren(...has.models.map(({ path, bytes: size }) => el('li', {}, `${path}: ${bytes(size)}`)));
      if (has.models.length === 0)
        parts.replaceChildren(el('li', {}, 'It has no model in ONNX, and none of TensorFlow.js.'));
      opener.disabled = has.models.length === 0;
      precision.replaceChildren(
        ...precisionsOf(has).map((one) => el('option', { value: one }, one || 'the precision that suits')),
      );
      note.set('Only what the task needs is downloaded.');
    } catch (error) {
      if (!signal.aborted) note.failed(error);
    }
  }

  async function open(): Promise<void> {
    close();
    const { signal } = (opening = new AbortController());
    const { model, allowedOrigins, models } = contents!;
    opened.hidden = false;
    inputs.replaceChildren();
    result.textContent = runs.textContent = '';
    runner.hidden = true;
    progress.start(Math.min(...models.map((one) => one.bytes)), 'on the first backend that works');
    try {
      const dtype = precision.value as '' | 'q4';
      const own = await load(model, {
        signal,
        onProgress: progress.progress,
        allowedOrigins,
        ...(dtype && { config: { engine: { dtype } } }),
      });
      if (signal.aborted) return void own.dispose();
      client = own;
      progress.done();
      const { handler, takes } = await own.describe();
      const { engine, name } = own.backend!;
      runs.textContent = `${handler} runs on ${engine}/${name}.`;
      form = asking(handler, takes);
      inputs.replaceChildren(form.element);
      runner.hidden = false;
      announce(runs.textContent);
      showCode(handler, form);
    } catch (error) {
      if (signal.aborted) return;
      progress.failed(error);
      announce(`The model could not be opened. ${inWords(error).text}`);
    }
  }

  async function run(): Promise<void> {
    const [own, asked] = [client, form];
    if (!own || !asked) return;
    runner.disabled = true;
    result.textContent = '';
    const since = performance.now();
    try {
      const answer = await own.predict(asked.input() as never, { params: asked.params() as never });
      if (own !== client) return;
      result.textContent = inJson(answer);
      note.set(`Answered in ${milliseconds(performance.now() - since)}.`);
      announce('Answered.');
    } catch (error) {
      note.failed(error);
    } finally {
      runner.disabled = false;
    }
  }

  function showCode(handler: string, asked: Asking): void {
    const { name, model } = contents!;
    code.show(codeOf(typeof model === 'string' ? name : undefined, handler, asked.code, asked.params()));
  }

  function close(): void {
    opening.abort();
    void client?.dispose();
    client = form = undefined;
  }

  search.addEventListener('submit', (event) => {
    event.preventDefault();
    const repository = repositoryOf(field.value);
    if (repository === undefined) return note.failed(new Explained('Write a repository as ORG/NAME.'));
    void show((signal) => hubContents(repository, signal));
  });
  folder.addEventListener('change', () => {
    const { files } = folder;
    if (files?.length) void show(() => folderContents(files));
  });
  note.set(HINT);
  code.show(codeOf('ORG/NAME', undefined, "document.querySelector('img')!", {}));
  return {
    element,
    dispose() {
      looking.abort();
      close();
    },
  };
}

/** The precisions that a visitor can choose, by the ends of the files' names; '' leaves it to the SDK. */
function precisionsOf({ models }: Contents): readonly string[] {
  const endings = {
    q4: '_q4',
    q4f16: '_q4f16',
    q8: '_quantized',
    int8: '_int8',
    uint8: '_uint8',
    fp16: '_fp16',
    bnb4: '_bnb4',
  };
  const there = Object.entries(endings).filter(([, ending]) =>
    models.some(({ path }) => path.endsWith(`${ending}.onnx`)),
  );
  return ['', ...there.map(([name]) => name)];
}
