import type { Timeline } from './timeline.js';

const WINDOW_SECONDS = 0.032;

/**
 * Draws a waveform, its bands, the probability as a line, and the threshold as a dashed one.
 * @param at where it plays, in seconds
 */
export function drawSound(
  canvas: HTMLCanvasElement,
  timeline: Timeline | undefined,
  threshold: number,
  at: number | undefined,
): void {
  const scale = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (!context || !timeline || width === 0) return;
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const x = (seconds: number): number => (seconds / timeline.seconds) * width;
  const y = (probability: number): number => height - 2 - probability * (height - 4);

  for (const { start, end, color: own = '--accent' } of timeline.bands) {
    context.fillStyle = color(own);
    context.globalAlpha = 0.16;
    context.fillRect(x(start), 0, x(end) - x(start) + 0.5, height);
    context.globalAlpha = 1;
    if (own !== '--accent') context.fillRect(x(start), height - 4, x(end) - x(start), 4);
  }

  context.fillStyle = color('--line-strong');
  const { samples } = timeline;
  for (let column = 0; column < width; column++) {
    const [from, to] = [column, column + 1].map((edge) => Math.floor((edge / width) * samples.length));
    let peak = 0;
    for (let index = from!; index < to!; index++) peak = Math.max(peak, Math.abs(samples[index]!));
    // Quiet speech is seen too.
    const half = Math.max(0.5, Math.sqrt(Math.min(1, peak)) * (height / 2 - 4));
    context.fillRect(column, height / 2 - half, 1, 2 * half);
  }

  context.strokeStyle = color('--quiet');
  context.setLineDash([4, 4]);
  context.beginPath();
  context.moveTo(0, y(threshold));
  context.lineTo(width, y(threshold));
  context.stroke();
  context.setLineDash([]);

  context.strokeStyle = color('--accent');
  context.lineWidth = 2;
  context.beginPath();
  for (let index = 0; index < timeline.curve.length; index++)
    context.lineTo(x((index + 0.5) * WINDOW_SECONDS), y(timeline.curve[index]!));
  context.stroke();

  if (at === undefined) return;
  context.fillStyle = color('--ink');
  context.fillRect(x(at) - 1, 0, 2, height);
}
