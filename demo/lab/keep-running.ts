import { connect, paintMask, type Client, type SoftMask } from '../../src/index.js';
import type { ImageSegmenter } from '../../src/worker.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { milliseconds } from '../page/format.js';
import { latestOnly } from '../page/latest.js';
import { counters } from './counters.js';
import { eventLog } from './event-log.js';
import { faultyWorkers, type Fault } from './faults.js';
import { movingPicture } from '../inputs/moving-picture.js';

const FAULTS: Readonly<Record<Fault, readonly [label: string, done: string]>> = {
  end: ['End the worker', 'The worker was ended.'],
  lose: ['Lose the GPU', 'The worker’s GPU was destroyed.'],
  block: ['Block the worker', 'The worker’s thread was blocked: the page replaces it after the response timeout.'],
};
const PHOTO = 'models/selfie/samples/astronaut.jpg';
const PAINT = { color: [20, 190, 150], alpha: 0.55 } as const;
/** The response timeout, in seconds. */
const TIMEOUT = 3;

export interface KeepRunning {
  readonly element: HTMLElement;
  dispose(): void;
}

/** Segments the frames of a video, with buttons that end the worker or its GPU meanwhile. */
export function keepRunning(announce: (text: string) => void): KeepRunning {
  const faulty = faultyWorkers();
  let client: Client<ImageSegmenter> | undefined;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const video = el('video', { playsinline: '', 'aria-label': 'The video' });
  video.muted = true;
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const context = canvas.getContext('2d')!;
  const layers = el('div', { class: 'layers' }, video, canvas);
  const invitation = el('p', { class: 'invitation' }, 'Start the video: the person in it is colored');
  const stage = el('div', { class: 'picture-stage', 'data-empty': '' }, layers, invitation);
  const starter = button('Start a sample video', () => (client ? stop() : void start()));
  const faults = (Object.keys(FAULTS) as Fault[]).map((fault) => ({
    fault,
    element: button(FAULTS[fault][0], () => inject(fault)),
  }));
  const note = el('p', { class: 'quiet' });
  const log = eventLog('Events');
  const tally = counters();
  const element = el(
    'div',
    { class: 'keep-running' },
    el('div', {}, stage, el('div', { class: 'actions' }, starter)),
    el(
      'div',
      {},
      el('div', { class: 'actions faults' }, ...faults.map(({ element }) => element)),
      note,
      tally.element,
      log.element,
    ),
  );

  let pressed: HTMLButtonElement | undefined;
  /** Enables the buttons once the worker has answered. */
  const enable = (is: boolean): void => {
    const onGpu = ['webgpu', 'webgl'].includes(client?.backend?.name ?? '');
    for (const { fault, element } of faults) element.disabled = !is || (fault === 'lose' && !onGpu);
    note.textContent = is && !onGpu ? 'WASM runs without a GPU, so there is none to lose.' : '';
    // A button that is disabled loses the focus.
    if (is && document.activeElement === document.body) pressed?.focus();
    if (is) pressed = undefined;
  };
  const arrange = (): void => {
    stage.toggleAttribute('data-empty', !client);
    for (const layer of [video, canvas]) layer.hidden = !client;
    starter.textContent = client ? 'Stop the video' : 'Start a sample video';
    if (!client) enable(false);
  };

  // ── Frames ───────────────────────────────────────────────────────────────────────────────────

  const segment = latestOnly(async () => {
    const to = client;
    if (!to?.backend || video.videoWidth === 0) return;
    const since = performance.now();
    // A bitmap can be sent again, to the worker that replaces a lost one.
    const bitmap = await createImageBitmap(video).catch(() => undefined);
    if (!bitmap) return;
    try {
      const mask = (await to.predict(bitmap, { params: { result: 'mask', size: 'model' } })) as SoftMask;
      if (to !== client) return;
      [canvas.width, canvas.height] = [mask.width, mask.height];
      context.putImageData(paintMask(mask, PAINT), 0, 0);
      tally.set('last', milliseconds(performance.now() - since));
      tally.count('answered');
      enable(true);
    } catch (error) {
      if (to !== client) return;
      tally.count('failed');
      log.add('failed', `A request failed: ${described(error).message}`);
    } finally {
      bitmap.close();
    }
  });
  const picture = movingPicture(video, PHOTO, () => {
    tally.count('shown');
    segment(undefined);
  });

  // ── The video, and what segments it ──────────────────────────────────────────────────────────

  async function start(): Promise<void> {
    const own = (client = connect<ImageSegmenter>(faulty.factory, {
      model: 'models/selfie/',
      responseTimeout: TIMEOUT,
    }));
    own.on('backendchange', ({ engine, name }) => {
      tally.set('backend', `${engine}/${name}`);
      log.add('backendchange', `Running on ${engine}/${name}.`);
    });
    own.on('recover', ({ backend: { engine, name }, cause, took }) => {
      tally.count('recovered');
      const text = `Recovered on ${engine}/${name} within ${milliseconds(took)}.`;
      log.add('recover', `${text} ${cause.message}`);
      announce(text);
    });
    own.on('fail', failed);
    arrange();
    note.textContent = 'Opening the model…';
    try {
      await picture.start();
      if (own !== client) return;
      layers.style.setProperty('--ratio', String(video.videoWidth / video.videoHeight));
      await own.initialize();
    } catch (error) {
      if (own === client) failed(error);
    }
  }

  function failed(error: unknown): void {
    const { message } = described(error);
    log.add('fail', message);
    stop();
    note.textContent = message;
    announce(message);
  }

  function stop(): void {
    picture.stop();
    void client?.dispose();
    client = undefined;
    canvas.width = 0;
    arrange();
  }

  function inject(fault: Fault): void {
    pressed = faults.find((one) => one.fault === fault)!.element;
    enable(false);
    log.add('you', FAULTS[fault][1]);
    faulty.inject(fault);
  }

  arrange();
  return { element, dispose: stop };
}
