import { connect, paintMask, type BackendName, type Client, type Probe, type SoftMask } from '../../src/index.js';
import type { ImageSegmenter } from '../../src/worker.js';
import { camera, type Camera } from '../inputs/camera.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { milliseconds } from '../page/format.js';
import { latestOnly } from '../page/latest.js';
import { segments } from '../page/segments.js';
import { counters } from './counters.js';
import { eventLog } from './event-log.js';
import { faultyWorkers, type Fault } from './faults.js';
import { movingPicture } from './moving-picture.js';
import { sparkline } from './sparkline.js';

const FAULTS: Readonly<Record<Fault, string>> = {
  end: 'End the worker',
  lose: 'Lose the GPU',
  block: 'Block the worker',
};
const DONE: Readonly<Record<Fault, string>> = {
  end: 'The worker was ended.',
  lose: 'The worker’s GPU was destroyed.',
  block: 'The worker’s thread was blocked: the page replaces the worker after the response timeout.',
};
const BACKENDS = { auto: 'Auto', webgpu: 'WebGPU', webgl: 'WebGL', wasm: 'WASM' } as const;
const PHOTO = 'models/selfie/samples/astronaut.jpg';
const PAINT = { color: [20, 190, 150], alpha: 0.55 } as const;

/** The response timeout in seconds: a GPU in software takes seconds for a frame. */
const TIMEOUTS = { hardware: 2, software: 20 } as const;

export interface KeepRunning {
  readonly element: HTMLElement;
  /** Gets what this browser offers. */
  probed(probe: Probe): void;
  dispose(): void;
}

/** Segments the frames of a video, with buttons that end the worker or its GPU meanwhile. */
export function keepRunning(announce: (text: string) => void): KeepRunning {
  const faulty = faultyWorkers();
  let client: Client<ImageSegmenter> | undefined;
  let eye: Camera | undefined;
  let probe: Probe | undefined;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const video = el('video', { playsinline: '', 'aria-label': 'The video' });
  video.muted = true;
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const context = canvas.getContext('2d')!;
  const layers = el('div', { class: 'layers' }, video, canvas);
  const stage = el(
    'div',
    { class: 'picture-stage', 'data-empty': '' },
    layers,
    el('p', { class: 'invitation' }, 'Start a video: the person in it is colored'),
  );
  const picture = button('Start a sample video', () => void start('picture'));
  const film = button('Start the camera', () => void start('camera'));
  const stopper = button('Stop', () => {
    stop();
    picture.focus();
  });
  const backend = segments('lab-backend', 'Backend of the video', BACKENDS, () => eye && void open());
  const faults = (Object.keys(FAULTS) as Fault[]).map((fault) => ({
    fault,
    element: button(FAULTS[fault], () => inject(fault)),
  }));
  const note = el('p', { class: 'quiet' });
  const log = eventLog('Events');
  const line = sparkline();
  const longest = el('figcaption', {}, 'Latency of the last frames');
  const tally = counters();
  const element = el(
    'div',
    { class: 'keep-running' },
    el('div', {}, stage, el('div', { class: 'actions' }, picture, film, stopper)),
    el(
      'div',
      {},
      backend.element,
      el('div', { class: 'actions faults' }, ...faults.map(({ element }) => element)),
      note,
      tally.element,
      el('figure', {}, line.element, longest),
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
    const running = eye !== undefined;
    stage.toggleAttribute('data-empty', !running);
    for (const layer of [video, canvas]) layer.hidden = !running;
    stopper.disabled = !running;
    if (!running) enable(false);
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
      paint(mask);
      const took = performance.now() - since;
      line.add(took);
      tally.set('last', milliseconds(took));
      longest.textContent = `Latency of the last frames, at most ${milliseconds(line.largest)}`;
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
  const frame = (): void => {
    tally.count('shown');
    segment(undefined);
  };
  const paint = (mask: SoftMask): void => {
    [canvas.width, canvas.height] = [mask.width, mask.height];
    context.putImageData(paintMask(mask, PAINT), 0, 0);
  };

  // ── The video, and what segments it ──────────────────────────────────────────────────────────

  async function start(what: 'picture' | 'camera'): Promise<void> {
    eye?.stop();
    const own = (eye =
      what === 'camera' ? camera(video, 'user', { frame, stopped }) : movingPicture(video, PHOTO, frame));
    try {
      await own.start();
    } catch (error) {
      if (eye === own) stopped(error);
      return;
    }
    if (eye !== own) return own.stop();
    layers.toggleAttribute('data-mirrored', what === 'camera');
    layers.style.setProperty('--ratio', String(video.videoWidth / video.videoHeight));
    arrange();
    if (!client) await open();
  }

  function stopped(error: unknown): void {
    stop();
    note.textContent = described(error).message;
    announce(note.textContent);
  }

  function stop(): void {
    eye?.stop();
    eye = undefined;
    close();
    arrange();
  }

  function close(): void {
    void client?.dispose();
    client = undefined;
    canvas.width = 0;
  }

  async function open(): Promise<void> {
    close();
    line.clear();
    enable(false);
    const own = (client = connect<ImageSegmenter>(faulty.factory, {
      model: 'models/selfie/',
      responseTimeout: isSoftware(probe, backend.value) ? TIMEOUTS.software : TIMEOUTS.hardware,
      ...(backend.value !== 'auto' && { backends: order(backend.value) }),
    }));
    own.on('backendchange', (now) => {
      tally.set('backend', `${now.engine}/${now.name}`);
      log.add('backendchange', `Running on ${now.engine}/${now.name}.`);
    });
    own.on('recover', ({ backend: now, cause, took }) => {
      tally.count('recovered');
      const text = `Recovered on ${now.engine}/${now.name} within ${milliseconds(took)}.`;
      log.add('recover', `${text} ${cause.message}`);
      announce(text);
    });
    own.on('fail', (error) => {
      log.add('fail', error.message);
      stopped(error);
    });
    note.textContent = 'Opening the model…';
    try {
      await own.initialize();
    } catch (error) {
      if (own !== client) return;
      log.add('fail', described(error).message);
      stopped(error);
    }
  }

  function inject(fault: Fault): void {
    pressed = faults.find((one) => one.fault === fault)!.element;
    enable(false);
    log.add('you', DONE[fault]);
    faulty.inject(fault);
  }

  arrange();
  return { element, probed: (found) => void (probe = found), dispose: stop };
}

function isSoftware(probe: Probe | undefined, name: keyof typeof BACKENDS): boolean {
  const gpu = name === 'webgpu' || name === 'webgl' ? probe?.[name] : undefined;
  return gpu?.available === true && gpu.software;
}

/** Returns the chosen backend, and WASM as its fallback. */
function order(name: Exclude<keyof typeof BACKENDS, 'auto'>): readonly BackendName[] {
  return name === 'wasm' ? ['wasm'] : [name, 'wasm'];
}
