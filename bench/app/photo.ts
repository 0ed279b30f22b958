/** Photos made on the spot, the same ones in every run. */

/** The letters on the board, as dots. */
const GLYPHS: Readonly<Record<string, readonly string[]>> = {
  T: ['11111', '00100', '00100', '00100', '00100', '00100', '00100'],
  A: ['01110', '10001', '10001', '11111', '10001', '10001', '10001'],
  B: ['11110', '10001', '10001', '11110', '10001', '10001', '11110'],
  F: ['11111', '10000', '10000', '11110', '10000', '10000', '10000'],
  L: ['10000', '10000', '10000', '10000', '10000', '10000', '11111'],
  E: ['11111', '10000', '10000', '11110', '10000', '10000', '11111'],
};
const TEXT = 'FLATTABLE';
const TILE = 256;

/** A line of text on a board, in soft light, with the grain of a sensor: as large a JPEG as a camera's. */
export async function makePhoto(width: number, height: number): Promise<File> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  const random = seeded(20_240_229);
  const light = context.createLinearGradient(0, 0, width, height);
  light.addColorStop(0, '#d8d2c4');
  light.addColorStop(1, '#8f9aa8');
  context.fillStyle = light;
  context.fillRect(0, 0, width, height);
  for (let spot = 0; spot < 60; spot++) drawSpot(context, width, height, random);
  drawText(context, width, height);
  context.globalCompositeOperation = 'overlay';
  context.fillStyle = context.createPattern(makeGrain(random), 'repeat')!;
  context.fillRect(0, 0, width, height);
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
  return new File([blob], `${width}x${height}.jpg`, { type: 'image/jpeg' });
}

function drawSpot(
  context: OffscreenCanvasRenderingContext2D,
  width: number,
  height: number,
  random: () => number,
): void {
  const [x, y, radius] = [random() * width, random() * height, (0.03 + random() * 0.15) * width];
  const color = [random(), random(), random()].map((part) => Math.round(part * 255)).join(' ');
  const fill = context.createRadialGradient(x, y, 0, x, y, radius);
  fill.addColorStop(0, `rgb(${color} / 0.25)`);
  fill.addColorStop(1, `rgb(${color} / 0)`);
  context.fillStyle = fill;
  context.fillRect(0, 0, width, height);
}

function drawText(context: OffscreenCanvasRenderingContext2D, width: number, height: number): void {
  const [dotWidth, dotHeight] = [width / (TEXT.length * 6 + 1), height / 11];
  context.fillStyle = '#20242c';
  for (const [at, letter] of [...TEXT].entries()) {
    for (const [row, dots] of GLYPHS[letter]!.entries()) {
      for (const [column, dot] of [...dots].entries()) {
        if (dot === '1')
          context.fillRect((1 + at * 6 + column) * dotWidth, (2 + row) * dotHeight, dotWidth + 1, dotHeight + 1);
      }
    }
  }
}

function makeGrain(random: () => number): OffscreenCanvas {
  const tile = new OffscreenCanvas(TILE, TILE);
  const context = tile.getContext('2d', { willReadFrequently: true })!;
  const image = context.createImageData(TILE, TILE);
  for (let at = 0; at < image.data.length; at += 4) {
    for (let channel = 0; channel < 3; channel++) image.data[at + channel] = 128 + (random() + random() - 1) * 40;
    image.data[at + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return tile;
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
