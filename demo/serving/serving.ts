import type { Demo } from '../demo.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { part } from '../page/part.js';
import { backendPanel } from '../panels/backend.js';
import { snippet } from '../panels/code.js';
import { loadState } from '../panels/progress.js';
import { arrivals } from './arrivals.js';
import { capacity } from './capacity.js';
import { dashboard } from './dashboard.js';
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

const GENTLE = 'Gentle, ½ ×';
/** Loads, as multiples of the capacity. */
const PRESETS = { [GENTLE]: 0.5, 'Full, 1 ×': 1, 'Overload, 3 ×': 3 } as const;

/** The page about serving: a model under a load that the visitor sets, and the outcomes of its requests. */
export const serving: Exhibit = {
  id: 'serving',
  title: 'Serving',
  summary:
    'A queue, batches and workers under load, all in this tab. Send more requests than it can answer, and see how many wait, how many are refused, and how it recovers.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  let demo: Demo = SERVED[0];
  let client: Served | undefined;
  let subject: Subject | undefined;
  let opening = new AbortController();
  let settling: ReturnType<typeof setTimeout> | undefined;
  /** The capacity, in answers a second. */
  let possible: number | undefined;
  let paused = false;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const choice = el(
    'select',
    { id: 'served' },
    ...SERVED.map(({ models: [{ name }] }, index) => el('option', { value: String(index) }, name)),
  );
  const source = arrivals(() => subject?.send(settings.deadline));
  const slider = loadSlider(
    () => pause(false),
    () => pause(paused),
  );
  const presets = Object.entries(PRESETS).map(([name, times]) =>
    button(name, () => {
      slider.setMultiple(times);
      pause(false);
    }),
  );
  const pauser = button('Pause', () => pause(!paused));
  const progress = loadState(() => void open());
  const board = dashboard(announce, (perSecond) => slider.setCapacity((possible = perSecond)));
  const settings = settingsPanel((key) => (key === 'deadline' ? showCode() : reopen()));
  const panel = backendPanel(() => {
    slider.reset();
    void open();
  });
  const code = el('code');
  const copy = el('button', { type: 'button' }, 'Copy');
  const shown = snippet(code, copy);
  const element = el(
    'div',
    { class: 'lab serving' },
    part(
      'Load',
      'Requests arrive at random times, as from many visitors, whether or not earlier ones are answered.',
      el('div', { class: 'served' }, el('label', { for: 'served' }, 'Model'), choice),
      slider.element,
      el('div', { class: 'actions' }, ...presets, pauser),
      board.verdict,
      progress.element,
    ),
    part(
      'Measurements',
      'From the client’s metrics and events, twice a second. The charts show the last minute.',
      board.element,
    ),
    part('Settings', 'A change of the first four opens the model again, and measures its capacity.', settings.element),
    // A form of its own, because other panels have radio buttons of the same names.
    part(
      'Engine and backend',
      'Which backend runs, and why the others do not.',
      el('form', { class: 'lab-backend' }, panel.element),
    ),
    part(
      'Code',
      'The same settings in your page.',
      el('pre', { tabindex: '0', 'aria-label': 'Code' }, code),
      el('div', { class: 'actions' }, copy),
    ),
    part(
      'Prometheus',
      'The same metrics as text for Prometheus, with TorchServe’s names. They stay on this device.',
      scrape(() => client?.metrics.prometheus()),
    ),
  );
  choice.addEventListener('change', () => {
    demo = SERVED[Number(choice.value)]!;
    panel.offer(demo.models[0]);
    slider.reset();
    void open();
  });

  const working = (is: boolean): void => {
    for (const one of [...presets, pauser]) one.disabled = !is;
  };
  function pause(is: boolean): void {
    paused = is;
    pauser.setAttribute('aria-pressed', String(is));
    source.rate = is || !subject ? 0 : slider.rate;
  }
  function showCode(): void {
    shown.show(snippetOf(demo, settings));
  }

  // ── The model ────────────────────────────────────────────────────────────────────────────────

  function close(): void {
    clearTimeout(settling);
    opening.abort();
    source.rate = 0;
    void client?.dispose();
    client = undefined;
    subject = undefined;
    working(false);
  }

  function reopen(): void {
    showCode();
    clearTimeout(settling);
    settling = setTimeout(() => void open(), SETTLE);
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
    showCode();
    panel.opening();
    progress.start(facts.bytes, panel.where);
    board.idle('The model is loading…');
    try {
      const inputs = await inputsOf(demo);
      const options = {
        signal,
        onProgress: progress.progress,
        ...(panel.candidates && { backends: panel.candidates }),
      };
      const opened = await serve(demo, settings, options);
      if (signal.aborted) return void opened.dispose();
      client = opened;
      opened.on('backendchange', panel.runs);
      opened.on('fail', failed);
      progress.done();
      await measure(opened, inputs, signal);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /** Measures the capacity, and then starts the load. */
  async function measure(opened: Served, inputs: readonly unknown[], signal: AbortSignal): Promise<void> {
    board.idle('The capacity is being measured…');
    const { rowsPerRun } = await opened.describe();
    const backend = opened.backend!;
    const workers = backend.name === 'wasm' ? settings.maxWorkers : 1;
    panel.runs(backend);
    settings.onGpu(backend.name !== 'wasm');
    settings.rows(rowsPerRun);
    const { batchSize, jobQueueSize } = settings;
    let asked = 0;
    possible = await capacity({
      ask: () => opened.predict(inputs[asked++ % inputs.length]),
      callers: Math.min(jobQueueSize, 4 * batchSize * workers),
      batchSize,
      grown: async () => (await opened.describe()).workers >= workers,
      signal,
    });
    const fresh = slider.rate === 0;
    slider.setCapacity(possible);
    if (fresh) slider.setMultiple(PRESETS[GENTLE]);
    subject = new Subject(opened, inputs);
    working(true);
    pause(paused);
    const text = `The capacity is ${inShort(possible)} requests a second on ${backend.engine}/${backend.name}.`;
    board.idle(text);
    announce(text);
  }

  const look = setInterval(() => {
    if (subject && !document.hidden) board.show(subject, settings, possible!);
  }, EVERY);

  panel.offer(demo.models[0]);
  void open();
  return {
    element,
    dispose() {
      clearInterval(look);
      close();
      board.dispose();
    },
  };
}
