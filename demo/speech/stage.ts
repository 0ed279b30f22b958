import { toWav, type AudioChunk, type VoiceActivityUpdate } from '../../src/index.js';
import { Player } from '../inputs/player.js';
import { button, el } from '../page/dom.js';
import { microphone } from './microphone.js';
import { LiveTimeline, type Band, type Timeline } from './timeline.js';
import { drawSound } from './waveform.js';

/** The rate at which a recording is drawn and played, in samples per second. */
const SHOWN_RATE = 24_000;
/** The maximum number of seconds of the microphone that are recorded, to be heard again. */
const MAX_SECONDS = 600;

/** A recording with its waveform, or what the microphone hears. */
export interface SoundStage {
  readonly element: HTMLElement;
  readonly actions: readonly HTMLElement[];
  /** Shows a recording, which ends the microphone. */
  show(file: Blob): Promise<void>;
  /** Marks parts of the recording. @param curve the probability of speech, one for each 32 ms */
  mark(bands: readonly Band[], curve: ArrayLike<number>): void;
  /** Adds what the microphone's last piece was. */
  follow(update: VoiceActivityUpdate): void;
  /** The probability from which on it is speech. */
  threshold: number;
  /** Plays the recording from there, in seconds. */
  play(from: number): void;
  dispose(): void;
}

export interface SoundEvents {
  /** Is called when the microphone was started. */
  started(): void;
  heard(chunk: AudioChunk): void;
  /** Is called with what the microphone has recorded. */
  ended(recording: Blob): void;
  refused(error: unknown): void;
  /** Is called while the recording plays. @param at seconds; undefined when it has stopped */
  plays(at: number | undefined): void;
}

export function soundStage(events: SoundEvents): SoundStage {
  const canvas = el('canvas', { role: 'img', 'aria-label': 'Waveform, with the probability of speech' });
  const element = el('div', { class: 'sound-stage' }, canvas);
  let sound: AudioBuffer | undefined;
  let recorded: Timeline | undefined;
  let live: LiveTimeline | undefined;
  let chunks: AudioChunk[] = [];
  let showing = 0;
  let threshold = 0.5;
  let frame = 0;

  const draw = (): void => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      drawSound(canvas, live ?? recorded, threshold, player.at);
      if (player.at === undefined) return;
      events.plays(player.at);
      draw();
    });
  };
  const player = new Player(() => {
    plays.textContent = player.at === undefined ? 'Play' : 'Stop';
    if (player.at === undefined) events.plays(undefined);
    draw();
  });
  const play = (from: number): void => void (sound && !live && player.play(sound, from));
  const plays = button('Play', () => (player.at === undefined ? play(0) : player.stop()));
  const resized = new ResizeObserver(draw);
  resized.observe(canvas);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', draw);

  const arrange = (): void => {
    plays.disabled = live !== undefined || !sound;
    toggle.textContent = live ? 'Stop the microphone' : 'Start the microphone';
    draw();
  };
  /** Ends the microphone: what it has heard is the recording now. */
  const end = (): void => {
    ear.stop();
    live = undefined;
    arrange();
    const [first] = chunks;
    if (first) events.ended(new Blob([toWav(joined(chunks, first.sampleRate))], { type: 'audio/wav' }));
    chunks = [];
  };
  const ear = microphone({
    heard(chunk) {
      if (!live) return;
      live.add(chunk);
      chunks.push(chunk);
      draw();
      events.heard(chunk);
      if (chunks.reduce((sum, { samples }) => sum + samples.length, 0) > MAX_SECONDS * chunk.sampleRate) end();
    },
    stopped(error) {
      end();
      events.refused(error);
    },
  });
  const toggle = button('Start the microphone', () => {
    if (ear.running) return end();
    toggle.disabled = true;
    ear
      .start()
      .then(
        () => {
          player.stop();
          showing += 1;
          live = new LiveTimeline();
          events.started();
          arrange();
        },
        (error: unknown) => (error as Error).name !== 'AbortError' && events.refused(error),
      )
      .finally(() => {
        toggle.disabled = false;
        // A button that is disabled loses the focus.
        if (document.activeElement === document.body) toggle.focus();
      });
  });
  arrange();

  return {
    element,
    actions: [plays, toggle],
    async show(given) {
      const mine = (showing += 1);
      const decodedSound = await decoded(given);
      if (mine !== showing) return;
      ear.stop();
      player.stop();
      live = undefined;
      chunks = [];
      sound = decodedSound;
      const samples = sound?.getChannelData(0) ?? new Float32Array(0);
      recorded = { samples, seconds: sound?.duration ?? 1, bands: [], curve: [] };
      arrange();
    },
    mark(bands, curve) {
      if (live || !recorded) return;
      recorded = { ...recorded, bands, curve };
      draw();
    },
    follow(update) {
      live?.follow(update);
      draw();
    },
    set threshold(value: number) {
      threshold = value;
      draw();
    },
    get threshold() {
      return threshold;
    },
    play,
    dispose() {
      showing += 1;
      cancelAnimationFrame(frame);
      resized.disconnect();
      scheme.removeEventListener('change', draw);
      ear.stop();
      player.dispose();
    },
  };
}

function joined(
  chunks: readonly AudioChunk[],
  sampleRate: number,
): { readonly samples: Float32Array; readonly sampleRate: number } {
  const samples = new Float32Array(chunks.reduce((sum, chunk) => sum + chunk.samples.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    samples.set(chunk.samples, at);
    at += chunk.samples.length;
  }
  return { samples, sampleRate };
}

/** Returns a recording, to be drawn and played; undefined if the page cannot decode it: the answer says what is wrong. */
async function decoded(file: Blob): Promise<AudioBuffer | undefined> {
  try {
    return await new OfflineAudioContext(1, 1, SHOWN_RATE).decodeAudioData(await file.arrayBuffer());
  } catch {
    return undefined;
  }
}
