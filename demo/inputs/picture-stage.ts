import type { Input, InputEvents } from '../demo.js';
import { button, el } from '../page/dom.js';
import { camera, type Facing } from './camera.js';
import { frameRate } from './frame-rate.js';

/** A picture to draw on, or to draw again. */
export interface Shown {
  readonly image: CanvasImageSource;
  readonly width: number;
  readonly height: number;
}

/** A picture on the page, and a canvas that covers it exactly. The canvas is wiped when there is another picture. */
export interface PictureStage extends Input {
  readonly canvas: HTMLCanvasElement;
  /** Covers the picture exactly, with the canvas in it. */
  readonly layers: HTMLElement;
  /** The photo, or the camera frame that was predicted last; undefined if there is none, or the page cannot show it. */
  readonly shown: Shown | undefined;
}

/**
 * Shows a photo, or the camera's picture while the camera runs, and predicts every frame. A front camera is mirrored.
 */
export function pictureStage({ changed, emptied, refused }: InputEvents, facing: Facing): PictureStage {
  const image = el('img', { alt: 'The photo', hidden: '' });
  const video = el('video', { playsinline: '', 'aria-label': 'The camera’s picture', hidden: '' });
  video.muted = true;
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const layers = el('div', { class: 'layers' }, image, video, canvas);
  const rate = frameRate();
  const element = el(
    'div',
    { class: 'picture-stage', 'data-empty': '' },
    layers,
    rate.element,
    el('p', { class: 'invitation' }, 'Choose a photo, or start the camera'),
  );

  let photo: { readonly file: Blob; readonly shown: (Shown & { readonly image: ImageBitmap }) | undefined } | undefined;
  let frame: VideoFrame | undefined;
  let shown: Shown | undefined;
  let showing = 0;

  const arrange = (): void => {
    const live = eye.running;
    if (!live) {
      frame?.close();
      frame = undefined;
      shown = photo?.shown;
    }
    image.hidden = live || !photo;
    video.hidden = !live;
    canvas.width = 0;
    element.toggleAttribute('data-empty', !live && !photo);
    layers.toggleAttribute('data-mirrored', live && facing === 'user');
    const { width, height } = live
      ? { width: video.videoWidth, height: video.videoHeight }
      : (shown ?? { width: 3, height: 2 });
    layers.style.setProperty('--ratio', String(width / height));
    toggle.textContent = live ? 'Stop the camera' : 'Start the camera';
    rate.reset();
  };
  const pause = (): void => {
    const wasLive = eye.running;
    eye.stop();
    if (wasLive) arrange();
  };
  /** Stops the camera, and shows the photo from before. */
  const back = (): void => {
    pause();
    if (photo) changed();
    else emptied();
  };
  const eye = camera(video, facing, {
    stopped(error) {
      back();
      refused(error);
    },
  });
  video.addEventListener('resize', () => eye.running && arrange());

  const toggle = button('Start the camera', () => {
    if (eye.running) return back();
    toggle.disabled = true;
    eye
      .start()
      .then(
        () => {
          arrange();
          changed();
        },
        (error: unknown) => (error as Error).name !== 'AbortError' && refused(error),
      )
      .finally(() => {
        toggle.disabled = false;
        // A button that is disabled loses the focus.
        if (document.activeElement === document.body) toggle.focus();
      });
  });

  const predicted = (of: VideoFrame | undefined): void => {
    if (!eye.running) return;
    rate.count();
    frame?.close();
    frame = of?.clone();
    shown = { image: frame ?? video, width: video.videoWidth, height: video.videoHeight };
  };
  const forget = (): void => {
    URL.revokeObjectURL(image.src);
    photo?.shown?.image.close();
    photo = undefined;
  };
  return {
    element,
    canvas,
    layers,
    actions: [toggle],
    get shown() {
      return shown;
    },
    current: () => (eye.running ? undefined : photo?.file),
    live: () => (eye.running ? { video, predicted } : undefined),
    given: () => (eye.running ? undefined : photo?.file),
    async show(file) {
      const mine = (showing += 1);
      // The worker may read a format that this page cannot show.
      const bitmap = await createImageBitmap(file).catch(() => undefined);
      if (mine !== showing) return bitmap?.close();
      forget();
      photo = { file, shown: bitmap && { image: bitmap, width: bitmap.width, height: bitmap.height } };
      image.src = URL.createObjectURL(file);
      eye.stop();
      arrange();
    },
    pause,
    dispose() {
      showing += 1;
      eye.stop();
      frame?.close();
      forget();
    },
  };
}
