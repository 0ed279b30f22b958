import { el } from '../page/dom.js';

/** One take: a photo, and how the camera moves over it from its start to its end. */
interface Take {
  readonly url: string;
  /**
   * The middle of the view, in 0..1 of the photo, and how many times the photo is enlarged beyond what covers the
   * frame.
   */
  readonly from: View;
  readonly to: View;
}
type View = readonly [x: number, y: number, scale: number];

/** The photos are in the public domain: Eileen Collins, by NASA; Grace Hopper, by the United States Navy. */
const TAKES: readonly Take[] = [
  { url: 'models/selfie/samples/astronaut.jpg', from: [0.42, 0.34, 1.04], to: [0.44, 0.29, 1.3] },
  { url: 'models/selfie/samples/grace-hopper.jpg', from: [0.52, 0.34, 1], to: [0.5, 0.34, 1.1] },
  { url: 'models/selfie/samples/astronaut.jpg', from: [0.43, 0.24, 1.5], to: [0.44, 0.33, 1.06] },
  { url: 'models/selfie/samples/grace-hopper.jpg', from: [0.5, 0.33, 1.1], to: [0.52, 0.37, 1] },
];
/** Milliseconds of a take. */
const TAKE = 6500;
const SIZE = { width: 640, height: 480 } as const;

export interface Film {
  readonly canvas: HTMLCanvasElement;
  /** Resolves once the photos are there. @throws if one cannot be loaded */
  readonly ready: Promise<void>;
  /** Draws the frame at this moment, in milliseconds from the start. */
  draw(at: number): void;
}

/** Makes a moving picture of photos: a camera moves over them, with cuts in between. */
export function film(): Film {
  const canvas = el('canvas', { width: String(SIZE.width), height: String(SIZE.height) });
  const context = canvas.getContext('2d')!;
  const photos = new Map(TAKES.map(({ url }) => [url, el('img', { src: url })]));
  return {
    canvas,
    ready: Promise.all([...photos.values()].map((photo) => photo.decode())).then(() => undefined),
    draw(at) {
      const { url, from, to } = TAKES[Math.floor(at / TAKE) % TAKES.length]!;
      const photo = photos.get(url)!;
      const done = (at % TAKE) / TAKE;
      const eased = (1 - Math.cos(done * Math.PI)) / 2;
      const [x, y, scale] = from.map((start, index) => start + (to[index]! - start) * eased) as [
        number,
        number,
        number,
      ];
      const cover = Math.max(SIZE.width / photo.naturalWidth, SIZE.height / photo.naturalHeight) * scale;
      const [width, height] = [photo.naturalWidth * cover, photo.naturalHeight * cover];
      const place = (middle: number, whole: number, view: number): number =>
        Math.min(0, Math.max(view - whole, view / 2 - middle * whole));
      context.drawImage(photo, place(x, width, SIZE.width), place(y, height, SIZE.height), width, height);
    },
  };
}
