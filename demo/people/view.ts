/** The picture with the landmarks over it, and the list of whom it shows. */
import { paintLandmarks } from '../../src/index.js';
import { frameRate } from '../inputs/frame-rate.js';
import { palette } from '../outputs/palette.js';
import { el } from '../page/dom.js';
import { percent } from '../page/format.js';
import type { Found } from './follower.js';
import type { Kind } from './kinds.js';

/** CSS pixels. */
const CHIP = { height: 20, padding: 6 } as const;
const INK = '#101214';
/** Of one that has no number yet. */
const UNNUMBERED = '#ffffff';

export interface View {
  readonly stage: HTMLElement;
  readonly list: HTMLElement;
  /** Plays what is followed. */
  readonly video: HTMLVideoElement;
  /** Shows an answer. @returns it in a few words */
  show(kind: Kind, found: readonly Found[], frame: VideoFrame | undefined): string;
  /** Shows the video, once it plays. @param mirrored whether as a mirror does */
  start(mirrored: boolean): void;
  /** Shows a photo in place of the video. */
  clear(still: string): void;
}

export function view(): View {
  const video = el('video', { playsinline: '', 'aria-label': 'The picture', hidden: '' });
  video.muted = true;
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const context = canvas.getContext('2d')!;
  const layers = el('div', { class: 'layers' }, video, canvas);
  const rate = frameRate();
  const invitation = el('p', { class: 'invitation' }, el('span', {}, 'Choose a sample clip, or start the camera'));
  const stage = el('div', { class: 'picture-stage', 'data-empty': '' }, layers, rate.element, invitation);
  const headline = el('p', { class: 'headline' });
  const rows = el('ol', { class: 'detections', 'aria-label': 'Found', tabindex: '0' });
  const list = el('div', { class: 'found' }, headline, rows);
  let colorOf = palette();
  let isMirrored = false;

  const colorFor = (id: number | undefined): string => (id === undefined ? UNNUMBERED : colorOf(String(id)));
  const draw = ({ connections, line }: Kind, found: readonly Found[], frame: VideoFrame | undefined): void => {
    const { videoWidth: width, videoHeight: height } = video;
    if (canvas.width !== width || canvas.height !== height) {
      [canvas.width, canvas.height] = [width, height];
      layers.style.setProperty('--ratio', String(width / height));
    }
    context.clearRect(0, 0, width, height);
    // What was answered, and not what the camera shows by now: the points are where they belong.
    if (frame) context.drawImage(frame, 0, 0, width, height);
    const lines = connections?.list;
    for (const one of found) {
      // A dark line under the bright one: one of the two is visible on any picture.
      for (const [color, wide] of [['rgb(0 0 0 / 55%)', 1.8] as const, [colorFor(one.id), 1] as const]) {
        if (!lines && wide > 1) continue;
        context.strokeStyle = context.fillStyle = color;
        context.lineWidth = (line * wide * width) / 1000;
        paintLandmarks(context, [one], lines);
      }
    }
    for (const { id, box } of found) if (id !== undefined) chip(id, box.xmin, box.ymin);
  };
  /** Writes an id over its box, never mirrored. */
  const chip = (id: number, x: number, y: number): void => {
    const text = String(id);
    const scale = canvas.width / (canvas.clientWidth || canvas.width);
    const [height, padding] = [CHIP.height * scale, CHIP.padding * scale];
    context.font = `600 ${13 * scale}px system-ui, sans-serif`;
    context.textBaseline = 'middle';
    const width = context.measureText(text).width + 2 * padding;
    const left = Math.max(0, Math.min(x, canvas.width - width));
    const top = Math.max(0, Math.min(y - height, canvas.height - height));
    context.save();
    if (isMirrored) context.setTransform(-1, 0, 0, 1, 2 * left + width, 0);
    context.fillStyle = colorFor(id);
    context.beginPath();
    context.roundRect(left, top, width, height, 4 * scale);
    context.fill();
    context.fillStyle = INK;
    context.fillText(text, left + padding, top + height / 2 + scale / 2);
    context.restore();
  };
  const say = (text: string): void => void (headline.textContent = text);
  const clear = (still: string): void => {
    stage.style.setProperty('--still', `url("${new URL(still, document.baseURI).href}")`);
    video.hidden = true;
    canvas.width = 0;
    colorOf = palette();
    rate.reset();
    rows.replaceChildren();
    stage.setAttribute('data-empty', '');
    list.setAttribute('data-empty', '');
    say('No result yet');
  };

  return {
    stage,
    list,
    video,
    show(kind, found, frame) {
      draw(kind, found, frame);
      rate.count();
      list.removeAttribute('data-empty');
      const text = counted(kind, found.length);
      say(text);
      rows.replaceChildren(...found.map((one) => row(kind, one, colorFor(one.id))));
      return text;
    },
    start(mirrored) {
      isMirrored = mirrored;
      layers.toggleAttribute('data-mirrored', mirrored);
      layers.style.setProperty('--ratio', String(video.videoWidth / video.videoHeight));
      stage.removeAttribute('data-empty');
      video.hidden = false;
    },
    clear,
  };
}

function counted({ one, many }: Kind, count: number): string {
  return count === 0 ? `No ${one} found` : `${count} ${count === 1 ? one : many}`;
}

function row({ one }: Kind, { id, score, handedness, landmarks }: Found, color: string): HTMLLIElement {
  const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
  swatch.style.background = color;
  const name = [handedness, one, id].filter((part) => part !== undefined).join(' ');
  return el(
    'li',
    {},
    swatch,
    el('span', { class: 'found-label' }, name),
    el('span', { class: 'found-place' }, `${landmarks.length} points`),
    el('span', { class: 'found-score' }, percent(score)),
  );
}
