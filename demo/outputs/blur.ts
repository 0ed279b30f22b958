/** How often the picture is halved, and doubled again. */
const LEVELS = 4;

/**
 * Blurs by halving a picture a few times and doubling it again: a canvas does that anywhere, on the GPU where there is one,
 * and without a filter, which not every browser has.
 */
export function blurrer(): (image: CanvasImageSource, width: number, height: number) => HTMLCanvasElement {
  const levels = Array.from({ length: LEVELS + 1 }, () => document.createElement('canvas').getContext('2d')!);
  return (image, width, height) => {
    let source = image;
    const pass = (level: number): void => {
      const context = levels[level]!;
      const [w, h] = [Math.max(1, width >> level), Math.max(1, height >> level)];
      if (context.canvas.width !== w || context.canvas.height !== h) [context.canvas.width, context.canvas.height] = [w, h];
      context.imageSmoothingQuality = 'low';
      context.globalCompositeOperation = 'copy';
      context.drawImage(source, 0, 0, w, h);
      source = context.canvas;
    };
    for (let level = 1; level <= LEVELS; level++) pass(level);
    for (let level = LEVELS - 1; level >= 0; level--) pass(level);
    return levels[0]!.canvas;
  };
}
