import type { SpeechSegment, VoiceActivity, VoiceActivityUpdate } from '../../src/index.js';
import type { Output } from '../demo.js';
import type { SoundStage } from '../inputs/sound-stage.js';
import { button, el } from '../page/dom.js';
import { percent } from '../page/format.js';
import { slider } from '../page/slider.js';

/** Marks speech on the stage's waveform, and lists it; a slider sets the threshold. */
export function speech(stage: SoundStage, changed: () => void): Output<VoiceActivity | VoiceActivityUpdate> {
  const name = el('span', { class: 'top-name' });
  const share = el('span', { class: 'top-share' });
  const list = el('ol', { class: 'speech-list', 'aria-label': 'Speech' });
  const threshold = slider('Threshold', { value: 0.5, min: 0.05, max: 0.95, step: 0.05, says: percent }, () => {
    stage.threshold = threshold.value;
    changed();
  });
  const element = el('div', { class: 'speech' }, el('p', { class: 'headline' }, name, share), list, threshold.element);

  const head = (text: string, more = ''): void => {
    name.textContent = text;
    share.textContent = more;
  };
  const clear = (): void => {
    head('No result yet');
    element.setAttribute('data-empty', '');
    list.replaceChildren();
    stage.mark(undefined);
  };
  const recording = (activity: VoiceActivity): string => {
    const { segments, duration } = activity;
    const spoken = segments.reduce((sum, { start, end }) => sum + end - start, 0);
    head(segments.length === 0 ? 'No speech' : 'Speech', `${seconds(spoken)} of ${seconds(duration)}`);
    list.replaceChildren(...segments.map((segment) => row(segment, () => stage.play(segment.start))));
    stage.mark(activity);
    return segments.length === 0
      ? 'No speech.'
      : `Speech in ${segments.length} ${segments.length === 1 ? 'place' : 'places'}, ${seconds(spoken)} of ${seconds(duration)}.`;
  };
  const live = (update: VoiceActivityUpdate): string => {
    const last = update.probabilities.at(-1);
    head(update.speaking ? 'Speech' : 'Silence', last === undefined ? (share.textContent ?? '') : percent(last));
    list.replaceChildren();
    stage.follow(update);
    return update.speaking ? 'Speech' : 'Silence';
  };
  clear();

  return {
    element,
    isPlain: true,
    get settings() {
      return { threshold: String(threshold.value) };
    },
    restore({ threshold: wanted }) {
      if (!(Number(wanted) > 0)) return;
      threshold.set(Number(wanted));
      stage.threshold = threshold.value;
    },
    get params() {
      return { threshold: threshold.value };
    },
    show(result) {
      element.removeAttribute('data-empty');
      return 'segments' in result ? recording(result) : live(result);
    },
    clear,
  };
}

function row({ start, end }: SpeechSegment, play: () => void): HTMLLIElement {
  const plays = button(`${clock(start)} – ${clock(end)}`, play);
  plays.title = 'Play from here';
  return el('li', {}, plays, el('span', { class: 'speech-length' }, seconds(end - start)));
}

/** `0:04.2` */
function clock(time: number): string {
  const tenths = Math.round(time * 10);
  return `${Math.floor(tenths / 600)}:${String(Math.floor((tenths % 600) / 10)).padStart(2, '0')}.${tenths % 10}`;
}

function seconds(time: number): string {
  return `${time.toFixed(1)} s`;
}
