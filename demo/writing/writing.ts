/** The page on which a small language model writes, and continues when its worker is killed. */
import '../styles/instruments.css';
import '../styles/writing.css';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { button, el } from '../page/dom.js';
import { bytes, milliseconds } from '../page/format.js';
import { address, onSettings, replaceSettings, route } from '../page/route.js';
import { segments } from '../page/segments.js';
import { codePanel } from '../panels/code.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { inWords } from '../panels/words.js';
import { CODE } from './code.js';
import type { HubModel } from './hub.js';
import { paper } from './paper.js';
import { rateOf } from './rate.js';
import { repositoryField } from './repository.js';
import { writingSettings } from './settings.js';
import { openWriter, type Writer } from './writer.js';

/** The model and its tokenizer. */
const BYTES = 5_567_000;
const BEGINNINGS = [
  'Once upon a time there was a king who had three daughters.',
  'In the middle of the wood',
  '"Who are you?" said the old woman.',
] as const;
const BACKENDS: Readonly<Record<string, string>> = { wasm: 'WASM', webgpu: 'WebGPU' };

export const writing: Exhibit = {
  id: 'writing',
  title: 'Writing',
  summary:
    'A tiny language model of our own continues your text. It has read 45 old books, fairy tales and others for children, and nothing else: its sentences sound like them, and mean little. Kill its worker in mid-sentence: the text continues.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  let writer: Writer | undefined;
  let opening = new AbortController();
  /** Ends the answer that is being written; undefined if there is none. */
  let stop: AbortController | undefined;
  let model: HubModel | undefined;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const field = el('textarea', { class: 'text', rows: '2', 'aria-label': 'The beginning', spellcheck: 'false' });
  field.value = BEGINNINGS[0];
  const starter = el('button', { type: 'button', class: 'primary' }, 'Write');
  const killer = button('Kill the worker', kill);
  const text = paper();
  const rate = el('p', { class: 'rate-line' });
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const load = loadState(() => void open());
  const runs = el('p', { class: 'quiet' });
  const code = codePanel();
  const settings = writingSettings(() => replaceSettings(settings.changed));
  const mode = segments('mode', 'What the text is', { text: 'A beginning', chat: 'A message to answer' }, () => {});
  const ours = button('Back to our model', () => {
    model = undefined;
    void open();
  });
  const repository = repositoryField((chosen) => {
    model = chosen;
    void open();
  });
  const begins = BEGINNINGS.map((beginning) =>
    el(
      'li',
      {},
      button(beginning, () => {
        field.value = beginning;
      }),
    ),
  );
  const element = el(
    'div',
    { class: 'writing' },
    el(
      'section',
      { class: 'writing-text', 'aria-label': 'Text' },
      field,
      el('ul', { class: 'beginnings', 'aria-label': 'Beginnings' }, ...begins),
      mode.element,
      el('div', { class: 'actions' }, starter, killer),
      noteElement,
      text.element,
      rate,
    ),
    el(
      'div',
      { class: 'writing-side' },
      el(
        'section',
        { 'aria-labelledby': 'writing-model' },
        heading('writing-model', 'Model'),
        load.element,
        runs,
        ours,
      ),
      el('section', { 'aria-labelledby': 'writing-how' }, heading('writing-how', 'Settings'), settings.element),
      el(
        'section',
        { 'aria-labelledby': 'writing-other' },
        heading('writing-other', 'Another model'),
        repository.element,
      ),
    ),
    el('div', { class: 'writing-code' }, code.element),
  );

  /** Shows what can be done now. */
  const arrange = (): void => {
    const isWriting = stop !== undefined;
    starter.textContent = isWriting ? 'Stop' : 'Write';
    starter.disabled = !writer;
    killer.disabled = !isWriting;
    // A button that is disabled loses the focus.
    if (!isWriting && document.activeElement === document.body && element.isConnected) starter.focus();
    mode.element.hidden = ours.hidden = model === undefined;
  };

  // ── The model ────────────────────────────────────────────────────────────────────────────────

  async function open(): Promise<void> {
    opening.abort();
    stop?.abort();
    writer?.dispose();
    writer = undefined;
    const { signal } = (opening = new AbortController());
    load.start(model?.bytes ?? BYTES, 'on the first backend that works');
    runs.replaceChildren();
    arrange();
    try {
      const opened = await openWriter(model, signal, {
        progress: load.progress,
        recovered(took) {
          say(`Another worker continued after ${milliseconds(took)}. No word is missing or doubled.`);
        },
        failed,
      });
      if (signal.aborted) return opened.dispose();
      writer = opened;
      load.done();
      runs.replaceChildren(...aboutModel(opened));
      announce('The model is ready.');
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
    }
    arrange();
  }

  function failed(error: unknown): void {
    writer?.dispose();
    writer = undefined;
    load.failed(error);
    announce(`The model could not be opened. ${inWords(error).text}`);
    arrange();
  }

  function aboutModel({ backend: { name, threads } }: Writer): readonly (Node | string)[] {
    const on = BACKENDS[name] ?? name;
    const where = `runs on ${on}${name === 'wasm' ? `, ${threads} ${threads === 1 ? 'thread' : 'threads'}` : ''}.`;
    if (model) return [`${model.repository} (${model.dtype}, ${bytes(model.bytes)}) ${where}`];
    const card = el('a', { href: address('models/writer') }, 'Our model');
    return [card, ` (4.8 million weights, ${bytes(BYTES)}, MIT) ${where}`];
  }

  // ── The text ─────────────────────────────────────────────────────────────────────────────────

  async function write(by: Writer): Promise<void> {
    const own = (stop = new AbortController());
    const prompt = field.value;
    const isChat = model !== undefined && mode.value === 'chat';
    const input = isChat ? { messages: [{ role: 'user', content: prompt }] } : prompt;
    const asked = performance.now();
    let first: number | undefined;
    let count = 0;
    text.begin(isChat ? `${prompt}\n\n` : prompt);
    note.hint();
    say('');
    arrange();
    try {
      for await (const part of by.write(input, { params: settings.params, signal: own.signal })) {
        const now = performance.now();
        first ??= now;
        if (typeof part === 'string') {
          count += 1;
          text.add(part);
          rate.textContent = rateOf(count, first - asked, now - first);
        } else if ('usage' in part) {
          count = part.usage.completionTokens;
          rate.textContent = rateOf(count, first - asked, now - first);
          const why = part.finishReason === 'stop' ? 'The model ended its text.' : 'It has the length that is set.';
          announce(`${why} ${rate.textContent}`);
        }
      }
    } catch (error) {
      if (!own.signal.aborted) note.refused(error, 'The text');
    }
    if (stop === own) stop = undefined;
    arrange();
  }

  function kill(): void {
    writer?.kill();
    text.mark('Here the worker was killed.');
    say('The worker is gone. Another one is opened, reads what is written, and continues.');
  }

  /** Says something about the worker, under the buttons. */
  function say(sentence: string): void {
    note.set(sentence);
    if (sentence !== '') announce(sentence);
  }

  starter.addEventListener('click', () => {
    if (stop) stop.abort();
    else if (writer) void write(writer);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !writer || stop) return;
    event.preventDefault();
    void write(writer);
  });
  settings.restore(route().settings);
  const unlisten = onSettings(settings.restore);
  code.show(CODE);
  arrange();
  void open();

  return {
    element,
    dispose() {
      unlisten();
      opening.abort();
      stop?.abort();
      repository.dispose();
      writer?.dispose();
    },
  };
}

function heading(id: string, title: string): HTMLElement {
  return el('h2', { id }, title);
}
