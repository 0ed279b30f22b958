/** The page that hears speech: where somebody speaks, what is said, and by whom. */
import '../styles/instruments.css';
import '../styles/writing.css';
import '../styles/repository.css';
import '../styles/any.css';
import '../styles/speech.css';
import { load, type Client, type ModelLocation, type VoiceActivity } from '../../src/index.js';
import type { SpeakerDiarizer, SpeechToText, VoiceActivityDetector } from '../../src/worker.js';
import { finder } from '../any/finder.js';
import { literal } from '../demos/code.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { chooses } from '../page/drop.js';
import { button, el } from '../page/dom.js';
import { section } from '../page/section.js';
import { Explained } from '../page/explained.js';
import { percent } from '../page/format.js';
import { inFull } from '../page/in-full.js';
import { slider } from '../page/slider.js';
import { codePanel } from '../panels/code.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { fetchSample, sampleList } from '../panels/samples.js';
import { inWords } from '../panels/words.js';
import { codeOf, type CodeModel } from './code.js';
import { LiveHearing, paramsOf, transcribe, withSpeakers, type Recognizer, type Word } from './hearing.js';
import recorded from './recorded.json' with { type: 'json' };
import { soundStage } from './stage.js';
import { SPEAKERS, wordsView } from './words.js';

/** A model that is opened, or is to be. */
interface Opening {
  readonly model: ModelLocation;
  /** Undefined for the gallery's own. */
  readonly name?: string;
  /** Whether it is a repository, and not a folder. */
  readonly isRemote?: boolean;
  readonly bytes: number;
  readonly dtype?: string | undefined;
  readonly handler?: string | undefined;
}

/** A model of the visitor's. */
interface Opened<Handler extends SpeechToText | SpeakerDiarizer> {
  readonly client: Client<Handler>;
  readonly code: CodeModel;
  readonly says: string;
}

const OURS: Opening = { model: 'models/vad/', bytes: 2_327_524 };
const SUGGESTIONS = [
  {
    id: 'words',
    title: 'Words',
    sizes: {
      'onnx-community/whisper-tiny_timestamped': '41 to 152 MB',
      'onnx-community/moonshine-tiny-ONNX': '28 to 109 MB',
    },
  },
  { id: 'speakers', title: 'Speakers', sizes: { 'onnx-community/pyannote-segmentation-3.0': '2 to 6 MB' } },
];
const HANDLERS = ['speech_to_text', 'speech_recognizer', 'speaker_diarizer'] as const;
const RECOGNIZERS: ReadonlySet<string> = new Set(HANDLERS.slice(0, 2));
const FOLDER = 'models/vad/samples';
/** Each with the words that Whisper tiny.en has heard in it. */
const SAMPLES = [
  { url: `${FOLDER}/platform.wav`, shows: 'Announcements', words: recorded.platform },
  { url: `${FOLDER}/fan.wav`, shows: 'Two voices and a fan', words: recorded.fan },
] as const;

export const speech: Exhibit = {
  id: 'speech',
  title: 'Speech',
  summary:
    'Hears where somebody speaks, in a recording or live. Open a recognizer, and the words appear under the wave while they are said; with a model of speakers, in the color of who says them. What is recorded stays on this device.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  let vad: Client<VoiceActivityDetector> | undefined;
  let recognizer: (Opened<SpeechToText> & Recognizer) | undefined;
  let diarizer: Opened<SpeakerDiarizer> | undefined;
  let opening = new AbortController();
  /** Ends what is heard of a recording. */
  let hearing = new AbortController();
  let live: LiveHearing | undefined;
  let recording: Blob | undefined;
  let words: readonly Word[] | undefined;
  let chosen: (typeof SAMPLES)[number] | undefined;
  let wanted = OURS;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const stage = soundStage({
    started() {
      hearing.abort();
      samples.select((chosen = undefined));
      recording = undefined;
      note.set('');
      headline('Listening…');
      view.says(recognizer ? 'Say something.' : 'Open a recognizer below, and what you say is written here.');
      showCode(true);
      if (!vad) return;
      live = new LiveHearing(vad, recognizer, () => threshold.value, {
        followed(update) {
          stage.follow(update);
          const last = update.probabilities.at(-1);
          headline(update.speaking ? 'Speech' : 'Silence', last === undefined ? share.textContent! : percent(last));
        },
        heard(text) {
          words = [...(words ?? []), ...text.final.parts];
          view.live(text);
        },
        failed: note.failed,
      });
      words = undefined;
    },
    heard: (chunk) => live?.add(chunk),
    async ended(file) {
      const own = live;
      live = undefined;
      recording = file;
      showCode(false);
      await own?.end();
      if (recording !== file) return;
      // What was said is heard again for its speakers alone.
      await stage.show(file);
      void hear(words);
    },
    refused: (error) => note.refused(error),
    plays: (at) => view.mark(at),
  });
  const view = wordsView((from) => stage.play(from));
  const name = el('span', { class: 'top-name' });
  const share = el('span', { class: 'top-share' });
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const progress = loadState(() => void open(wanted));
  const inUse = el('ul', { class: 'in-use quiet', 'aria-label': 'Models in use' });
  const code = codePanel();
  const threshold = slider('Threshold', { value: 0.5, min: 0.05, max: 0.95, step: 0.05, says: percent }, () => {
    stage.threshold = threshold.value;
    if (!live && recording) void hear(words);
  });
  const samples = sampleList(SAMPLES, (sample) => void takeSample(sample as (typeof SAMPLES)[number]));
  const chooser = el('input', {
    type: 'file',
    accept: 'audio/*',
    hidden: '',
    tabindex: '-1',
    'aria-label': 'Audio file',
  });
  const choose = el('button', { type: 'button' }, 'Choose a file…');
  const find = finder(
    {
      handlers: HANDLERS,
      hint: 'It needs a recognizer (Whisper, Moonshine, wav2vec 2.0) or a model of speakers (pyannote’s segmentation). Or pick a folder, or drop it on the page.',
      suggestions: SUGGESTIONS,
    },
    {
      changed: () => {},
      opened: ({ contents: { model, name: of, isRemote }, bytes, dtype, handler }) =>
        void open({ model, name: of, isRemote, bytes, dtype, handler }),
      announce,
    },
  );
  const element = el(
    'div',
    { class: 'speech any' },
    el(
      'div',
      { class: 'writing' },
      el(
        'section',
        { class: 'writing-text', 'aria-label': 'Recording' },
        stage.element,
        el('div', { class: 'actions' }, ...stage.actions, choose, chooser),
        samples.element,
        noteElement,
        el('p', { class: 'headline', role: 'status' }, name, share),
        view.element,
      ),
      el(
        'div',
        { class: 'writing-side' },
        section('speech-models', 'In use', progress.element, inUse),
        section('speech-how', 'Settings', threshold.element),
      ),
    ),
    section('speech-other', 'Open a recognizer, or a model of speakers', find.element),
    code.element,
  );

  function headline(text: string, more = ''): void {
    name.textContent = text;
    share.textContent = more;
  }

  function showModels(): void {
    const own = (opened: Opened<SpeechToText> | Opened<SpeakerDiarizer>, drop: () => void): HTMLElement =>
      el('li', {}, opened.says, ' ', button('Close', drop));
    inUse.replaceChildren(
      ...(vad ? [el('li', {}, `Silero VAD 5 (MIT, 2.3 MB) finds speech, on ${on(vad)}.`)] : []),
      ...(recognizer ? [own(recognizer, () => drop('recognizer'))] : []),
      ...(diarizer ? [own(diarizer, () => drop('diarizer'))] : []),
    );
  }

  function showCode(isLive: boolean): void {
    code.show(codeOf(recognizer?.code, isLive));
  }

  // ── The models ───────────────────────────────────────────────────────────────────────────────

  function drop(which: 'recognizer' | 'diarizer'): void {
    hearing.abort();
    if (which === 'recognizer') {
      void recognizer?.client.dispose();
      recognizer = undefined;
    } else {
      void diarizer?.client.dispose();
      diarizer = undefined;
    }
    showModels();
    showCode(live !== undefined);
    if (!live) void hear();
  }

  async function open(what: Opening): Promise<void> {
    opening.abort();
    wanted = what;
    const { signal } = (opening = new AbortController());
    const { model, name: of = '', isRemote, bytes, dtype, handler } = what;
    progress.start(bytes, 'on the first backend that works');
    try {
      const opened = (await load(model, {
        signal,
        onProgress: progress.progress,
        // Native WebGPU computes Silero VAD wrongly: its engine is not downloaded.
        ...(what === OURS && { handler: 'voice_activity_detector', backends: ['wasm'] }),
        ...(handler && { handler: handler as 'speech_to_text' }),
        ...(dtype && { config: { engine: { dtype: dtype as 'q8' } } }),
      } as object)) as unknown as Client;
      if (signal.aborted) return void opened.dispose();
      const { handler: is } = await opened.describe();
      if (signal.aborted) return void opened.dispose();
      const params = RECOGNIZERS.has(is) ? await paramsOf(opened as never, is, signal) : {};
      const says = `${of} (${is}) ${RECOGNIZERS.has(is) ? 'transcribes' : 'says who speaks'}, on ${on(opened)}.`;
      const named = { model: literal(isRemote ? `https://huggingface.co/${of}` : `/models/${of}/`), handler: is };
      // What asks the model before it ends with it.
      hearing.abort();
      if (what === OURS) vad = opened as never;
      else if (RECOGNIZERS.has(is)) {
        void recognizer?.client.dispose();
        recognizer = { client: opened as never, code: named, says, params };
      } else if (is === 'speaker_diarizer') {
        void diarizer?.client.dispose();
        diarizer = { client: opened as never, code: named, says };
      } else {
        void opened.dispose();
        throw new Explained(`This is a model of ${is}, which hears no words. The page “Any model” runs it.`);
      }
      opened.on('fail', (error) => failed(error, opened));
      progress.done();
      showModels();
      showCode(live !== undefined);
      announce('The model is ready.');
      if (live) note.set('The recognizer hears the next recording. Start the microphone again.');
      else if (recording) void hear();
      else if (what === OURS) void takeSample(SAMPLES[0]);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  function failed(error: unknown, lost?: Client): void {
    hearing.abort();
    void lost?.dispose();
    if (lost === (vad as unknown)) vad = undefined;
    if (lost === (recognizer?.client as unknown)) recognizer = undefined;
    if (lost === (diarizer?.client as unknown)) diarizer = undefined;
    const told = wanted === OURS ? error : inFull(error);
    progress.failed(told);
    showModels();
    announce(`The model could not be opened. ${inWords(told).text}`);
  }

  // ── A recording ──────────────────────────────────────────────────────────────────────────────

  async function takeSample(sample: (typeof SAMPLES)[number]): Promise<void> {
    try {
      await take(await fetchSample(sample), sample);
    } catch (error) {
      note.failed(error);
    }
  }

  async function take(file: Blob, sample?: (typeof SAMPLES)[number]): Promise<void> {
    live?.stop();
    live = undefined;
    recording = file;
    words = undefined;
    samples.select((chosen = sample));
    note.set('');
    // What was heard of the last one does not belong to this one, which may be unreadable.
    headline('Nothing heard yet');
    view.says('');
    await stage.show(file);
    if (recording === file) void hear();
  }

  /** Asks the models about the recording. @param known its words, if they are known */
  async function hear(known?: readonly Word[]): Promise<void> {
    hearing.abort();
    const { signal } = (hearing = new AbortController());
    const file = recording;
    if (!file || !vad) return;
    try {
      const activity = await vad.predict(file, { signal, params: { threshold: threshold.value } });
      showSpeech(activity);
      words = known ?? (await heard(file, signal));
      if (!diarizer || !words) return;
      note.set('Hearing who speaks…');
      const spoken = await withSpeakers(words, diarizer.client, file, signal);
      view.show(spoken.words);
      stage.mark(
        spoken.turns.map((turn) => ({ ...turn, color: SPEAKERS[Number(/\d+$/.exec(turn.speaker)) % SPEAKERS.length] })),
        activity.probabilities,
      );
      note.set('');
    } catch (error) {
      if (!signal.aborted) note.refused(error, (file as Partial<File>).name ?? 'The recording');
    }
  }

  async function heard(file: Blob, signal: AbortSignal): Promise<readonly Word[] | undefined> {
    if (!recognizer) {
      if (chosen) {
        note.set('Recorded: these words are what Whisper tiny.en has heard. Open a recognizer to hear them here.');
        view.show(chosen.words);
        return chosen.words;
      }
      view.says('Open a recognizer below, and what is said is written here.');
      return undefined;
    }
    view.says('Hearing words…');
    const found = await transcribe(recognizer, file, signal, (part) => view.part(part));
    view.show(found);
    announce(`${found.length} words.`);
    return found;
  }

  function showSpeech({ segments, probabilities, duration }: VoiceActivity): void {
    const spoken = segments.reduce((sum, { start, end }) => sum + end - start, 0);
    headline(segments.length === 0 ? 'No speech' : 'Speech', `${spoken.toFixed(1)} s of ${duration.toFixed(1)} s`);
    stage.mark(segments, probabilities);
  }

  chooses(choose, chooser, (file) => void take(file));
  showCode(false);
  headline('No recording yet');
  void open(OURS);

  return {
    element,
    files: {
      take(file, item) {
        const entry = item?.webkitGetAsEntry();
        if (entry?.isDirectory) find.takeFolder(entry as FileSystemDirectoryEntry);
        else void take(file);
      },
      refused: note.refused,
    },
    dispose() {
      opening.abort();
      hearing.abort();
      live?.stop();
      find.dispose();
      stage.dispose();
      for (const client of [vad, recognizer?.client, diarizer?.client]) void client?.dispose();
    },
  };
}

function on({ backend }: Pick<Client, 'backend'>): string {
  const { engine, name, precision } = backend!;
  return `${engine}/${name}${typeof precision === 'string' ? `, ${precision}` : ''}`;
}
