/** Draws an evening over hills, to put behind a person. */
export function drawScenery(context: CanvasRenderingContext2D): void {
  const { width, height } = context.canvas;
  const sky = context.createLinearGradient(0, 0, 0, height);
  for (const [at, color] of [
    [0, '#24305e'],
    [0.45, '#8a5a83'],
    [0.7, '#f0936b'],
    [1, '#ffd08a'],
  ] as const)
    sky.addColorStop(at, color);
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);

  const [x, y, radius] = [width * 0.74, height * 0.6, Math.min(width, height) * 0.1];
  const sun = context.createRadialGradient(x, y, radius * 0.2, x, y, radius * 4);
  for (const [at, color] of [
    [0, '#fff3cf'],
    [0.22, '#ffe3a0'],
    [0.3, 'rgb(255 205 140 / 45%)'],
    [1, 'rgb(255 205 140 / 0%)'],
  ] as const)
    sun.addColorStop(at, color);
  context.fillStyle = sun;
  context.fillRect(0, 0, width, height);

  for (const [level, swing, waves, shift, color] of [
    [0.72, 0.05, 1.6, 0.4, '#7a4d72'],
    [0.8, 0.045, 2.3, 2.1, '#523a63'],
    [0.89, 0.035, 3.1, 4.4, '#2f2748'],
  ] as const) {
    context.fillStyle = color;
    context.beginPath();
    context.moveTo(0, height);
    for (let step = 0; step <= 60; step++) {
      const at = step / 60;
      context.lineTo(at * width, (level + swing * Math.sin(at * waves * 2 * Math.PI + shift)) * height);
    }
    context.lineTo(width, height);
    context.fill();
  }
}
