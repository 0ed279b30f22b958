import { el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { bytes, milliseconds } from '../page/format.js';
import { savesData, wantsStill } from '../page/wishes.js';
import { film } from './film.js';
import type { Segmenter } from './segmenter.js';
import { stage } from './stage.js';

/** The strip shows the median of this many frames, this often, in milliseconds. */
const RECENT = 15;
const EVERY = 400;
/** Where the picture stands while it is still, in milliseconds. */
const STILL = 1500;
/** What the model has answered to the frame at `STILL`: `scripts/gallery-results.mjs` asks it. */
const RECORDED = new URL('./first-frame.webp', import.meta.url).href;

export interface Live {
  readonly element: HTMLElement;
  dispose(): void;
}

/**
 * Creates the live sample of the first page: a moving picture whose person is cut out by a model in a worker, which the visitor
 * can kill.
 */
export function live(): Live {
  const moving = film();
  const view = stage(moving.canvas, { killed, toggled });
  const person = el('canvas').getContext('2d')!;
  const closed = new AbortController();
  let segmenter: Segmenter | undefined;
  /** Milliseconds of the picture, which stands still while it is paused. */
  let position = STILL;
  let visible = true;
  let busy = false;
  /** When the worker was killed. */
  let since = 0;
  /** Whether another worker has taken over: an answer that the killed one gave may still arrive. */
  let replaced = true;
  let lost = 0;
  let took: number[] = [];
  let shown = 0;

  // ── Frames ───────────────────────────────────────────────────────────────────────────────────

  /** Cuts the person out of the current frame, and draws it. */
  async function cut(): Promise<void> {
    if (busy || !segmenter) return;
    busy = true;
    const start = performance.now();
    const frame = await createImageBitmap(moving.canvas);
    try {
      const mask = await segmenter.cut(frame);
      if (closed.signal.aborted) return;
      if (view.state === 'stalled' && !replaced) return;
      [person.canvas.width, person.canvas.height] = [mask.width, mask.height];
      person.putImageData(mask, 0, 0);
      compose(frame, person.canvas);
      answered(performance.now() - start);
    } catch (error) {
      if (closed.signal.aborted) return;
      lost += 1;
      view.read('lost', String(lost));
      if (view.state !== 'stalled') view.say(described(error).message);
    } finally {
      frame.close();
      busy = false;
    }
  }

  /** Shows what is opaque in the mask. */
  function compose(frame: CanvasImageSource, mask: CanvasImageSource): void {
    const { canvas } = view.cutout;
    view.cutout.globalCompositeOperation = 'copy';
    view.cutout.drawImage(frame, 0, 0);
    view.cutout.globalCompositeOperation = 'destination-in';
    view.cutout.drawImage(mask, 0, 0, canvas.width, canvas.height);
  }

  /** Shows the recorded answer until the model gives its first one. */
  async function recorded(): Promise<void> {
    const mask = el('img', { src: RECORDED });
    await Promise.all([moving.ready, mask.decode()]);
    if (took.length > 0 || closed.signal.aborted) return;
    moving.draw(STILL);
    compose(moving.canvas, mask);
  }

  function answered(latency: number): void {
    if (view.state === 'stalled') healed();
    else took = [...took, latency].slice(-RECENT);
    view.log.add(latency);
    const now = performance.now();
    if (now - shown < EVERY || took.length === 0) return;
    shown = now;
    view.read('latency', milliseconds(took.toSorted((a, b) => a - b)[took.length >> 1]!));
    view.read('backend', segmenter!.backend);
  }

  // ── The worker's death ───────────────────────────────────────────────────────────────────────

  function killed(): void {
    since = performance.now();
    replaced = false;
    took = [];
    view.state = 'stalled';
    view.log.killed();
    view.say('The worker is gone, in the middle of its work. The picture stalls…');
    segmenter?.kill();
  }

  function healed(): void {
    const stalled = Math.round(performance.now() - since);
    view.state = 'running';
    view.log.healed();
    view.read('lost', String(lost));
    view.say(
      el('strong', {}, `Healed in ${stalled.toLocaleString('en')} ms, ${lost} requests lost.`),
      ' Another worker opened the model, and answered the frame that was under way.',
    );
  }

  // ── Playing ──────────────────────────────────────────────────────────────────────────────────

  let last = performance.now();
  let played = 0;
  function step(now: number): void {
    if (closed.signal.aborted) return;
    requestAnimationFrame(step);
    const passed = Math.min(100, now - last);
    last = now;
    const runs = view.state === 'running' || view.state === 'stalled';
    if (!runs || !visible) return;
    position += passed;
    moving.draw(position);
    if (view.state === 'stalled') view.stall(`${Math.round(now - since).toLocaleString('en')} ms`);
    if (now - played > 1000 / 30) {
      played = now;
      view.log.draw();
      void cut();
    }
  }

  function toggled(): void {
    if (!segmenter) return void open(true);
    view.state = view.state === 'running' ? 'still' : 'running';
  }

  async function open(plays: boolean): Promise<void> {
    view.state = 'loading';
    view.say('A recorded frame; the model is loading…');
    try {
      await moving.ready;
      moving.draw(position);
      // A chunk of its own: the page is there before it.
      const { openSegmenter } = await import('./segmenter.js');
      segmenter = await openSegmenter(closed.signal, {
        progress: (loaded, total) =>
          view.say(
            `A recorded frame; the model and its engine are loading, ${total === undefined ? '' : `${bytes(loaded)} of `}${bytes(total ?? loaded)}…`,
          ),
        uploaded: (sent) => view.read('uploaded', sent === 1 ? '1 byte' : `${sent.toLocaleString('en')} bytes`),
        recovered: () => (replaced = true),
        failed,
      });
    } catch (error) {
      if (!closed.signal.aborted) failed(error);
      return;
    }
    view.read('backend', segmenter.backend);
    view.read('lost', '0');
    view.say('The model runs in a Web Worker of this tab. Kill the worker, and see what happens.');
    await cut();
    view.state = plays ? 'running' : 'still';
  }

  function failed(error: unknown): void {
    view.state = 'failed';
    view.say(described(error).message);
  }

  const watching = new IntersectionObserver(([entry]) => (visible = entry!.isIntersecting));
  watching.observe(view.element);
  void recorded().catch(failed);
  if (savesData()) view.say('Play downloads the model: 0.3 MB, and an engine of 0.2 to 0.6 MB.');
  else soon(() => void open(!wantsStill()));
  requestAnimationFrame(step);

  return {
    element: view.element,
    dispose() {
      closed.abort();
      watching.disconnect();
      segmenter?.dispose();
    },
  };
}

/** Calls back when the page has been painted and the browser is idle. */
function soon(call: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(call, { timeout: 1000 });
  else setTimeout(call, 300);
}
