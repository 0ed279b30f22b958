/** A demo's page: connects input, model, result and panels. */
import './styles/instruments.css';
import type { Demo, Picture, Run, Sample, Source } from './demo.js';
import type { Exhibit, Exhibited } from './exhibit.js';
import { copies } from './page/copy.js';
import { el } from './page/dom.js';
import { chooses } from './page/drop.js';
import { described } from './page/errors.js';
import { replaceSettings, route, type Settings } from './page/route.js';
import { backendPanel } from './panels/backend.js';
import { codePanel } from './panels/code.js';
import { frame } from './panels/frame.js';
import { modelPanel } from './panels/model.js';
import { noteLine } from './panels/note.js';
import { loadState } from './panels/progress.js';
import { fetchSample, nameOfSample, sampleList } from './panels/samples.js';
import { timingsView } from './panels/timings.js';
import { inWords } from './panels/words.js';
import { runner } from './runner.js';

export function demoPage(demo: Demo): Exhibit {
  return { id: demo.id, title: demo.title, summary: demo.summary, mount: (announce) => mount(demo, announce) };
}

function mount(demo: Demo, announce: (text: string) => void): Exhibited {
  const answer = el('div', { class: 'answer' });
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const load = loadState(open);
  const timings = timingsView();
  const backend = backendPanel(open, timings.element);
  const code = codePanel();
  const models = modelPanel(demo, () => {
    backend.offer(models.model);
    open();
  });
  const { input, output } = demo.mount({ changed, emptied, refused: note.failed });
  const samples = sampleList(demo.samples, (sample) => void takeSample(sample));
  /** The samples that were downloaded. */
  const known = new WeakMap<Blob, Sample>();
  /** What was run last, or is run first. */
  let last: Pick<Run, 'source' | 'params' | 'result'>;

  // ── The model, and its answers ───────────────────────────────────────────────────────────────

  const run = runner({
    current: () => input.current(),
    live: () => input.live?.(),
    params: () => output.params ?? {},
    ready(running) {
      answer.dataset['state'] = 'ready';
      load.done();
      announce(`Ready, on ${backend.runs(running)}.`);
    },
    moved: backend.runs,
    failed(error) {
      answer.dataset['state'] = 'failed';
      load.failed(error);
      backend.failed(described(error).code === 'no-backend');
      announce(`The model could not be opened. ${inWords(error).text}`);
    },
    async answered({ result, picture, params, file, stages, roundTrip }, still) {
      if (file) await input.show(file);
      if (!still()) return;
      last = { source: sourceOf(picture), params, result };
      copy.disabled = false;
      note.answered();
      stale(false);
      announce(output.show(result as never));
      timings.show(stages, roundTrip);
      reflect();
    },
    refused(error, file) {
      emptied();
      note.refused(error, file && nameOf(file));
    },
    waits: (file) => note.waits(nameOf(file)),
  });

  function open(): void {
    const { model } = models;
    const { candidates, where } = backend;
    answer.dataset['state'] = 'loading';
    load.start(model.bytes, where);
    backend.opening();
    timings.clear();
    reflect();
    announce(`Loading the model ${where}.`);
    void run.open((signal) =>
      demo.load(model, { signal, onProgress: load.progress, ...(candidates && { backends: candidates }) }),
    );
  }

  // ── The inputs ───────────────────────────────────────────────────────────────────────────────

  function changed(): void {
    note.hint();
    reflect();
    run.ask();
  }

  /** Marks the shown result as out of date: the next answer is on its way. */
  function stale(is: boolean): void {
    answer.toggleAttribute('data-stale', is);
  }

  function emptied(): void {
    run.forget();
    stale(false);
    copy.disabled = true;
    output.clear();
    timings.clear();
    note.hint();
    reflect();
  }

  /** @returns whether it is the input now */
  async function takeSample(sample: Sample): Promise<boolean> {
    const still = run.forget();
    try {
      const given = await fetchSample(sample);
      known.set(given, sample);
      if (still()) await input.show(given);
      if (!still()) return false;
      stale(true);
      changed();
      return true;
    } catch (error) {
      if (still()) note.failed(error);
      return false;
    }
  }

  function selected(): Sample | undefined {
    const given = input.given();
    return given && known.get(given);
  }

  // ── What is shown of the state: the selected sample, the address, the code ───────────────────

  function settings(): Settings {
    return { model: models.model.short, ...backend.settings, ...input.settings, ...output.settings };
  }

  function sourceOf(picture: Picture): Source {
    const sample = selected();
    if (typeof picture === 'string') return { kind: 'text', text: picture };
    if (sample) return { kind: 'sample', url: inApp(sample.url) };
    if (picture instanceof Blob) return { kind: 'file' };
    return { kind: picture instanceof HTMLCanvasElement ? 'canvas' : 'camera' };
  }

  /** Shows the selected sample and the code, and writes what differs from the defaults into the address. */
  function reflect(): void {
    const archive = inApp(models.model.url);
    code.show(demo.snippet({ archive, backends: backend.candidates, settings: settings(), ...last }));
    const sample = selected();
    samples.select(sample);
    const changes = Object.entries(settings()).map(([name, value]) => [
      name,
      value === defaults[name] ? undefined : value,
    ]);
    replaceSettings({
      ...Object.fromEntries(changes),
      sample: sample && sample !== demo.samples[0] ? nameOfSample(sample) : undefined,
    });
  }

  // ── The page ─────────────────────────────────────────────────────────────────────────────────

  const choose = el('button', { type: 'button' }, 'Choose a file…');
  const chooser = el('input', {
    type: 'file',
    id: 'chooser',
    accept: 'image/*',
    'aria-label': 'Image file',
    tabindex: '-1',
    hidden: '',
  });
  const take = (file: File): void => {
    input.pause?.();
    run.ask(file);
  };
  const copy = el('button', { type: 'button', class: 'small' }, 'Copy result');
  copy.disabled = true;
  copies(copy, () => JSON.stringify(last.result, undefined, 2));
  chooses(choose, chooser, take);
  answer.append(output.element, load.element);
  note.set(demo.hint);
  const element = frame(demo.id, demo.layout, {
    well: input.element,
    actions: [...input.actions, ...(demo.takesFiles ? [choose, chooser] : [])],
    note: noteElement,
    samples: samples.element,
    resultActions: output.isPlain ? [copy] : [],
    answer,
    backend: backend.element,
    model: models.element,
    code: code.element,
  });

  const defaults = settings();
  const wanted = route().settings;
  models.restore(wanted);
  backend.offer(models.model);
  backend.restore(wanted);
  output.restore?.(wanted);
  const first = demo.samples.find((sample) => nameOfSample(sample) === wanted['sample']) ?? demo.samples[0];
  last = { source: { kind: 'sample', url: inApp(first.url) }, params: output.params ?? {} };
  open();
  void takeSample(first).then((taken) => taken && input.restore?.(wanted));
  element.addEventListener('change', reflect);
  return {
    element,
    files: { ...(demo.takesFiles && { take }), refused: note.refused },
    dispose() {
      run.forget();
      run.close();
      input.dispose();
      output.dispose?.();
    },
  };
}

function nameOf(file: File): string {
  return file.name || 'The image';
}

/** Returns the path of a file of the gallery as it is in an app: from its root. Other URLs stay as they are. */
function inApp(url: string): string {
  const { href } = new URL(url, document.baseURI);
  const gallery = new URL('.', document.baseURI).href;
  return href.startsWith(gallery) ? href.slice(gallery.length - 1) : href;
}
