/** The page that speaks what a visitor types, sentence by sentence. */
import '../styles/instruments.css';
import '../styles/writing.css';
import '../styles/repository.css';
import '../styles/any.css';
import '../styles/speech.css';
import { load, playSpeech, toWav, type Client, type ModelLocation, type SpokenAudio } from '../../src/index.js';
import type { TextToSpeech } from '../../src/worker.js';
import { finder } from '../any/finder.js';
import { literal } from '../demos/code.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { Player } from '../inputs/player.js';
import { button, el } from '../page/dom.js';
import { section } from '../page/section.js';
import { Explained } from '../page/explained.js';
import { inFull } from '../page/in-full.js';
import { slider } from '../page/slider.js';
import { codePanel } from '../panels/code.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { inWords } from '../panels/words.js';
import { wordsView } from '../speech/words.js';
import { codeOf } from './code.js';

/** A voice that is opened, or is to be. */
interface Opening {
  readonly model: ModelLocation;
  readonly name: string;
  /** Whether it is a repository, and not a folder. */
  readonly isRemote: boolean;
  readonly bytes: number;
  readonly dtype: string | undefined;
}

/** What was spoken. */
interface Spoken extends Pick<SpokenAudio, 'parts' | 'words'> {
  readonly text: string;
  readonly wav: Blob;
}

const SUGGESTIONS = [
  {
    id: 'english',
    title: 'English',
    sizes: { 'onnx-community/Kokoro-82M-v1.0-ONNX': '92 to 326 MB', 'Xenova/mms-tts-eng': '37 to 114 MB' },
  },
  { id: 'german', title: 'German', sizes: { 'Xenova/mms-tts-deu': '37 to 114 MB' } },
];
/** A sentence that a real voice has spoken, for visitors without one. */
const RECORDED = {
  url: new URL('./joe.wav', import.meta.url).href,
  text: 'Hello there. I am a small voice, and I live in this tab.',
  parts: [
    { text: 'Hello there.', start: 0, end: 0.8 },
    { text: ' I am a small voice, and I live in this tab.', start: 0.8, end: 3.47 },
  ],
} as const;
const FROM_RECORD = 'Recorded: Piper’s voice “joe” (MIT, 63 MB). Open a voice below, and it speaks your own text.';

export const voices: Exhibit = {
  id: 'voices',
  title: 'Voices',
  summary:
    'Speaks what you type: you hear the first sentence while the next ones are still being made. The gallery has no voice of its own: bring one. What you type stays on this device.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  let client: Client<TextToSpeech> | undefined;
  let opening = new AbortController();
  let wanted: Opening | undefined;
  /** Ends what is spoken; undefined if nothing is. */
  let stop: AbortController | undefined;
  let spoken: Spoken | undefined;
  let frame = 0;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const field = el('textarea', { class: 'text', rows: '4', 'aria-label': 'The text', dir: 'auto', maxlength: '10000' });
  field.value = RECORDED.text;
  const speaker = el('button', { type: 'submit', class: 'primary' }, 'Speak');
  const saver = button('Download as WAV', save);
  const view = wordsView((from) => void again(from));
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const rate = el('p', { class: 'rate-line', role: 'status' });
  const progress = loadState(() => wanted && void open(wanted));
  const runs = el('p', { class: 'quiet', role: 'status' }, 'No voice is open.');
  const code = codePanel();
  const speed = slider(
    'Speed',
    { value: 1, min: 0.5, max: 2, step: 0.1, says: (value) => `${value.toFixed(1)} ×` },
    () => {},
  );
  const phonemes = el('input', { type: 'checkbox' });
  const find = finder(
    {
      handler: 'text_to_speech',
      hint: 'It needs a voice of VITS or MMS-TTS, SpeechT5, Supertonic, Kokoro or Piper. Kokoro and most voices of Piper read phonemes. Or pick a folder, or drop it on the page.',
      suggestions: SUGGESTIONS,
    },
    {
      changed: () => {},
      opened: ({ contents: { model, name, isRemote }, bytes, dtype }) =>
        void open({ model, name, isRemote, bytes, dtype }),
      announce,
    },
  );
  const form = el('form', { class: 'voices-form' }, field, el('div', { class: 'actions' }, speaker, saver));
  const element = el(
    'div',
    { class: 'voices any' },
    el(
      'div',
      { class: 'writing' },
      el('section', { class: 'writing-text', 'aria-label': 'Speech' }, form, noteElement, view.element, rate),
      el(
        'div',
        { class: 'writing-side' },
        section('voices-model', 'In use', progress.element, runs),
        section(
          'voices-how',
          'Settings',
          speed.element,
          el('p', { class: 'quiet' }, 'For Kokoro, Piper and Supertonic.'),
          el('label', { class: 'check' }, phonemes, 'The text is phonemes'),
        ),
      ),
    ),
    section('voices-other', 'Open a voice', find.element),
    code.element,
  );

  function arrange(): void {
    speaker.textContent = stop || player.at !== undefined ? 'Stop' : 'Speak';
    // A file of another text than the one that is shown would surprise.
    saver.disabled = !spoken || stop !== undefined || field.value.trim() !== spoken.text;
  }

  // ── The voice ────────────────────────────────────────────────────────────────────────────────

  function close(): void {
    opening.abort();
    stop?.abort();
    player.stop();
    void client?.dispose();
    client = undefined;
    runs.textContent = '';
  }

  async function open(what: Opening): Promise<void> {
    close();
    wanted = what;
    const { signal } = (opening = new AbortController());
    const { model, name, isRemote, bytes, dtype } = what;
    progress.start(bytes, 'on the first backend that works');
    try {
      const opened = await load(model, {
        handler: 'text_to_speech',
        signal,
        onProgress: progress.progress,
        ...(dtype && { config: { engine: { dtype: dtype as 'q8' } } }),
      });
      if (signal.aborted) return void opened.dispose();
      client = opened;
      opened.on('fail', failed);
      progress.done();
      const { engine, name: backend, precision } = opened.backend!;
      const how = `${engine}/${backend}${typeof precision === 'string' ? `, ${precision}` : ''}`;
      runs.textContent = `${name} (text_to_speech) runs on ${how}.`;
      note.set('');
      code.show(codeOf(literal(isRemote ? `https://huggingface.co/${name}` : `/models/${name}/`)));
      announce('The voice is ready.');
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    arrange();
  }

  function failed(error: unknown): void {
    close();
    const told = inFull(error);
    progress.failed(told);
    announce(`The voice could not be opened. ${inWords(told).text}`);
    arrange();
  }

  // ── Speaking ─────────────────────────────────────────────────────────────────────────────────

  const player = new Player(() => {
    arrange();
    if (player.at !== undefined) return follow(() => player.at);
    view.mark(undefined);
  });

  /** Marks what is heard. @param at returns the second that is heard; undefined when nothing is any more */
  function follow(at: () => number | undefined): void {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const now = at();
      view.mark(now);
      if (now !== undefined) follow(at);
    });
  }

  async function speak(by: Client<TextToSpeech>): Promise<void> {
    const text = field.value.trim();
    if (text === '') return note.set('Write a text first.');
    const own = (stop = new AbortController());
    const { signal } = own;
    const context = new AudioContext();
    /** Where the last part begins, in the context's time and in the speech, and where it ends. */
    let part = { starts: 0, from: 0 };
    let ends = 0;
    let whole: SpokenAudio | undefined;
    let first: number | undefined;
    const asked = performance.now();
    player.stop();
    spoken = undefined;
    note.set('');
    rate.textContent = '';
    view.says('Making the first sentence…');
    arrange();
    const parts = async function* (): AsyncGenerator<SpokenAudio> {
      const params = { ...(speed.value !== 1 && { speed: speed.value }) };
      for await (const spokenPart of by.stream(phonemes.checked ? { phonemes: text } : text, { params, signal })) {
        const { audio, parts: own_, words } = spokenPart;
        const from = own_[0]?.start ?? 0;
        if (whole && from === 0) {
          // The last item of a stream is the whole.
          whole = spokenPart;
          rate.textContent = `${rate.textContent}, all of it after ${seconds(performance.now() - asked)}.`;
          yield spokenPart;
          continue;
        }
        if (first === undefined) {
          first = performance.now() - asked;
          rate.textContent = `You heard the first sentence after ${seconds(first)}`;
          view.says('');
        }
        whole = spokenPart;
        view.live({
          final: { text: '', parts: (words ?? own_).map((one) => ({ ...one, text: ` ${one.text}` })) },
          interim: { text: '', parts: [] },
        });
        const starts = Math.max(context.currentTime, ends);
        ends = starts + audio.samples.length / audio.sampleRate;
        if (starts <= context.currentTime) part = { starts, from };
        yield spokenPart;
      }
    };
    follow(() => (signal.aborted || stop !== own ? undefined : context.currentTime - part.starts + part.from));
    try {
      await playSpeech(parts(), { context, signal });
    } catch (error) {
      if (!signal.aborted) note.failed(inFull(error));
      view.says('');
    }
    void context.close();
    if (whole && !signal.aborted)
      spoken = { ...whole, text, wav: new Blob([toWav(whole.audio)], { type: 'audio/wav' }) };
    if (stop === own) stop = undefined;
    view.mark(undefined);
    arrange();
  }

  /** Plays what was spoken once more. */
  async function again(from: number): Promise<void> {
    if (stop || !spoken) return;
    const context = new OfflineAudioContext(1, 1, 24_000);
    player.play(await context.decodeAudioData(await spoken.wav.arrayBuffer()), from);
  }

  async function playRecord(): Promise<void> {
    if (field.value.trim() !== RECORDED.text) {
      if (wanted && !opening.signal.aborted) return note.set('The voice is still being opened.');
      return note.failed(new Explained('No voice is open. Open one below, and it speaks your text.'));
    }
    await again(0);
  }

  /** Shows the recorded sentence. */
  async function showRecord(): Promise<void> {
    const response = await fetch(RECORDED.url).catch(() => undefined);
    if (!response?.ok || client || spoken) return;
    spoken = { text: RECORDED.text, parts: RECORDED.parts, wav: await response.blob() };
    view.show(RECORDED.parts);
    note.set(FROM_RECORD);
    arrange();
  }

  function save(): void {
    if (!spoken) return;
    const url = URL.createObjectURL(spoken.wav);
    el('a', { href: url, download: 'speech.wav' }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  field.addEventListener('input', arrange);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (stop) stop.abort();
    else if (player.at !== undefined) player.stop();
    else if (client) void speak(client);
    else void playRecord();
  });
  code.show(codeOf(literal('https://huggingface.co/Xenova/mms-tts-eng')));
  arrange();
  void showRecord();

  return {
    element,
    files: {
      take(file, item) {
        const entry = item?.webkitGetAsEntry();
        if (entry?.isDirectory) return find.takeFolder(entry as FileSystemDirectoryEntry);
        void file.text().then((text) => {
          field.value = text.slice(0, 10_000);
          arrange();
        });
      },
      refused: note.refused,
    },
    dispose() {
      cancelAnimationFrame(frame);
      find.dispose();
      close();
      player.dispose();
    },
  };
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
