import type { InputEvents } from '../demo.js';
import { button, el } from '../page/dom.js';
import { camera } from './camera.js';
import { photoStage, type PhotoStage } from './photo-stage.js';

/** The longer side of a photo, in pixels. */
const MAX_SIDE = 4096;

/** Shows a photo, which the camera can take. */
export function shotStage({ changed, refused }: InputEvents): PhotoStage {
  const stage = photoStage(MAX_SIDE);
  const video = el('video', { playsinline: '', 'aria-label': 'The camera’s picture', hidden: '' });
  video.muted = true;
  stage.layers.append(video);

  const arrange = (): void => {
    video.hidden = !eye.running;
    shoot.textContent = eye.running ? 'Take the photo' : 'Use the camera';
  };
  const eye = camera(video, 'environment', {
    stopped(error) {
      arrange();
      refused(error);
    },
  });
  const shoot = button('Use the camera', () => void (eye.running ? take() : start()).catch(refused));
  const start = async (): Promise<void> => {
    try {
      await eye.start();
    } catch (error) {
      if ((error as Error).name !== 'AbortError') throw error;
    } finally {
      arrange();
    }
  };
  const take = async (): Promise<void> => {
    const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
    canvas.getContext('2d')!.drawImage(video, 0, 0);
    eye.stop();
    arrange();
    await stage.show(await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.95 }));
    changed();
  };
  const pause = (): void => {
    eye.stop();
    arrange();
  };
  return {
    element: stage.element,
    layers: stage.layers,
    actions: [shoot],
    get size() {
      return stage.size;
    },
    current: () => (eye.running ? undefined : stage.current()),
    given: () => (eye.running ? undefined : stage.given()),
    async show(file) {
      pause();
      await stage.show(file);
    },
    pause,
    dispose() {
      eye.stop();
      stage.dispose();
    },
  };
}
