import { el } from '../page/dom.js';

/** The log shows this many milliseconds. */
const SPAN = 12_000;
/** A frame of this many milliseconds, or more, is as high as the log. */
const MAX_MS = 120;
/** Seconds without a frame are drawn as a gap, after this many milliseconds. */
const TICK = 3;

interface Tick {
  readonly at: number;
  readonly took: number;
}

export interface FrameLog {
  readonly element: HTMLCanvasElement;
  /** Adds a frame that is answered now, after `took` milliseconds. */
  add(took: number): void;
  /** Marks the time from now on as a stall, until `healed`. */
  killed(): void;
  healed(): void;
  /** Draws the log as it is at this moment. */
  draw(): void;
}

/** Shows the latest frames as ticks, as high as they took long, and the stall after a worker was killed. */
export function frameLog(): FrameLog {
  const element = el('canvas', { class: 'frame-log', 'aria-hidden': 'true' });
  const context = element.getContext('2d')!;
  let ticks: Tick[] = [];
  let stalls: { readonly from: number; to?: number }[] = [];

  return {
    element,
    add: (took) => void ticks.push({ at: performance.now(), took }),
    killed: () => void stalls.push({ from: performance.now() }),
    healed() {
      const last = stalls.at(-1);
      if (last) last.to ??= performance.now();
    },
    draw() {
      const now = performance.now();
      ticks = ticks.filter(({ at }) => now - at < SPAN);
      stalls = stalls.filter(({ to }) => to === undefined || now - to < SPAN);
      const ratio = Math.min(2, devicePixelRatio);
      const [width, height] = [element.clientWidth, element.clientHeight];
      if (element.width !== Math.round(width * ratio)) element.width = Math.round(width * ratio);
      if (element.height !== Math.round(height * ratio)) element.height = Math.round(height * ratio);
      const { color, outlineColor } = getComputedStyle(element);
      const x = (at: number): number => width * (1 - (now - at) / SPAN);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.fillStyle = outlineColor;
      for (const { from, to = now } of stalls)
        context.fillRect(Math.max(0, x(from)), 0, x(to) - Math.max(0, x(from)), height);
      context.fillStyle = color;
      for (const { at, took } of ticks) {
        const high = Math.max(2, (Math.min(took, MAX_MS) / MAX_MS) * height);
        context.fillRect(x(at), height - high, TICK - 1, high);
      }
    },
  };
}
