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
import { victims, type Harm } from './harm.js';
import { movingPicture } from './moving-picture.js';
import { sparkline } from './sparkline.js';

const HARMS: Readonly<Record<Harm, string>> = {
  end: 'End the worker',
  lose: 'Lose the GPU',
  block: 'Block the worker',
};
const DONE: Readonly<Record<Harm, string>> = {
  end: 'The worker was ended.',
  lose: 'The GPU was taken from the worker.',
  block: 'The worker’s thread was blocked: the page waits for a sign of life, and then no longer.',
};
const BACKENDS = { auto: 'Auto', webgpu: 'WebGPU', webgl: 'WebGL', wasm: 'WASM' } as const;
const PHOTO = 'models/selfie/samples/astronaut.jpg';
const PAINT = { color: [20, 190, 150], alpha: 0.55 } as const;

/** Seconds of silence that are too many: a GPU in software takes seconds for a frame. */
const PATIENCE = { hardware: 2, software: 20 } as const;

export interface KeepRunning {
  readonly element: HTMLElement;
  /** What this browser has. */
  probed(probe: Probe): void;
  dispose(): void;
}

/** A video whose frames are segmented, and buttons that take the worker or its GPU away meanwhile. */
export function keepRunning(announce: (text: string) => void): KeepRunning {
  const prey = victims();
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
    el('p', { class: 'invitation' }, 'A video, and the person in it in color'),
  );
  const picture = button('Start a moving picture', () => void start('picture'));
  const film = button('Start the camera', () => void start('camera'));
  const stopper = button('Stop', () => {
    stop();
    picture.focus();
  });
  const backend = segments('lab-backend', 'Backend of the video', BACKENDS, () => eye && void open());
  const harms = (Object.keys(HARMS) as Harm[]).map((harm) => ({
    harm,
    element: button(HARMS[harm], () => hurt(harm)),
  }));
  const note = el('p', { class: 'quiet' });
  const log = eventLog('What happened');
  const line = sparkline();
  const longest = el('figcaption', {}, 'Time of the last frames');
  const tally = counters();
  const element = el(
    'div',
    { class: 'keep-running' },
    el('div', {}, stage, el('div', { class: 'actions' }, picture, film, stopper)),
    el(
      'div',
      {},
      backend.element,
      el('div', { class: 'actions harms' }, ...harms.map(({ element }) => element)),
      note,
      tally.element,
      el('figure', {}, line.element, longest),
      log.element,
    ),
  );

  let pressed: HTMLButtonElement | undefined;
  /** Harm is done to a worker that has answered: one that never did has nothing to keep running. */
  const vulnerable = (is: boolean): void => {
    const onGpu = ['webgpu', 'webgl'].includes(client?.backend?.name ?? '');
    for (const { harm, element } of harms) element.disabled = !is || (harm === 'lose' && !onGpu);
    note.textContent = is && !onGpu ? 'WASM has no GPU to lose.' : '';
    // Disabled, it lost the focus.
    if (is && document.activeElement === document.body) pressed?.focus();
    if (is) pressed = undefined;
  };
  const arrange = (): void => {
    const running = eye !== undefined;
    stage.toggleAttribute('data-empty', !running);
    for (const layer of [video, canvas]) layer.hidden = !running;
    stopper.disabled = !running;
    if (!running) vulnerable(false);
  };

  // ── Frames ───────────────────────────────────────────────────────────────────────────────────

  const segment = latestOnly(async () => {
    const to = client;
    if (!to?.backend || video.videoWidth === 0) return;
    const since = performance.now();
    // What an element shows is sent once; a bitmap can be sent again, to the worker that takes over.
    const bitmap = await createImageBitmap(video).catch(() => undefined);
    if (!bitmap) return;
    try {
      const mask = (await to.predict(bitmap, { params: { result: 'mask', size: 'model' } })) as SoftMask;
      if (to !== client) return;
      paint(mask);
      const took = performance.now() - since;
      line.add(took);
      tally.set('last', milliseconds(took));
      longest.textContent = `Time of the last frames; the longest took ${milliseconds(line.largest)}`;
      tally.count('answered');
      vulnerable(true);
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
    vulnerable(false);
    const own = (client = connect<ImageSegmenter>(prey.factory, {
      model: 'models/selfie/',
      responseTimeout: isSoftware(probe, backend.value) ? PATIENCE.software : PATIENCE.hardware,
      ...(backend.value !== 'auto' && { backends: order(backend.value) }),
    }));
    own.on('backendchange', (now) => {
      tally.set('backend', `${now.engine}/${now.name}`);
      log.add('backendchange', `Now on ${now.engine}/${now.name}.`);
    });
    own.on('recover', ({ backend: now, cause, took }) => {
      tally.count('recovered');
      const text = `Another worker took over on ${now.engine}/${now.name} within ${milliseconds(took)}.`;
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

  function hurt(harm: Harm): void {
    pressed = harms.find((one) => one.harm === harm)!.element;
    vulnerable(false);
    log.add('you', DONE[harm]);
    prey.harm(harm);
  }

  arrange();
  return { element, probed: (found) => void (probe = found), dispose: stop };
}

function isSoftware(probe: Probe | undefined, name: keyof typeof BACKENDS): boolean {
  const gpu = name === 'webgpu' || name === 'webgl' ? probe?.[name] : undefined;
  return gpu?.available === true && gpu.software;
}

/** The chosen one, and WASM for when it is gone for good. */
function order(name: Exclude<keyof typeof BACKENDS, 'auto'>): readonly BackendName[] {
  return name === 'wasm' ? ['wasm'] : [name, 'wasm'];
}
