/** A page on which a visitor runs a model of their own: of one task, or of any. */
import '../styles/instruments.css';
import '../styles/repository.css';
import '../styles/likeness.css';
import '../styles/any.css';
import { load, type Client, type ModelConfig, type ModelLocation, type Params } from '../../src/index.js';
import type { HandlerName } from '../../src/worker/handlers/registry.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { Explained } from '../page/explained.js';
import { milliseconds } from '../page/format.js';
import { route } from '../page/route.js';
import { codePanel } from '../panels/code.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { inWords } from '../panels/words.js';
import type { About, Suggestions } from './about.js';
import { ABOUTS, type OwnPage } from './abouts.js';
import { codeOf, type Place } from './code.js';
import { area, labelled, readJson } from './fields/labelled.js';
import { finder } from './finder.js';
import { inJson } from './in-json.js';
import type { Mounted } from './task.js';
import { taskOf } from './tasks.js';

/** A model that is opened, or is to be. */
interface Opening {
  readonly place: Place;
  readonly model: ModelLocation;
  readonly bytes: number;
  readonly handler: HandlerName | undefined;
  readonly config?: Partial<ModelConfig>;
}

export function modelPage(id: OwnPage): Exhibit {
  const about: About = ABOUTS[id];
  const { title, summary } = about;
  return { id, title, summary, mount: (announce) => mount(about, announce) };
}

function mount(about: About, announce: (text: string) => void): Exhibited {
  let opening = new AbortController();
  let asking = new AbortController();
  let wanted: Opening | undefined;
  let client: Client | undefined;
  let handler: HandlerName | undefined;
  let mounted: Mounted<unknown, unknown> | undefined;

  const find = finder(inOrder(about, route().settings['for']), {
    changed: () => void (about.own ?? close()),
    opened: ({ contents, bytes, dtype, handler: chosen }) => {
      const { name, isRemote, model } = contents;
      void open({
        place: isRemote ? { repository: name } : 'folder',
        model,
        bytes,
        handler: chosen,
        ...(dtype && { config: { engine: { dtype: dtype as 'q4' } } }),
      });
    },
    announce,
  });
  const progress = loadState(() => wanted && void open(wanted));
  const runs = el('p', { class: 'quiet', role: 'status' });
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const inputs = el('div');
  const params = area('Params, as JSON', '{}');
  const runner = el('button', { type: 'submit' }, 'Run');
  const stopper = button('Stop', () => {
    asking.abort();
    note.set('Stopped.');
    ended();
  });
  const answer = el('div', { class: 'answer' });
  const json = el('pre', { class: 'any-result', tabindex: '0', 'aria-label': 'Answer as JSON' });
  const raw = el('details', { hidden: '' }, el('summary', {}, 'As JSON'), json);
  const form = el(
    'form',
    { class: 'given' },
    inputs,
    el('details', {}, el('summary', {}, 'Params'), labelled(params)),
    el('div', { class: 'actions' }, runner, stopper),
    noteElement,
  );
  const instrument = el(
    'div',
    { class: 'instrument', hidden: '' },
    form,
    el(
      'div',
      { class: 'found-out' },
      el(
        'section',
        { class: 'result', 'aria-labelledby': 'result-heading' },
        el('h2', { id: 'result-heading' }, 'Result'),
        answer,
        raw,
      ),
    ),
  );
  const code = codePanel();

  /** Shows the fields of a task, and where its answer will be. */
  function showTask(name: HandlerName): void {
    if (name === handler) return;
    dropTask();
    handler = name;
    const task = taskOf(name);
    mounted = task.mount({ chosen, refused: note.failed });
    params.value = JSON.stringify(task.params ?? {}, undefined, 1);
    inputs.replaceChildren(mounted.fields.element);
    instrument.dataset['layout'] = mounted.fields.hasPicture ? 'wide' : 'square';
    answer.replaceChildren(mounted.view.element);
    instrument.hidden = false;
    showCode();
  }

  function dropTask(): void {
    asking.abort();
    mounted?.fields.dispose?.();
    mounted?.view.dispose?.();
    handler = mounted = undefined;
    instrument.hidden = true;
    raw.hidden = true;
  }

  async function open(what: Opening): Promise<void> {
    close();
    wanted = what;
    const { signal } = (opening = new AbortController());
    const { model, bytes, config, handler: chosen } = what;
    progress.start(bytes, 'on the first backend that works');
    try {
      const opened = (await load(model, {
        signal,
        onProgress: progress.progress,
        ...(chosen && { handler: chosen }),
        ...(config && { config: config as never }),
      })) as unknown as Client;
      if (signal.aborted) return void opened.dispose();
      client = opened;
      progress.done();
      const { handler: name } = await opened.describe();
      const { engine, name: backend, precision } = opened.backend!;
      if (signal.aborted) return;
      const own = about.own?.url === model ? `${about.own.says} ` : '';
      runs.textContent = `${own}${name} runs on ${engine}/${backend}${typeof precision === 'string' ? `, ${precision}` : ''}.`;
      announce(runs.textContent);
      opened.on('fail', failed);
      showTask(name as HandlerName);
      runner.disabled = false;
      note.set('');
      showCode();
      void ask();
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  function failed(error: unknown): void {
    const [what, shown] = [wanted, inFull(error)];
    close();
    // It can be tried again.
    wanted = what;
    progress.failed(shown);
    announce(`The model could not be opened. ${inWords(shown).text}`);
  }

  /** Asks again: another picture or setting was chosen, and the answer to the one before is wrong now. */
  function chosen(): void {
    asking.abort();
    mounted?.view.clear();
    raw.hidden = true;
    if (client) void ask();
  }

  async function ask(): Promise<void> {
    const [own, shown] = [client, mounted];
    if (!own || !shown || !handler) return;
    asking.abort();
    const { signal } = (asking = new AbortController());
    const { fields, view } = shown;
    runner.textContent = 'Running…';
    stopper.hidden = false;
    note.set('');
    const since = performance.now();
    try {
      const input = fields.input();
      const options = { params: allParams() as never, signal };
      const task = taskOf(handler);
      const result = task.ask
        ? await task.ask(own, input, { ...options, says: note.set })
        : await own.predict(input as never, options);
      if (signal.aborted) return;
      json.textContent = inJson(result);
      raw.hidden = false;
      answer.replaceChildren(view.element);
      announce(view.show(result, input));
      note.set(`Answered in ${milliseconds(performance.now() - since)}.`);
      showCode();
    } catch (error) {
      if (!signal.aborted) note.failed(inFull(error));
    } finally {
      if (asking.signal === signal) ended();
    }
  }

  function ended(): void {
    runner.textContent = 'Run';
    stopper.hidden = true;
  }

  /** Returns an error in full: about a visitor's own model, the SDK's message says what is wrong, and what to do. */
  function inFull(error: unknown): unknown {
    if (error instanceof Explained || wanted === undefined || wanted.model === about.own?.url) return error;
    const { code: kind, message } = described(error);
    return new Explained(`${kind}: ${message}`);
  }

  /** @throws that what the visitor has written is not JSON */
  function allParams(): Params {
    const written = readJson(params.value.trim() || '{}', 'The params');
    if (typeof written !== 'object' || written === null || Array.isArray(written))
      throw new Explained('The params must be an object, such as { "topK": 3 }.');
    return { ...written, ...mounted?.fields.params, ...mounted?.view.params };
  }

  function showCode(): void {
    if (!mounted || !handler) return;
    const { place = { repository: 'ORG/NAME' } } = wanted ?? {};
    try {
      code.show(codeOf(place, handler, mounted.fields.code, allParams(), taskOf(handler).sample));
    } catch {
      // What is being written is not complete: the code stays.
    }
  }

  function close(): void {
    opening.abort();
    asking.abort();
    void client?.dispose();
    client = wanted = undefined;
    runs.textContent = '';
    runner.disabled = true;
    ended();
    mounted?.view.clear();
    raw.hidden = true;
    if (!about.handler) dropTask();
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void ask();
  });
  runner.disabled = stopper.hidden = true;
  progress.done();
  code.show(codeOf({ repository: 'ORG/NAME' }, undefined, "document.querySelector('img')!", {}, undefined));
  if (about.handler) showTask(about.handler);
  if (about.own) {
    const { url, config, bytes } = about.own;
    void open({ place: { url: `/${url}`, config }, model: url, config, bytes, handler: about.handler });
  }
  return {
    element: el('div', { class: 'any' }, find.element, progress.element, runs, instrument, code.element),
    files: {
      take(file, item) {
        const entry = item?.webkitGetAsEntry();
        if (entry?.isDirectory) find.takeFolder(entry as FileSystemDirectoryEntry);
        else if (mounted?.fields.take) mounted.fields.take(file);
        else note.refused(new Explained(NO_FILE));
      },
      refused: note.refused,
    },
    dispose() {
      find.dispose();
      close();
      dropTask();
    },
  };
}

/** Puts the suggestions for a task first. */
function inOrder(about: About, first: string | undefined): About {
  const isFirst = ({ id }: Suggestions): boolean => id === first;
  return { ...about, suggestions: about.suggestions.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))) };
}

const NO_FILE = 'There is no input here that takes a file. Drop a folder with a model, or open one first.';
