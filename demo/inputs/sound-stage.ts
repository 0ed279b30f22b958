import type { VoiceActivity, VoiceActivityUpdate } from '../../src/index.js';
import type { Input, InputEvents, LiveSound } from '../demo.js';
import { button, el } from '../page/dom.js';
import { LiveTimeline, type Timeline } from './live-timeline.js';
import { microphone } from './microphone.js';
import { Player } from './player.js';
import { drawSound } from './waveform.js';

/** The rate at which a recording is drawn and played, in samples per second. */
const SHOWN_RATE = 24_000;

/** A recording with its waveform, or what the microphone hears. */
export interface SoundStage extends Input {
  /** Marks the speech of a recording; undefined: marks none. */
  mark(activity: VoiceActivity | undefined): void;
  /** Adds what the microphone's last piece was. */
  follow(update: VoiceActivityUpdate): void;
  /** The probability from which on it is speech. */
  threshold: number;
  /** Plays the recording from there. */
  play(from: number): void;
}

/** Shows a recording as a waveform that can be played, or the last seconds of the microphone while that is on. */
export function soundStage({ changed, emptied, refused }: InputEvents): SoundStage {
  const canvas = el('canvas', { role: 'img', 'aria-label': 'Waveform, with the probability of speech' });
  const element = el(
    'div',
    { class: 'sound-stage', 'data-empty': '' },
    el('div', { class: 'sound-wave' }, canvas),
    el('p', { class: 'invitation' }, 'Choose a recording, or start the microphone'),
  );

  let file: Blob | undefined;
  let sound: AudioBuffer | undefined;
  let recorded: Timeline | undefined;
  let live: LiveTimeline | undefined;
  let pending: LiveSound | undefined;
  let session = 0;
  let showing = 0;
  let threshold = 0.5;
  let frame = 0;

  const draw = (): void => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      drawSound(canvas, live ?? recorded, threshold, player.at);
      if (player.at !== undefined) draw();
    });
  };
  const player = new Player(() => {
    plays.textContent = player.at === undefined ? 'Play' : 'Stop';
    draw();
  });
  const play = (from: number): void => void (sound && player.play(sound, from));
  const plays = button('Play', () => (player.at === undefined ? play(0) : player.stop()));
  const resized = new ResizeObserver(draw);
  resized.observe(canvas);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', draw);

  const arrange = (): void => {
    element.toggleAttribute('data-empty', !live && !file);
    plays.disabled = live !== undefined || !sound;
    toggle.textContent = live ? 'Stop the microphone' : 'Start the microphone';
    draw();
  };
  const pause = (): void => {
    ear.stop();
    live = pending = undefined;
    arrange();
  };
  /** Stops the microphone, and shows the recording from before. */
  const back = (): void => {
    pause();
    if (file) changed();
    else emptied();
  };
  const ear = microphone({
    heard(chunk) {
      if (!live) return;
      live.add(chunk);
      pending = joined(pending, chunk.samples, { sampleRate: chunk.sampleRate, session });
      draw();
      changed();
    },
    stopped(error) {
      back();
      refused(error);
    },
  });
  const toggle = button('Start the microphone', () => {
    if (ear.running) return back();
    toggle.disabled = true;
    ear
      .start()
      .then(
        () => {
          player.stop();
          session += 1;
          live = new LiveTimeline();
          emptied();
          arrange();
        },
        (error: unknown) => (error as Error).name !== 'AbortError' && refused(error),
      )
      .finally(() => {
        toggle.disabled = false;
        // A button that is disabled loses the focus.
        if (document.activeElement === document.body) toggle.focus();
      });
  });

  return {
    element,
    actions: [plays, toggle],
    current() {
      if (!live) return file;
      const piece = pending;
      pending = undefined;
      return piece;
    },
    given: () => (live ? undefined : file),
    async show(given) {
      const mine = (showing += 1);
      const decodedSound = await decoded(given);
      if (mine !== showing) return;
      ear.stop();
      player.stop();
      live = pending = undefined;
      file = given;
      sound = decodedSound;
      const samples = sound?.getChannelData(0) ?? new Float32Array(0);
      recorded = { samples, seconds: sound?.duration ?? 1, speech: [], curve: [] };
      arrange();
    },
    mark(activity) {
      if (live || !recorded) return;
      const seconds = activity?.duration ?? recorded.seconds;
      recorded = { ...recorded, seconds, speech: activity?.segments ?? [], curve: activity?.probabilities ?? [] };
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
    pause,
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

function joined(before: LiveSound | undefined, samples: Float32Array, rest: Omit<LiveSound, 'samples'>): LiveSound {
  if (!before) return { ...rest, samples };
  const all = new Float32Array(before.samples.length + samples.length);
  all.set(before.samples);
  all.set(samples, before.samples.length);
  return { ...rest, samples: all };
}

/**
 * Returns a recording, to be drawn and played; undefined if the page cannot decode it: the answer says what is wrong.
 */
async function decoded(file: Blob): Promise<AudioBuffer | undefined> {
  try {
    return await new OfflineAudioContext(1, 1, SHOWN_RATE).decodeAudioData(await file.arrayBuffer());
  } catch {
    return undefined;
  }
}
