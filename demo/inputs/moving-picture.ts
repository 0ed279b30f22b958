import { el } from '../page/dom.js';
import type { Camera } from './camera.js';
import { eachFrame } from './frames.js';

/** The period of the movement, in milliseconds. */
const ROUND = 9000;

/**
 * Makes a video of a moving photo, for visitors without a camera.
 * @param turn how far the picture is turned to either side, in radians
 */
export function movingPicture(video: HTMLVideoElement, url: string, frame: () => void, turn = 0): Camera {
  const canvas = el('canvas', { width: '480', height: '360' });
  const context = canvas.getContext('2d')!;
  let stream: MediaStream | undefined;

  const stop = (): void => {
    for (const track of stream?.getTracks() ?? []) track.stop();
    stream = undefined;
    video.srcObject = null;
  };
  const draw = (photo: HTMLImageElement, at: number): void => {
    const phase = (at / ROUND) * 2 * Math.PI;
    const scale =
      Math.max(canvas.width / photo.naturalWidth, canvas.height / photo.naturalHeight) *
      (1.15 + 0.1 * Math.sin(phase * 2));
    const [middleX, middleY] = [canvas.width / 2, canvas.height / 2];
    // So much larger, the turned picture still covers the corners.
    const larger = Math.cos(turn) + (canvas.width / canvas.height) * Math.sin(turn);
    const angle = turn * Math.sin(phase * 3);
    context.setTransform(
      new DOMMatrix()
        .translate(middleX, middleY)
        .rotate((angle * 180) / Math.PI)
        .scale(larger)
        .translate(-middleX, -middleY),
    );
    const [width, height] = [photo.naturalWidth * scale, photo.naturalHeight * scale];
    context.drawImage(
      photo,
      ((canvas.width - width) * (1 + Math.sin(phase))) / 2,
      ((canvas.height - height) * (1 + Math.cos(phase) / 2)) / 4,
      width,
      height,
    );
  };
  return {
    get running() {
      return stream !== undefined;
    },
    async start() {
      stop();
      const opened = (stream = canvas.captureStream(25));
      const photo = el('img', { src: url });
      await photo.decode();
      if (stream !== opened) throw new DOMException('The video was stopped before it started.', 'AbortError');
      const step = (at: number): void => {
        if (stream !== opened) return;
        draw(photo, at);
        requestAnimationFrame(step);
      };
      step(performance.now());
      video.srcObject = opened;
      await video.play();
      eachFrame(video, opened, frame);
    },
    stop,
  };
}
