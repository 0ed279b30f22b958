/** How much smaller the blurred picture is, and how often it is halved beyond that, and doubled again. */
const SMALLER = 4;
const LEVELS = 2;

/**
 * Blurs what is behind a person by halving it a few times and doubling it again: a canvas does that anywhere, on the
 * GPU where there is one, and without a filter, which not every browser has.
 * @returns a small picture, to be enlarged
 */
export function blurrer(): (image: HTMLCanvasElement, person: HTMLCanvasElement) => HTMLCanvasElement {
  const [whole, ground, around] = [layer(), layer(), layer()];
  const levels = Array.from({ length: LEVELS + 1 }, layer);

  const soften = ({ canvas: { width, height }, canvas }: CanvasRenderingContext2D): HTMLCanvasElement => {
    let source = canvas;
    const pass = (level: number): void => {
      copy(levels[level]!, source, Math.max(1, width >> level), Math.max(1, height >> level));
      source = levels[level]!.canvas;
    };
    for (let level = 1; level <= LEVELS; level++) pass(level);
    for (let level = LEVELS - 1; level >= 0; level--) pass(level);
    return source;
  };
  return (image, person) => {
    const [width, height] = [Math.ceil(image.width / SMALLER), Math.ceil(image.height / SMALLER)];
    copy(whole, image, width, height);
    copy(around, whole.canvas, width, height);
    around.globalCompositeOperation = 'destination-out';
    around.drawImage(person, 0, 0, width, height);
    copy(ground, soften(whole), width, height);
    ground.globalCompositeOperation = 'source-over';
    // What the person covers is filled from around them: blurred together, they would glow.
    const filling = soften(around);
    for (let i = 0; i < 3; i++) ground.drawImage(filling, 0, 0);
    return ground.canvas;
  };
}

function copy(to: CanvasRenderingContext2D, image: HTMLCanvasElement, width: number, height: number): void {
  if (to.canvas.width !== width || to.canvas.height !== height) [to.canvas.width, to.canvas.height] = [width, height];
  to.globalCompositeOperation = 'copy';
  to.drawImage(image, 0, 0, width, height);
}

function layer(): CanvasRenderingContext2D {
  return document.createElement('canvas').getContext('2d')!;
}
