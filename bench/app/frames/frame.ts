import { makePhoto } from '../photo.ts';

/** The size of the frames. */
export const [WIDTH, HEIGHT] = [1280, 720];

/** Formats in which cameras and decoders deliver frames. */
export type FrameFormat = 'I420' | 'NV12';

/**
 * Returns a function that makes frames of one picture, by default a drawn one, as a camera delivers them: BT.601 of
 * studio range. They share their pixels, since a camera's are written by another process: a frame costs the page
 * nothing but the object.
 */
export async function frameMaker(
  width: number,
  height: number,
  format: FrameFormat,
  photo?: Blob,
): Promise<(timestamp: number) => VideoFrame> {
  const bitmap = await createImageBitmap(photo ?? (await makePhoto(width, height)));
  const context = new OffscreenCanvas(width, height).getContext('2d')!;
  context.drawImage(bitmap, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  const planes = new Uint8Array((width * height * 3) / 2);
  const chroma = width * height;
  const [step, second] = format === 'NV12' ? [2, 1] : [1, chroma / 4];
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!];
      planes[y * width + x] = 16 + 0.257 * r + 0.504 * g + 0.098 * b;
      if (x % 2 || y % 2) continue;
      const to = chroma + ((y / 2) * (width / 2) + x / 2) * step;
      planes[to] = 128 - 0.148 * r - 0.291 * g + 0.439 * b;
      planes[to + second] = 128 + 0.439 * r - 0.368 * g - 0.071 * b;
    }
  const picture = new VideoFrame(planes, {
    format,
    codedWidth: width,
    codedHeight: height,
    timestamp: 0,
    colorSpace: { matrix: 'smpte170m', primaries: 'smpte170m', transfer: 'smpte170m', fullRange: false },
  });
  return (timestamp) => new VideoFrame(picture, { timestamp });
}
