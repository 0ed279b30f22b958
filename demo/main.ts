/** The gallery's page: wires the input, the model, the result and the panels of whichever demo the address names. */
import type { TabServeError, Timings } from '../src/index.js';
import { backendPanel } from './backend-panel.js';
import { snippet } from './code.js';
import type { Demo, Input, Model, Output, Picture } from './demo.js';
import { DEMOS } from './demos.js';
import { byId, button, el } from './dom.js';
import { takeFiles } from './drop.js';
import { bytes } from './format.js';
import { latestOnly } from './latest.js';
import { described, loadState } from './progress.js';
import { timingsView } from './timings.js';

interface Request {
  readonly picture: Picture;
  /** Name of the file, where it is one that may turn out to be no image: it is shown once it was answered. */
  readonly file?: string;
}

/** After these the model is gone, whatever the input was. */
const GONE: readonly string[] = ['worker-lost', 'worker-failed', 'device-lost', 'out-of-memory', 'not-initialized', 'disposed'] satisfies TabServeError['code'][];

const answer = byId('answer');
const note = byId('note');
const live = byId('live');
const choose = byId<HTMLButtonElement>('choose');

const load = loadState(() => void open());
const timings = timingsView();
const backend = backendPanel(() => void open());
const code = snippet(byId('snippet'), byId<HTMLButtonElement>('copy'));
byId('timings').append(timings.element);
byId('backend').append(backend.element);

let demo: Demo = DEMOS[0];
let input: Input | undefined;
let output: Output = demo.output();
let model: Model | undefined;
let opening = new AbortController();
/** Asked before the model was there. */
let waiting: Request | undefined;
/** Answers to what was asked before a change of it are not shown. */
let epoch = 0;
/** Of the last response. */
let stages: Timings = {};

// ── The model ──────────────────────────────────────────────────────────────────────────────────

async function open(): Promise<void> {
  opening.abort();
  void model?.dispose();
  model = undefined;
  const mine = (opening = new AbortController());
  const { signal } = mine;

  answer.dataset['state'] = 'loading';
  load.start(demo.model.bytes, backend.where);
  backend.opening();
  timings.clear();
  announce(`Loading the model ${backend.where}.`);
  try {
    const { choice } = backend;
    const opened = await demo.load({ signal, onProgress: load.progress, ...(choice !== 'auto' && { backends: [choice] }) });
    if (signal.aborted) return void opened.dispose();
    model = opened;
    opened.on('response', ({ timings }) => (stages = timings));
    answer.dataset['state'] = 'ready';
    load.done();
    if (opened.backend) backend.runs(opened.backend);
    announce(`Ready, on ${opened.backend?.name}.`);
    const picture = input?.current();
    const request = waiting ?? (picture && { picture });
    waiting = undefined;
    if (request) ask(request);
  } catch (error) {
    if (!signal.aborted) failed(error);
  }
}

function failed(error: unknown): void {
  void model?.dispose();
  model = undefined;
  answer.dataset['state'] = 'failed';
  const { code, message } = described(error);
  load.failed(error);
  backend.failed(code === 'no-backend');
  announce(`The model could not be opened. ${message}`);
}

// ── One request after the other ────────────────────────────────────────────────────────────────

const ask = latestOnly(async (request: Request) => {
  const to = model;
  const since = epoch;
  if (!to) {
    waiting = request;
    if (request.file) wait(request.file);
    return;
  }
  const start = performance.now();
  const [outcome] = await Promise.allSettled([to.predict(request.picture)]);
  const roundTrip = performance.now() - start;
  if (since !== epoch) return;
  if (to !== model) return void ask(request);
  if (outcome.status === 'rejected') return refuse(outcome.reason, request.file);
  if (request.file) input?.show(request.picture as Blob);
  hint();
  announce(output.show(outcome.value));
  timings.show(stages, roundTrip);
});

function changed(): void {
  const picture = input?.current();
  if (picture) return ask({ picture });
  epoch += 1;
  waiting = undefined;
  output.clear();
  timings.clear();
  hint();
}

/** Says next to the input what was wrong with it; what is shown there stays. */
function refuse(error: unknown, file?: string): void {
  const { code, message } = described(error);
  if (GONE.includes(code)) return failed(error);
  note.dataset['state'] = 'refused';
  note.replaceChildren(el('code', {}, code), ` ${file ? `${file}: ` : ''}${message}`);
  announce(`${file ?? 'The input'} was refused. ${message}`);
}

function wait(file: string): void {
  note.dataset['state'] = 'waits';
  note.textContent = `${file} waits for the model.`;
}

/** Nothing is wrong: says what else can be done. */
function hint(): void {
  if (note.dataset['state'] === 'hint' && note.textContent === demo.hint) return;
  note.dataset['state'] = 'hint';
  note.textContent = demo.hint;
}

let announcing: ReturnType<typeof setTimeout> | undefined;
/** Has it read out, once nothing newer has come for a while. */
function announce(text: string): void {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    if (live.textContent !== text) live.textContent = text;
  }, 600);
}

// ── The demos ──────────────────────────────────────────────────────────────────────────────────

function show(next: Demo): void {
  demo = next;
  epoch += 1;
  waiting = undefined;
  document.title = `${demo.title} · TabServe`;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#demos a')) {
    if (link.hash === address(demo)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  byId('title').textContent = demo.title;
  byId('summary').textContent = demo.summary;
  byId('instrument').dataset['demo'] = demo.id;

  input?.dispose();
  input = demo.input(changed);
  output = demo.output();
  byId('well').replaceChildren(input.element);
  byId('actions').replaceChildren(...input.actions, choose, byId('chooser'));
  byId('samples').replaceChildren(...demo.samples.map((sample) => el('li', {}, sampleButton(`${demo.model.url}samples/${sample.file}`, sample.shows))));
  answer.replaceChildren(output.element, load.element);
  timings.clear();
  hint();

  const { url, name, licence, bytes: size } = demo.model;
  byId('model').replaceChildren(el('p', { class: 'model-name' }, name), el('p', {}, `${bytes(size)} · ${licence} · `, el('a', { href: `${url}README.md` }, 'model card')));
  code.show(demo.snippet);
  void open();
}

function sampleButton(url: string, shows: string): HTMLButtonElement {
  const take = async (): Promise<void> => {
    const since = (epoch += 1);
    try {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`${url}: the server answered ${response.status}.`);
      const picture = await response.blob();
      if (since !== epoch) return;
      input?.show(picture);
      ask({ picture });
    } catch (error) {
      if (since === epoch) refuse(error);
    }
  };
  const element = button('', () => void take());
  element.title = shows;
  element.append(el('img', { src: url, alt: shows, draggable: 'false', loading: 'lazy' }));
  return element;
}

function address({ id }: Demo): string {
  return `#/${id}`;
}

function route(): void {
  show(DEMOS.find((demo) => address(demo) === location.hash) ?? DEMOS[0]);
}

byId('demos').append(...DEMOS.map((demo) => el('li', {}, el('a', { href: address(demo) }, demo.title))));
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('title').focus();
});
takeFiles({
  zone: byId('instrument'),
  button: choose,
  chooser: byId<HTMLInputElement>('chooser'),
  take: (file) => ask({ picture: file, file: file.name || 'The image' }),
  refuse,
});
window.addEventListener('hashchange', route);
route();
