import type { TextLine, Timings } from '../../src/index.js';
import type { Output } from '../demo.js';
import type { PhotoStage } from '../inputs/photo-stage.js';
import { copies } from '../page/copy.js';
import { button, el } from '../page/dom.js';
import { milliseconds, percent } from '../page/format.js';

const SVG = 'http://www.w3.org/2000/svg';
/** A line at least this many times higher than wide runs downwards. */
const DOWNWARDS = 1.5;
const NODES: Readonly<Record<string, string>> = { detect: 'Find', orient: 'Orient', recognize: 'Read' };

type Times = Readonly<Record<string, Timings>>;

/**
 * Shows the lines of text over the photo, where they can be selected, and in a list.
 * @param times of the workflow's nodes at the last answer
 */
export function textLines(stage: PhotoStage, times: () => Times): Output<readonly TextLine[]> {
  const layer = document.createElementNS(SVG, 'svg');
  layer.setAttribute('class', 'text-layer');
  layer.setAttribute('preserveAspectRatio', 'none');
  layer.setAttribute('aria-hidden', 'true');
  stage.layers.append(layer);
  const count = el('span', { class: 'top-name' });
  const list = el('ol', { class: 'detections text-lines', 'aria-label': 'Lines of text', tabindex: '0' });
  const took = el('p', { class: 'text-times' });
  const readable = button('Show the text', () => {
    const shows = !layer.hasAttribute('data-readable');
    layer.toggleAttribute('data-readable', shows);
    readable.setAttribute('aria-pressed', String(shows));
  });
  readable.setAttribute('aria-pressed', 'false');
  const copy = button('Copy text', () => {});
  let current: readonly TextLine[] = [];
  copies(copy, () => current.map(({ text }) => text).join('\n'));
  const element = el(
    'div',
    {},
    el('p', { class: 'headline' }, count),
    list,
    took,
    el('div', { class: 'actions' }, readable, copy),
  );

  const draw = (lines: readonly TextLine[] | undefined): void => {
    current = lines ?? [];
    count.textContent = lines ? counted(lines.length) : 'No result yet';
    element.toggleAttribute('data-empty', !lines);
    copy.disabled = current.length === 0;
    const parts = lines
      ? Object.entries(times()).map(([node, stages]) => `${NODES[node] ?? node} ${milliseconds(sum(stages))}`)
      : [];
    took.textContent = parts.join(' · ') || ' ';
    list.replaceChildren(
      ...current.map(({ text, score }) =>
        el(
          'li',
          {},
          el('span'),
          el('span', { class: 'found-label', title: text }, text),
          el('span'),
          el('span', { class: 'found-score' }, percent(score)),
        ),
      ),
    );
    const { width, height } = stage.size ?? { width: 1, height: 1 };
    layer.setAttribute('viewBox', `0 0 ${width} ${height}`);
    layer.replaceChildren(...current.flatMap(overlay));
  };
  draw(undefined);

  return {
    element,
    isPlain: true,
    show(lines) {
      draw(lines);
      return lines.length === 0
        ? 'No text found.'
        : `${counted(lines.length)}: ${lines.map(({ text }) => text).join(', ')}`;
    },
    clear: () => draw(undefined),
  };
}

function counted(count: number): string {
  return count === 0 ? 'No text found' : count === 1 ? '1 line' : `${count} lines`;
}

function sum({ preprocess = 0, inference = 0, postprocess = 0 }: Timings): number {
  return preprocess + inference + postprocess;
}

/** Returns a line's outline, and its text along the line, as wide as the line. */
function overlay({ text, box }: TextLine): readonly SVGElement[] {
  const [a, b, , d] = box;
  const outline = document.createElementNS(SVG, 'polygon');
  outline.setAttribute('points', box.map((point) => point.join(',')).join(' '));
  const [width, height] = [Math.hypot(b[0] - a[0], b[1] - a[1]), Math.hypot(d[0] - a[0], d[1] - a[1])];
  // A line that runs downwards was read with its top on the right.
  const isDownwards = height >= DOWNWARDS * width;
  const [[x, y], along, length, size] = isDownwards
    ? ([a, [d[0] - a[0], d[1] - a[1]], height, width] as const)
    : ([d, [b[0] - a[0], b[1] - a[1]], width, height] as const);
  const degrees = (Math.atan2(along[1], along[0]) * 180) / Math.PI;
  const letters = document.createElementNS(SVG, 'text');
  const attributes = {
    transform: `translate(${x} ${y}) rotate(${degrees})`,
    y: -0.24 * size,
    'font-size': 0.78 * size,
    textLength: length,
    lengthAdjust: 'spacingAndGlyphs',
  };
  for (const [name, value] of Object.entries(attributes)) letters.setAttribute(name, String(value));
  letters.textContent = text;
  return [outline, letters];
}
