/** A demo's page: connects input, model, result and panels. */
import type { Demo, Sample } from './demo.js';
import type { Exhibit, Exhibited } from './exhibit.js';
import { el } from './page/dom.js';
import { chooses } from './page/drop.js';
import { described } from './page/errors.js';
import { backendPanel } from './panels/backend.js';
import { codePanel } from './panels/code.js';
import { frame } from './panels/frame.js';
import { modelPanel } from './panels/model.js';
import { noteLine } from './panels/note.js';
import { loadState } from './panels/progress.js';
import { fetchSample, sampleButtons } from './panels/samples.js';
import { timingsView } from './panels/timings.js';
import { runner } from './runner.js';

export function demoPage(demo: Demo): Exhibit {
  return { id: demo.id, title: demo.title, summary: demo.summary, mount: (announce) => mount(demo, announce) };
}

function mount(demo: Demo, announce: (text: string) => void): Exhibited {
  const answer = el('div', { class: 'answer' });
  const noteElement = el('p', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const load = loadState(open);
  const timings = timingsView();
  const backend = backendPanel(open);
  const code = codePanel();
  const models = modelPanel(demo, () => {
    backend.offer(models.model);
    open();
  });
  const { input, output } = demo.mount({ changed, emptied, refused: note.failed });

  // ── The model, and its answers ───────────────────────────────────────────────────────────────

  const run = runner({
    current: () => input.current(),
    params: () => output.params ?? {},
    ready(running) {
      answer.dataset['state'] = 'ready';
      load.done();
      backend.runs(running);
      announce(`Ready, on ${running.name}.`);
    },
    moved: backend.runs,
    failed(error) {
      answer.dataset['state'] = 'failed';
      load.failed(error);
      const { code, message } = described(error);
      backend.failed(code === 'no-backend');
      announce(`The model could not be opened. ${message}`);
    },
    async answered(result, stages, roundTrip, file, still) {
      if (file) await input.show(file);
      if (!still()) return;
      note.answered();
      stale(false);
      announce(output.show(result));
      timings.show(stages, roundTrip);
    },
    refused(error, file) {
      if (!file) emptied();
      stale(false);
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
    announce(`Loading the model ${where}.`);
    code.show(
      demo.snippet(model, candidates ? `, backends: [${candidates.map((name) => `'${name}'`).join(', ')}]` : ''),
    );
    void run.open((signal) =>
      demo.load(model, { signal, onProgress: load.progress, ...(candidates && { backends: candidates }) }),
    );
  }

  // ── The inputs ───────────────────────────────────────────────────────────────────────────────

  function changed(): void {
    note.hint();
    run.ask();
  }

  /** Marks the shown result as out of date: the next answer is on its way. */
  function stale(is: boolean): void {
    answer.toggleAttribute('data-stale', is);
  }

  function emptied(): void {
    run.forget();
    stale(false);
    output.clear();
    timings.clear();
    note.hint();
  }

  async function takeSample(sample: Sample): Promise<void> {
    const still = run.forget();
    try {
      const given = await fetchSample(sample);
      if (still()) await input.show(given);
      if (!still()) return;
      stale(true);
      changed();
    } catch (error) {
      if (still()) note.failed(error);
    }
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
  chooses(choose, chooser, take);
  answer.append(output.element, load.element);
  note.set(demo.hint);
  backend.offer(models.model);
  const element = frame(demo.id, demo.layout, {
    well: input.element,
    actions: [...input.actions, ...(demo.takesFiles ? [choose, chooser] : [])],
    note: noteElement,
    samples: sampleButtons(demo.samples, (sample) => void takeSample(sample)),
    answer,
    timings: timings.element,
    model: models.element,
    backend: backend.element,
    code: code.element,
  });
  open();
  if (demo.startsWithSample) void takeSample(demo.samples[0]);
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
