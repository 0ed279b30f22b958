/** The gallery's page: connects input, model, result and panels of the demo that the address names. */
import type { Demo, Mounted, Sample } from './demo.js';
import { DEMOS } from './demos/index.js';
import type { Exhibit, Exhibited } from './exhibit.js';
import { lab } from './lab/lab.js';
import { announcer } from './page/announce.js';
import { byId, el } from './page/dom.js';
import { takeFiles } from './page/drop.js';
import { described } from './page/errors.js';
import { backendPanel } from './panels/backend.js';
import { snippet } from './panels/code.js';
import { modelPanel, type ModelPanel } from './panels/model.js';
import { noteLine } from './panels/note.js';
import { loadState } from './panels/progress.js';
import { fetchSample, sampleButtons } from './panels/samples.js';
import { timingsView } from './panels/timings.js';
import { runner } from './runner.js';
import { serving } from './serving/serving.js';

const answer = byId('answer');
const choose = byId<HTMLButtonElement>('choose');
// Kept here: while a demo takes no files, the page does not hold it.
const chooser = byId<HTMLInputElement>('chooser');
const announce = announcer(byId('live'));
const note = noteLine(byId('note'), announce);
const load = loadState(open);
const timings = timingsView();
const backend = backendPanel(open);
const code = snippet(byId('snippet'), byId<HTMLButtonElement>('copy'));
byId('timings').append(timings.element);
byId('backend').append(backend.element);

const EXHIBITS: readonly Exhibit[] = [lab, serving];

let demo: Demo;
let mounted: Mounted | undefined;
let models: ModelPanel;
/** The page that is shown instead of a demo. */
let exhibited: Exhibited | undefined;

// ── The model, and its answers ─────────────────────────────────────────────────────────────────

const run = runner({
  current: () => mounted?.input.current(),
  params: () => mounted?.output.params ?? {},
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
    if (file) await mounted?.input.show(file);
    if (!still() || !mounted) return;
    note.answered();
    stale(false);
    announce(mounted.output.show(result));
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
  code.show(demo.snippet(model, candidates ? `, backends: [${candidates.map((name) => `'${name}'`).join(', ')}]` : ''));
  void run.open((signal) =>
    demo.load(model, { signal, onProgress: load.progress, ...(candidates && { backends: candidates }) }),
  );
}

// ── The inputs ─────────────────────────────────────────────────────────────────────────────────

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
  mounted?.output.clear();
  timings.clear();
  note.hint();
}

async function takeSample(sample: Sample): Promise<void> {
  const still = run.forget();
  try {
    const given = await fetchSample(sample);
    if (still()) await mounted?.input.show(given);
    if (!still()) return;
    stale(true);
    changed();
  } catch (error) {
    if (still()) note.failed(error);
  }
}

function nameOf(file: File): string {
  return file.name || 'The image';
}

takeFiles({
  zone: byId('instrument'),
  button: choose,
  chooser,
  accepts: () => (exhibited ? exhibited.files !== undefined : demo.takesFiles),
  take(file) {
    if (exhibited) return exhibited.files?.take(file);
    mounted?.input.pause?.();
    run.ask(file);
  },
  refuse: (error) => (exhibited ? exhibited.files : note)?.refused(error),
});

// ── The demos ──────────────────────────────────────────────────────────────────────────────────

/** Stops everything that is shown. */
function leave(): void {
  run.forget();
  mounted?.input.dispose();
  mounted?.output.dispose?.();
  mounted = undefined;
  exhibited?.dispose();
  exhibited = undefined;
}

function head({ id, title, summary }: Demo | Exhibit): void {
  document.title = `${title} · TabServe`;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#demos a')) {
    if (link.hash === `#/${id}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  byId('title').textContent = title;
  byId('summary').textContent = summary;
  document.body.toggleAttribute('data-lab', exhibited !== undefined);
}

function exhibit(next: Exhibit): void {
  leave();
  run.close();
  exhibited = next.mount(announce);
  byId('lab').replaceChildren(exhibited.element);
  head(next);
}

function show(next: Demo): void {
  leave();
  demo = next;
  mounted = demo.mount({ changed, emptied, refused: note.failed });

  byId('lab').replaceChildren();
  head(demo);
  Object.assign(byId('instrument').dataset, { demo: demo.id, layout: demo.layout });
  byId('well').replaceChildren(mounted.input.element);
  byId('actions').replaceChildren(...mounted.input.actions, ...(demo.takesFiles ? [choose, chooser] : []));
  byId('samples').replaceChildren(...sampleButtons(demo.samples, (sample) => void takeSample(sample)));
  answer.replaceChildren(mounted.output.element, load.element);
  note.set(demo.hint);

  models = modelPanel(demo, () => {
    backend.offer(models.model);
    open();
  });
  byId('model').replaceChildren(models.element);
  backend.offer(models.model);
  open();
  if (demo.startsWithSample) void takeSample(demo.samples[0]);
}

function route(): void {
  const id = location.hash.slice('#/'.length);
  const special = EXHIBITS.find((one) => one.id === id);
  if (special) exhibit(special);
  else show(DEMOS.find((one) => one.id === id) ?? DEMOS[0]);
}

byId('demos').append(
  ...[...DEMOS, ...EXHIBITS].map(({ id, title }) => el('li', {}, el('a', { href: `#/${id}` }, title))),
);
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('title').focus();
});
window.addEventListener('hashchange', route);
route();
