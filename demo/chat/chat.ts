/** The page on which a language model answers: about photos or recordings, with tools, with its thoughts, as JSON. */
import '../styles/instruments.css';
import '../styles/writing.css';
import '../styles/repository.css';
import '../styles/any.css';
import '../styles/chat.css';
import { load, type Client, type ModelLocation } from '../../src/index.js';
import type { TextGenerator } from '../../src/worker.js';
import { finder } from '../any/finder.js';
import { literal } from '../demos/code.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { button, el } from '../page/dom.js';
import { section } from '../page/section.js';
import { Explained } from '../page/explained.js';
import { inFull } from '../page/in-full.js';
import { codePanel } from '../panels/code.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { inWords } from '../panels/words.js';
import { rateOf } from '../writing/rate.js';
import { attachment, type Sense } from './attachment.js';
import { codeOf } from './code.js';
import { answer, type Answered, type Message } from './conversation.js';
import { chatSettings } from './settings.js';
import { thread } from './thread.js';

/** A model that is opened, or is to be. */
interface Opening {
  readonly model: ModelLocation;
  /** Undefined for the gallery's own. */
  readonly name: string | undefined;
  readonly bytes: number;
  readonly dtype?: string | undefined;
  readonly handler?: string | undefined;
}

const OURS: Opening = { model: 'models/writer/', name: undefined, bytes: 5_567_000 };
const SUGGESTIONS = [
  {
    id: 'texts',
    title: 'Texts and tools',
    sizes: {
      'HuggingFaceTB/SmolLM2-360M-Instruct': '0.4 to 1.4 GB',
      'onnx-community/Qwen3-0.6B-ONNX': '0.6 to 2.4 GB',
    },
  },
  { id: 'photos', title: 'Photos too', sizes: { 'HuggingFaceTB/SmolVLM-256M-Instruct': '0.3 to 1 GB' } },
];
const QUESTIONS = ['Once upon a time there was a fox.', 'What is (12 + 30) * 1.5?', 'What time is it?'];
/** The handlers that answer conversations, and what they perceive beside texts. */
const CHATS = new Map<string, Sense | undefined>([
  ['text_generator', undefined],
  ['image_text_to_text', 'image'],
  ['audio_text_to_text', 'audio'],
]);

export const chat: Exhibit = {
  id: 'chat',
  title: 'Chat',
  summary:
    'A language model answers on this device: about photos or recordings, with tools that this page runs, with its reasoning apart, or as JSON by a schema. The gallery’s own model continues stories; for answers, open a repository.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  let client: Client<TextGenerator> | undefined;
  let opening = new AbortController();
  let wanted = OURS;
  /** Ends the answer that is being written; undefined if there is none. */
  let stop: AbortController | undefined;
  const messages: Message[] = [];

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const conversation = thread('Write something, or begin with one of these:', QUESTIONS, (question) => {
    field.value = question;
    field.focus();
  });
  const field = el('textarea', {
    class: 'text',
    rows: '2',
    'aria-label': 'Your message',
    placeholder: 'Your message',
    dir: 'auto',
  });
  const sender = el('button', { type: 'submit', class: 'primary' }, 'Send');
  const anew = button('Start over', () => {
    stop?.abort();
    messages.length = 0;
    conversation.clear();
    rate.textContent = '';
    note.set('');
    arrange();
  });
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const attached = attachment(note.refused);
  const rate = el('p', { class: 'rate-line' });
  const progress = loadState(() => void open(wanted));
  const runs = el('p', { class: 'quiet', role: 'status' });
  const ours = button('Back to our model', () => void open(OURS));
  const settings = chatSettings();
  const code = codePanel();
  const find = finder(
    {
      hint: 'It needs a language model in ONNX with a chat template. Or pick a folder, or drop it on the page.',
      suggestions: SUGGESTIONS,
    },
    {
      changed: () => {},
      opened: ({ contents: { model, name }, bytes, dtype, handler }) =>
        void open({ model, name, bytes, dtype, handler }),
      announce,
    },
  );
  const form = el(
    'form',
    { class: 'chat-form' },
    field,
    el('div', { class: 'actions' }, sender, ...attached.elements, anew),
  );
  const element = el(
    'div',
    { class: 'chat any' },
    el(
      'div',
      { class: 'writing' },
      el(
        'section',
        { class: 'writing-text', 'aria-label': 'Conversation' },
        conversation.element,
        form,
        noteElement,
        rate,
      ),
      el(
        'div',
        { class: 'writing-side' },
        section('chat-model', 'In use', progress.element, runs, ours),
        section('chat-how', 'Settings', settings.element),
      ),
    ),
    section('chat-other', 'Another model', find.element),
    code.element,
  );

  /** Shows what can be done now. */
  function arrange(): void {
    sender.textContent = stop ? 'Stop' : 'Send';
    sender.disabled = !client;
    anew.disabled = messages.length === 0;
    ours.hidden = wanted === OURS;
  }

  // ── The model ────────────────────────────────────────────────────────────────────────────────

  function close(): void {
    opening.abort();
    stop?.abort();
    void client?.dispose();
    client = undefined;
    attached.perceives(undefined);
    runs.textContent = '';
  }

  async function open(what: Opening): Promise<void> {
    close();
    wanted = what;
    const { signal } = (opening = new AbortController());
    const { model, name, bytes, dtype, handler } = what;
    progress.start(bytes, 'on the first backend that works');
    arrange();
    try {
      const opened = (await load(model, {
        signal,
        onProgress: progress.progress,
        ...(handler && { handler: handler as 'text_generator' }),
        ...(dtype && { config: { engine: { dtype: dtype as 'q4' } } }),
      })) as unknown as Client<TextGenerator>;
      if (signal.aborted) return void opened.dispose();
      client = opened;
      const { handler: is } = await opened.describe();
      if (signal.aborted) return;
      if (!CHATS.has(is))
        throw new Explained(`This is a model of ${is}, which answers no messages. The page “Any model” runs it.`);
      attached.perceives(CHATS.get(is));
      opened.on('fail', failed);
      progress.done();
      const { engine, name: backend, precision } = opened.backend!;
      const how = `${engine}/${backend}${typeof precision === 'string' ? `, ${precision}` : ''}`;
      runs.textContent = name
        ? `${name} (${is}) runs on ${how}.`
        : `Our own model (5.6 MB) runs on ${how}. It continues what you write, in the style of old tales, and answers no questions. With “It must call one” or JSON, you see how the answer of any model is guided.`;
      code.show(codeOf(literal(name === undefined ? '/models/writer/' : `https://huggingface.co/${name}`)));
      announce('The model is ready.');
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
    }
    arrange();
  }

  function failed(error: unknown): void {
    close();
    const told = inFull(error);
    progress.failed(told);
    announce(`The model could not be opened. ${inWords(told).text}`);
    arrange();
  }

  // ── The conversation ─────────────────────────────────────────────────────────────────────────

  async function send(by: Client<TextGenerator>): Promise<void> {
    const text = field.value.trim();
    const sent = attached.current;
    if (text === '' && !sent) return note.set('Write a message first.');
    const own = (stop = new AbortController());
    const before = messages.length;
    note.set('');
    try {
      const { params } = settings;
      const content = sent
        ? [
            { type: sent.sense, [sent.sense]: sent.file },
            { type: 'text', text },
          ]
        : text;
      messages.push({ role: 'user', content });
      conversation.ask(text, sent);
      field.value = '';
      attached.clear();
      arrange();
      const answered = await answer(by, messages, params, conversation.answer(), own.signal);
      rate.textContent = saysOf(answered);
      announce(`The answer is complete. ${rate.textContent}`);
    } catch (error) {
      if (!own.signal.aborted) note.failed(inFull(error));
      // A message that was refused would be refused with every later one.
      if (messages.length === before + 1) messages.pop();
    }
    if (stop === own) stop = undefined;
    arrange();
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (stop) stop.abort();
    else if (client) void send(client);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (client && !stop) void send(client);
  });
  code.show(codeOf(literal('/models/writer/')));
  void open(OURS);

  return {
    element,
    files: {
      take(file, item) {
        const entry = item?.webkitGetAsEntry();
        if (entry?.isDirectory) find.takeFolder(entry as FileSystemDirectoryEntry);
        else attached.take(file);
      },
      refused: note.refused,
    },
    dispose() {
      find.dispose();
      close();
      attached.dispose();
      conversation.clear();
    },
  };
}

function saysOf({ tokens, finishReason, wait, took }: Answered): string {
  return `${rateOf(tokens, wait, took)}.${finishReason === 'length' ? ' It has the length that is set.' : ''}`;
}
