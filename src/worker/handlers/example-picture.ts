/** The octaves of a picture's texture, in cells per side: from half the picture down to single pixels. */
const OCTAVES = [2, 4, 8, 16, 32, 64, 128];

/** The largest number of shapes with hard edges in a picture. */
const MAX_SHAPES = 6;

/** The amount of texture and shapes in each example picture, in 0..1. The first picture is a smooth gradient. */
const DETAILS: readonly number[] = [0, 0.4, 1];

/** Draws the example pictures of handlers for images. @returns of each, 8-bit RGB, `size · size · 3` bytes */
export function drawExamplePictures(size: number): readonly Uint8Array[] {
  return DETAILS.map((detail, index) => drawExamplePicture(index + 1, size, detail));
}

/**
 * Draws a square picture with the statistics of a photograph: a smooth gradient of light, patches of color with 1/f
 * texture, and disks with hard edges. A backend that computes photographs wrongly often computes black and white noise
 * correctly, but not this picture. The same seed gives the same picture everywhere.
 * @param detail the amount of texture and shapes, in 0..1; 0 draws only the smooth gradient
 * @returns 8-bit RGB, `size · size · 3` bytes
 */
export function drawExamplePicture(seed: number, size: number, detail: number): Uint8Array {
  const random = generator(seed);
  const planes = [plane(random, size, detail), plane(random, size, detail), plane(random, size, detail)];
  const light = plane(random, size, detail);
  const data = new Uint8Array(size * size * 3);
  // The channels of a photograph are correlated, so they share the plane of light.
  for (let index = 0; index < data.length; index++) {
    const pixel = Math.floor(index / 3);
    data[index] = clamp(128 + 127 * (0.65 * light[pixel]! + 0.45 * planes[index % 3]![pixel]!));
  }
  for (let shape = 0; shape < Math.round(MAX_SHAPES * detail); shape++) drawDisk(data, size, random);
  return data;
}

/**
 * Returns a field in about −1..1: a linear gradient in a random direction, plus value noise. The amplitude of the noise
 * is proportional to `detail` and falls with the frequency.
 */
function plane(random: () => number, size: number, detail: number): Float32Array {
  const angle = random() * 2 * Math.PI;
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
  const field = new Float32Array(size * size);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) field[y * size + x] = ((x / size - 0.5) * dx + (y / size - 0.5) * dy) * 1.4;
  if (detail > 0)
    for (const cells of OCTAVES.filter((cells) => cells < size))
      addNoise(field, random, size, cells, (2 * detail) / cells);
  return field;
}

/** Adds value noise: random numbers on a lattice of `cells` × `cells`, interpolated smoothly. */
function addNoise(field: Float32Array, random: () => number, size: number, cells: number, amplitude: number): void {
  const side = cells + 1;
  const lattice = Float32Array.from({ length: side * side }, () => (random() * 2 - 1) * amplitude);
  for (let y = 0; y < size; y++) {
    const row = Math.floor((y * cells) / size);
    const v = smooth((y * cells) / size - row);
    for (let x = 0; x < size; x++) {
      const column = Math.floor((x * cells) / size);
      const u = smooth((x * cells) / size - column);
      const at = row * side + column;
      const upper = lattice[at]! * (1 - u) + lattice[at + 1]! * u;
      const lower = lattice[at + side]! * (1 - u) + lattice[at + side + 1]! * u;
      field[y * size + x] = field[y * size + x]! + upper * (1 - v) + lower * v;
    }
  }
}

/** Draws a disk of one color that gets darker toward one side, like a lit ball. */
function drawDisk(data: Uint8Array, size: number, random: () => number): void {
  const [centerX, centerY, radius] = [random() * size, random() * size, (0.05 + 0.2 * random()) * size];
  const color = [random() * 255, random() * 255, random() * 255];
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const [dx, dy] = [(x - centerX) / radius, (y - centerY) / radius];
      if (dx * dx + dy * dy > 1) continue;
      const shade = 0.8 - 0.2 * (dx + dy);
      for (let channel = 0; channel < 3; channel++) data[(y * size + x) * 3 + channel] = clamp(color[channel]! * shade);
    }
}

/** Returns a generator of uniform numbers in 0..1: Numerical Recipes' linear congruential generator. */
function generator(seed: number): () => number {
  let x = seed;
  return () => (x = (Math.imul(1664525, x) + 1013904223) >>> 0) / 2 ** 32;
}

function smooth(t: number): number {
  return t * t * (3 - 2 * t);
}

function clamp(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)));
}
