/**
 * Finds out whether the browser's ImageDecoder multiplies the colors of transparent pixels by their alpha, as Firefox's does. No property says so.
 */

/** A PNG of one pixel: white, half transparent. */
const WHITE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4//9/AwAJfAN+TrsbXQAAAABJRU5ErkJggg==';

let answer: Promise<boolean> | undefined;

/** Returns whether frames of ImageDecoder have premultiplied alpha; decodes one pixel at the first call. */
export function decoderPremultiplies(): Promise<boolean> {
  answer ??= measure().catch(() => false);
  return answer;
}

async function measure(): Promise<boolean> {
  const data = Uint8Array.from(atob(WHITE), (byte) => byte.charCodeAt(0));
  const decoder = new ImageDecoder({ data, type: 'image/png' });
  try {
    const { image } = await decoder.decode();
    const pixel = new Uint8Array(4);
    await image.copyTo(pixel).finally(() => image.close());
    // Multiplied, it is 128 in each channel.
    return pixel[0]! < 192;
  } finally {
    decoder.close();
  }
}
