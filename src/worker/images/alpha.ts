/** Transparency: how it is composited, and what browsers' decoders do with it. */

/**
 * Composites pixels over a color, in place, as Pillow's `Image.paste(image, mask=alpha)` does (`BLEND` in its Paste.c). A
 * pixel has four bytes; the last one is its alpha.
 * @param background the color, 0..255, in the order of the pixels' channels
 * @param premultiplied whether the pixels' colors are multiplied by their alpha already; the result is then within 1 of
 *   the exact one
 */
export function flatten(
  data: Uint8Array | Uint8ClampedArray,
  background: readonly [number, number, number],
  premultiplied = false,
): void {
  const [b0, b1, b2] = background;
  for (let i = 0; i < data.length; i += 4) {
    const alpha = data[i + 3]!;
    if (alpha === 255) continue;
    const rest = 255 - alpha;
    const factor = premultiplied ? 255 : alpha;
    data[i] = divide255(data[i]! * factor + b0 * rest);
    data[i + 1] = divide255(data[i + 1]! * factor + b1 * rest);
    data[i + 2] = divide255(data[i + 2]! * factor + b2 * rest);
    data[i + 3] = 255;
  }
}

/** Returns n / 255, rounded, for n in 0..65025. */
export function divide255(n: number): number {
  const t = n + 128;
  return ((t >> 8) + t) >> 8;
}

/** A PNG of one pixel: white, half transparent. */
const WHITE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4//9/AwAJfAN+TrsbXQAAAABJRU5ErkJggg==';

let answer: Promise<boolean> | undefined;

/**
 * Returns whether frames of ImageDecoder have premultiplied alpha, as Firefox's have. No property says so: it decodes one
 * pixel at the first call.
 */
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
