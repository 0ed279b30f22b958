import { button, el } from '../page/dom.js';
import { frameLog, type FrameLog } from './frame-log.js';

/** What the strip under the picture says. */
type Readout = 'backend' | 'latency' | 'uploaded' | 'lost';
const READOUTS: Readonly<Record<Readout, string>> = {
  backend: 'Backend',
  latency: 'A frame takes',
  uploaded: 'Uploaded',
  lost: 'Requests lost',
};

/** `still`: nothing runs yet, or it is paused. */
type StageState = 'still' | 'loading' | 'running' | 'stalled' | 'failed';

export interface Stage {
  readonly element: HTMLElement;
  readonly log: FrameLog;
  /** Where the person is drawn. */
  readonly cutout: CanvasRenderingContext2D;
  state: StageState;
  read(what: Readout, text: string): void;
  /** Writes the line under the strip, which screen readers say. */
  say(...content: (string | Node)[]): void;
  /** Writes over the picture while it stalls. */
  stall(text: string): void;
}

export interface StageEvents {
  killed(): void;
  /** Is called when the visitor starts or pauses the picture. */
  toggled(): void;
}

/** Creates the picture of the first page, with the strip and the button under it. `source`: the picture before. */
export function stage(source: HTMLCanvasElement, { killed, toggled }: StageEvents): Stage {
  const canvas = el('canvas', {
    width: String(source.width),
    height: String(source.height),
    role: 'img',
    'aria-label': 'The person of the moving picture, cut out of it',
  });
  source.setAttribute('role', 'img');
  source.setAttribute('aria-label', 'The moving picture, as it is');
  const log = frameLog();
  const overlay = el('p', { class: 'stall', 'aria-hidden': 'true' });
  const play = button('Pause', toggled);
  play.className = 'play';
  const kill = button('Kill the worker', killed);
  kill.className = 'kill';
  const values = Object.fromEntries(
    Object.keys(READOUTS).map((name) => [name, el('dd', { 'data-readout': name }, '–')]),
  ) as Record<Readout, HTMLElement>;
  const line = el('p', { class: 'told', role: 'status' });
  const element = el(
    'div',
    { class: 'live' },
    el('div', { class: 'live-picture' }, canvas, el('div', { class: 'live-source' }, source), overlay, play),
    log.element,
    el(
      'div',
      { class: 'live-strip' },
      el(
        'dl',
        {},
        ...Object.entries(READOUTS).map(([name, label]) => el('div', {}, el('dt', {}, label), values[name as Readout])),
      ),
      kill,
    ),
    line,
  );
  let state: StageState = 'still';
  const arrange = (to: StageState): void => {
    state = to;
    element.dataset['state'] = to;
    const runs = to === 'running' || to === 'stalled';
    kill.disabled = to !== 'running';
    play.textContent = runs ? 'Pause' : 'Play';
    play.hidden = to === 'loading' || to === 'failed';
    if (to !== 'stalled') overlay.textContent = '';
  };
  arrange(state);
  return {
    element,
    log,
    cutout: canvas.getContext('2d')!,
    get state() {
      return state;
    },
    set state(to) {
      arrange(to);
    },
    read(what, text) {
      if (values[what].textContent !== text) values[what].textContent = text;
    },
    say: (...content) => line.replaceChildren(...content),
    stall: (text) => void (overlay.textContent = text),
  };
}
