import '../styles/instruments.css';
import '../styles/lab.css';
import '../styles/serving.css';
import { TabServeDevtools } from '../../src/devtools.js';
import type { Demo } from '../demo.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { onSettings, replaceSettings, route } from '../page/route.js';
import { backendPanel } from '../panels/backend.js';
import { snippet } from '../panels/code.js';
import { loadState } from '../panels/progress.js';
import { arrivals } from './arrivals.js';
import { capacity } from './capacity.js';
import { dashboard } from './dashboard.js';
import { fold } from './fold.js';
import { Load, PRESETS } from './load.js';
import { loadSlider } from './load-slider.js';
import { inShort } from './numbers.js';
import { inputsOf, serve, SERVED, snippetOf, type Served } from './models.js';
import { scrape } from './scrape.js';
import { settingsPanel } from './settings.js';
import { Subject } from './subject.js';

/** Milliseconds between two updates of the dashboard. */
const EVERY = 500;
/** Milliseconds without a change of the settings before the model is opened again. */
const SETTLE = 400;

/** The page about serving: a model under a load that the visitor sets, and the outcomes of its requests. */
export const serving: Exhibit = {
  id: 'serving',
  title: 'Serving',
  summary: 'A queue, batches and workers under load, in this tab. Send more than it can answer, and see what it does.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  const load = new Load();
  let demo: Demo = SERVED[0];
  let client: Served | undefined;
  let subject: Subject | undefined;
  let opening = new AbortController();
  let settling: ReturnType<typeof setTimeout> | undefined;
  let paused = false;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const options = SERVED.map(({ id, models: [{ name }] }) => el('option', { value: id }, name));
  const choice = el('select', { id: 'served' }, ...options);
  const source = arrivals(() => subject?.send(settings.deadline));
  const slider = loadSlider(load, () => pause(false), note);
  const pauser = button('Pause', () => pause(!paused));
  const again = button('Measure the capacity again', () => anew());
  const progress = loadState(() => void open());
  const board = dashboard(announce);
  const settings = settingsPanel((key) => {
    note();
    if (key !== 'deadline') reopen();
  });
  const panel = backendPanel(() => anew());
  const devtools = new TabServeDevtools();
  const code = el('code');
  const copy = el('button', { type: 'button' }, 'Copy');
  const shown = snippet(code, copy);
  const element = el(
    'div',
    { class: 'lab serving' },
    el(
      'section',
      { 'aria-label': 'Load' },
      slider.element,
      progress.element,
      board.element,
      el('div', { class: 'served' }, el('label', { for: 'served' }, 'Model'), choice, pauser, again),
    ),
    fold(
      'Settings',
      'The load and the capacity stay as they are, so you see what a setting does about them. Every setting but the timeout opens the model again.',
      settings.element,
    ),
    fold('More measurements', 'Of the last minute, and by stage of a request.', board.more),
    // A form of its own, because other panels have radio buttons of the same names.
    fold(
      'Engine and backend',
      'Which backend runs, and why the others do not.',
      el('form', { class: 'lab-backend' }, panel.element),
    ),
    fold(
      'DevTools',
      'The panel for development, which any app can show: tabserve/devtools. End a worker in it, and see what becomes of the load.',
      devtools,
    ),
    fold(
      'Code',
      'The same settings in your page.',
      el('pre', { tabindex: '0', 'aria-label': 'Code' }, code),
      el('div', { class: 'actions' }, copy),
    ),
    fold(
      'Prometheus',
      'The same metrics as text for Prometheus, with TorchServe’s names. They stay on this device.',
      scrape(() => client?.metrics.prometheus()),
    ),
  );
  choice.addEventListener('change', () => {
    demo = SERVED.find(({ id }) => id === choice.value)!;
    panel.offer(demo.models[0]);
    note();
    anew();
  });

  const working = (is: boolean): void => {
    for (const one of [pauser, again]) one.disabled = !is;
    slider.update();
  };
  function pause(is: boolean): void {
    paused = is;
    pauser.textContent = is ? 'Go on' : 'Pause';
    source.rate = is || !subject ? 0 : load.rate;
  }

  /** Writes what the visitor has set into the address and the code. */
  function note(): void {
    shown.show(snippetOf(demo, settings));
    replaceSettings({
      model: demo === SERVED[0] ? undefined : demo.id,
      load: load.multiple === PRESETS.Gentle ? undefined : String(load.multiple),
      ...settings.write(),
    });
  }

  function address(): void {
    const { settings: given } = route();
    demo = SERVED.find(({ id }) => id === given['model']) ?? SERVED[0];
    choice.value = demo.id;
    load.set(given['load'] === undefined ? PRESETS.Gentle : Number(given['load']));
    settings.read(given);
    panel.offer(demo.models[0]);
    shown.show(snippetOf(demo, settings));
    anew();
  }

  // ── The model ────────────────────────────────────────────────────────────────────────────────

  function close(): void {
    clearTimeout(settling);
    opening.abort();
    source.rate = 0;
    void client?.dispose();
    client = undefined;
    devtools.clients = [];
    subject = undefined;
    working(false);
  }

  function reopen(): void {
    clearTimeout(settling);
    settling = setTimeout(() => void open(), SETTLE);
  }

  /** Opens the model, and measures its capacity. */
  function anew(): void {
    load.forget();
    board.clear();
    void open();
  }

  function failed(error: unknown): void {
    close();
    panel.failed(described(error).code === 'no-backend');
    progress.failed(error);
    board.idle('');
    announce(described(error).message);
  }

  async function open(): Promise<void> {
    close();
    const { signal } = (opening = new AbortController());
    const [facts] = demo.models;
    panel.opening();
    progress.start(facts.bytes, panel.where);
    board.idle('The model is loading…');
    try {
      const inputs = await inputsOf(demo);
      const candidates = panel.candidates;
      const opened = await serve(demo, settings, {
        signal,
        onProgress: progress.progress,
        ...(candidates && { backends: candidates }),
      });
      if (signal.aborted) return void opened.dispose();
      client = opened;
      devtools.clients = [opened];
      opened.on('backendchange', panel.runs);
      opened.on('fail', failed);
      progress.done();
      await begin(opened, inputs, signal);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /** Measures the capacity unless it is known, and starts the load. */
  async function begin(opened: Served, inputs: readonly unknown[], signal: AbortSignal): Promise<void> {
    const { rowsPerRun } = await opened.describe();
    const backend = opened.backend!;
    const workers = backend.name === 'wasm' ? settings.maxWorkers : 1;
    panel.runs(backend);
    settings.onGpu(backend.name !== 'wasm');
    settings.rows(rowsPerRun);
    if (load.capacity === undefined) {
      board.idle('The capacity is being measured…');
      const { batchSize, jobQueueSize } = settings;
      let asked = 0;
      const perSecond = await capacity({
        ask: () => opened.predict(inputs[asked++ % inputs.length]),
        callers: Math.min(jobQueueSize, 4 * batchSize * workers),
        batchSize,
        grown: async () => (await opened.describe()).workers >= workers,
        signal,
      });
      load.measured(perSecond);
      announce(`The capacity is ${inShort(perSecond)} requests a second on ${backend.engine}/${backend.name}.`);
    }
    signal.throwIfAborted();
    subject = new Subject(opened, inputs);
    working(true);
    pause(paused);
    board.idle('Requests arrive at random times, as from many visitors…');
  }

  const look = setInterval(() => {
    if (subject && !document.hidden) board.show(subject, settings, load.capacity!);
  }, EVERY);

  const unlisten = onSettings(address);
  address();
  return {
    element,
    dispose() {
      unlisten();
      clearInterval(look);
      close();
      board.dispose();
    },
  };
}
