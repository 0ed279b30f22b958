import type { Detection, TrackedObject } from '../../src/index.js';
import type { PictureStage, Shown } from '../inputs/picture-stage.js';

/** CSS pixels. */
const LINE = 2.5;
const CHIP = 20;
const PADDING = 6;
const INK = '#101214';

/** An object; in a camera's picture, with the id that it keeps. */
type Found = Detection & Partial<Pick<TrackedObject, 'id'>>;

export interface Boxes {
  draw(detections: readonly Found[]): void;
  dispose(): void;
}

/**
 * Draws boxes with their labels over a stage's picture, as sharp as the screen, and again when the picture gets another
 * size.
 */
export function boxes(stage: PictureStage, colorOf: (label: string) => string): Boxes {
  const { canvas } = stage;
  const context = canvas.getContext('2d')!;
  let current: readonly Found[] = [];
  /** The picture in which they were found. */
  let found: Shown | undefined;

  const redraw = (): void => {
    const { clientWidth: width, clientHeight: height } = canvas;
    const sharpness = window.devicePixelRatio;
    canvas.width = Math.round(width * sharpness);
    canvas.height = Math.round(height * sharpness);
    context.scale(sharpness, sharpness);
    if (!found || found !== stage.shown) return;
    const [scaleX, scaleY] = [width / found.width, height / found.height];
    // The best one comes last, on top.
    for (const { id, label, score, box } of current.toReversed()) {
      drawBox(
        box.xmin * scaleX,
        box.ymin * scaleY,
        (box.xmax - box.xmin) * scaleX,
        (box.ymax - box.ymin) * scaleY,
        `${id === undefined ? label : `${label} ${id}`} ${Math.round(score * 100)}%`,
        colorOf(label),
      );
    }
  };

  const drawBox = (x: number, y: number, width: number, height: number, text: string, color: string): void => {
    // A dark line around the bright one: one of the two is visible on any photo.
    context.lineJoin = 'round';
    for (const [style, line] of [['rgb(0 0 0 / 55%)', LINE + 2] as const, [color, LINE] as const]) {
      context.strokeStyle = style;
      context.lineWidth = line;
      context.strokeRect(x + LINE / 2, y + LINE / 2, Math.max(0, width - LINE), Math.max(0, height - LINE));
    }
    context.font = '600 12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const chip = context.measureText(text).width + 2 * PADDING;
    const left = Math.max(0, Math.min(x, canvas.clientWidth - chip));
    const top = y >= CHIP ? y - CHIP : Math.min(y, canvas.clientHeight - CHIP);
    context.fillStyle = color;
    context.beginPath();
    context.roundRect(left, top, chip, CHIP, 4);
    context.fill();
    context.strokeStyle = context.fillStyle = INK;
    context.lineWidth = 1;
    context.stroke();
    context.fillText(text, left + PADDING, top + CHIP / 2 + 0.5);
  };

  const sizes = new ResizeObserver(redraw);
  sizes.observe(canvas);
  return {
    draw(detections) {
      current = detections;
      found = stage.shown;
      redraw();
    },
    dispose: () => sizes.disconnect(),
  };
}
