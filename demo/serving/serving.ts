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

/** Milliseconds between two looks. */
const EVERY = 500;
/** Milliseconds that a hand may rest on a slider before the model is opened anew. */
const RESTS = 400;

const GENTLE = 'Gentle, ½ ×';
/** Loads, as multiples of the capacity. */
const PRESETS = { [GENTLE]: 0.5, 'Full, 1 ×': 1, 'Overload, 3 ×': 3 } as const;

/** The page about serving: a model under a load of the visitor's choice, and what becomes of its requests. */
export const serving: Exhibit = {
  id: 'serving',
  title: 'Serving',
  summary:
    'A queue, batches and workers under load, all in this tab. Push it past what it can answer, and see who waits, who is refused and how it recovers.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  let demo: Demo = SERVED[0];
  let client: Served | undefined;
  let subject: Subject | undefined;
  let opening = new AbortController();
  let resting: ReturnType<typeof setTimeout> | undefined;
  /** Answers a second. */
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
      'Requests come in at random, as from many visitors, whether or not those before them are answered.',
      el('div', { class: 'served' }, el('label', { for: 'served' }, 'Model'), choice),
      slider.element,
      el('div', { class: 'actions' }, ...presets, pauser),
      board.verdict,
      progress.element,
    ),
    part(
      'What becomes of it',
      'From the client’s own metrics and events, twice a second; the charts show the last minute.',
      board.element,
    ),
    part('Settings', 'A change of the first four opens the model anew, and measures it again.', settings.element),
    // Its radio buttons are a group of their own: other panels' have the same names.
    part(
      'Engine and backend',
      'What runs, and why the others do not.',
      el('form', { class: 'lab-backend' }, panel.element),
    ),
    part(
      'How it is done',
      'The same in your page.',
      el('pre', { tabindex: '0', 'aria-label': 'How it is done' }, code),
      el('div', { class: 'actions' }, copy),
    ),
    part(
      'For Prometheus',
      'The same metrics as text, with TorchServe’s names. Nothing is sent anywhere.',
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
    clearTimeout(resting);
    opening.abort();
    source.rate = 0;
    void client?.dispose();
    client = undefined;
    subject = undefined;
    working(false);
  }

  function reopen(): void {
    showCode();
    clearTimeout(resting);
    resting = setTimeout(() => void open(), RESTS);
  }

  function failed(error: unknown): void {
    close();
    panel.failed(described(error).code === 'no-backend');
    progress.failed(error);
    board.rest('');
    announce(described(error).message);
  }

  async function open(): Promise<void> {
    close();
    const { signal } = (opening = new AbortController());
    const [facts] = demo.models;
    showCode();
    panel.opening();
    progress.start(facts.bytes, panel.where);
    board.rest('The model is opened…');
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

  /** Measures what can be answered, and then lets requests come in. */
  async function measure(opened: Served, inputs: readonly unknown[], signal: AbortSignal): Promise<void> {
    board.rest('How much it can answer is being measured…');
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
    const text = `It can answer ${inShort(possible)} requests a second, on ${backend.engine}/${backend.name}.`;
    board.rest(text);
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
