import type { Detections } from 'tabserve';

const COLORS = ['#0d9488', '#c2410c', '#7c3aed', '#be123c', '#1d4ed8', '#4d7c0f'];

/** Draws a frame, and a box with its label around each object. */
export function draw(canvas: HTMLCanvasElement, frame: CanvasImageSource, objects: Detections): void {
  const drawing = canvas.getContext('2d')!;
  const unit = canvas.width / 320;
  drawing.drawImage(frame, 0, 0, canvas.width, canvas.height);
  drawing.font = `600 ${10 * unit}px system-ui, sans-serif`;
  drawing.textBaseline = 'top';
  drawing.lineWidth = 1.5 * unit;
  for (const { label, score, box } of objects) {
    const text = `${label} ${Math.round(score * 100)} %`;
    const color = colorOf(label);
    const top = Math.max(0, box.ymin - 14 * unit);
    drawing.strokeStyle = drawing.fillStyle = color;
    drawing.strokeRect(box.xmin, box.ymin, box.xmax - box.xmin, box.ymax - box.ymin);
    drawing.fillRect(box.xmin, top, drawing.measureText(text).width + 8 * unit, 14 * unit);
    drawing.fillStyle = '#fff';
    drawing.fillText(text, box.xmin + 4 * unit, top + 2 * unit);
  }
}

/** Returns the color of a label, always the same one. */
function colorOf(label: string): string {
  const sum = Array.from(label).reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  return COLORS[sum % COLORS.length]!;
}
