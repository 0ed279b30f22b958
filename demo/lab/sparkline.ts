const SVG = 'http://www.w3.org/2000/svg';
const COUNT = 120;
const [WIDTH, HEIGHT] = [240, 48];

export interface Sparkline {
  readonly element: SVGElement;
  add(value: number): void;
  clear(): void;
  /** The largest value that is shown. */
  readonly largest: number;
}

/** The last 120 values as a line, the largest of them at the top. */
export function sparkline(): Sparkline {
  const element = document.createElementNS(SVG, 'svg');
  element.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  element.setAttribute('preserveAspectRatio', 'none');
  element.setAttribute('class', 'sparkline');
  element.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'polyline');
  line.setAttribute('vector-effect', 'non-scaling-stroke');
  element.append(line);
  let values: number[] = [];
  const largest = (): number => Math.max(0, ...values);
  const draw = (): void => {
    const top = largest() || 1;
    const points = values.map(
      (value, index) =>
        `${((index + COUNT - values.length) / (COUNT - 1)) * WIDTH},${HEIGHT - 1 - (value / top) * (HEIGHT - 2)}`,
    );
    line.setAttribute('points', points.join(' '));
  };
  return {
    element,
    get largest() {
      return largest();
    },
    add(value) {
      values = [...values, value].slice(-COUNT);
      draw();
    },
    clear() {
      values = [];
      draw();
    },
  };
}
