import { el } from '../page/dom.js';

const SVG = 'http://www.w3.org/2000/svg';
/** Points that are shown. */
const COUNT = 120;
const HEIGHT = 100;

export interface PlotOptions {
  readonly title: string;
  /** Name in the styles → label in the legend. */
  readonly series: Readonly<Record<string, string>>;
  /** The series that are stacked as areas; all others are lines. */
  readonly stacked?: readonly string[];
  /** Whether it is the page's chart: larger, and with a line for every quarter of its height. */
  readonly large?: boolean;
  says(value: number): string;
}

export interface Plot {
  readonly element: HTMLElement;
  /** Adds a point to every series; NaN leaves a gap. */
  add(values: Readonly<Record<string, number>>): void;
  clear(): void;
}

/** Draws the last points of some series over time. The legend has the last values as text. */
export function plot({ title, series, stacked = [], large = false, says }: PlotOptions): Plot {
  const svg = svgElement('svg', {
    viewBox: `0 0 ${COUNT - 1} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  });
  const paths = Object.keys(series).map((name) => {
    const path = svgElement('path', {
      'data-series': name,
      'vector-effect': 'non-scaling-stroke',
      ...(stacked.includes(name) && { 'data-area': '' }),
    });
    return { name, path, value: el('b', {}, '–') };
  });
  svg.append(...paths.map(({ path }) => path));
  const scale = (large ? [1, 0.75, 0.5, 0.25] : [1]).map((share) => {
    const line = el('span', { class: 'plot-line', 'aria-hidden': 'true' });
    line.style.top = `${(1 - share) * 100}%`;
    return { share, line };
  });
  const legend = paths.map(({ name, value }) =>
    el(
      'li',
      {},
      el('span', { class: 'plot-key', 'data-series': name, ...(stacked.includes(name) && { 'data-area': '' }) }),
      `${series[name]!} `,
      value,
    ),
  );
  const element = el(
    'figure',
    { class: large ? 'plot plot-large' : 'plot' },
    el('figcaption', {}, el(large ? 'h2' : 'h3', {}, title), el('ul', {}, ...legend)),
    el('div', { class: 'plot-field' }, ...scale.map(({ line }) => line), svg),
  );
  let points: Readonly<Record<string, number>>[] = [];

  const draw = (): void => {
    const highest = Math.max(
      ...points.map((point) =>
        heightOf(
          point,
          paths.map(({ name }) => name),
          stacked,
        ),
      ),
      0,
    );
    const limit = roundUp(highest);
    const x = (index: number): number => index + COUNT - points.length;
    const y = (value: number): string => (HEIGHT - (value / limit) * HEIGHT).toFixed(2);
    let floor = points.map(() => 0);
    for (const { name, path } of paths) {
      const values = points.map((point) => point[name]!);
      if (!stacked.includes(name)) {
        path.setAttribute(
          'd',
          lines(values)
            .map((run) => `M${run.map(([value, index]) => `${x(index)},${y(value)}`).join('L')}`)
            .join(''),
        );
        continue;
      }
      const below = floor;
      floor = values.map((value, index) => below[index]! + value);
      const upper = floor.map((value, index) => `${x(index)},${y(value)}`);
      const lower = below
        .map((_, index) => points.length - 1 - index)
        .map((index) => `${x(index)},${y(below[index]!)}`);
      path.setAttribute('d', upper.length > 1 ? `M${[...upper, ...lower].join('L')}Z` : '');
    }
    for (const { share, line } of scale) line.textContent = says(share * limit);
  };

  return {
    element,
    add(values) {
      points = [...points, values].slice(-COUNT);
      for (const { name, value } of paths) value.textContent = Number.isNaN(values[name]) ? '–' : says(values[name]!);
      draw();
    },
    clear() {
      points = [];
      for (const { value } of paths) value.textContent = '–';
      draw();
    },
  };
}

function heightOf(
  point: Readonly<Record<string, number>>,
  names: readonly string[],
  stacked: readonly string[],
): number {
  const heap = stacked.reduce((sum, name) => sum + point[name]!, 0);
  return Math.max(heap, ...names.map((name) => (Number.isNaN(point[name]) ? 0 : point[name]!)));
}

/** Splits values at the gaps, and keeps each value's index. */
function lines(values: readonly number[]): readonly (readonly (readonly [value: number, index: number])[])[] {
  const runs: (readonly [number, number])[][] = [];
  let open = false;
  for (const [index, value] of values.entries()) {
    if (!Number.isNaN(value) && !open) runs.push([]);
    open = !Number.isNaN(value);
    if (open) runs.at(-1)!.push([value, index]);
  }
  return runs;
}

/** Returns the next larger round number. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => value <= step * power)! * power;
}

function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
