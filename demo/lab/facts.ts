import type { TensorInfo } from '../../src/index.js';
import { el } from '../page/dom.js';
import { bytes } from '../page/format.js';
import { openDimensions, type Sizes } from './noise.js';
import type { ReadModel } from './read-model.js';

/** A file may name this many operators, inputs and outputs before the list is cut. */
const MAX_SHOWN = { operators: 80, tensors: 24, text: 60 } as const;

export interface Facts {
  readonly element: HTMLElement;
  /** The sizes that the visitor chose for dimensions that the model leaves open. */
  readonly sizes: Sizes;
  /** Shows a model, or nothing. `known`: sizes to start with. */
  show(model: ReadModel | undefined, known?: Sizes): void;
}

/**
 * Shows what an ONNX file says of its model: inputs, outputs and operators, and which of these stop ONNX Runtime's
 * WebGL.
 */
export function facts(): Facts {
  const element = el('section', { class: 'facts', 'aria-label': 'The model’s file', hidden: '' });
  let fields: readonly HTMLInputElement[] = [];
  return {
    element,
    get sizes() {
      return Object.fromEntries(
        fields.map(({ name, valueAsNumber }) => [name, valueAsNumber >= 1 ? Math.floor(valueAsNumber) : 1]),
      );
    },
    show(model, known = {}) {
      element.hidden = !model;
      fields = [];
      if (!model) return element.replaceChildren();
      fields = openDimensions(model.inputs).map(({ key, suggested }) =>
        el('input', { type: 'number', name: key, min: '1', step: '1', value: String(known[key] ?? suggested) }),
      );
      element.replaceChildren(
        ...tensors('Inputs', model.inputs),
        ...fields.map((field) => el('label', { class: 'size' }, `Size of ${cut(field.name)} `, field)),
        ...tensors('Outputs', model.outputs),
        ...operators(model),
        el('p', { class: 'quiet' }, made(model)),
      );
    },
  };
}

function tensors(title: string, list: readonly TensorInfo[]): readonly HTMLElement[] {
  const rows = list
    .slice(0, MAX_SHOWN.tensors)
    .map(({ name, dtype, dims }) =>
      el(
        'li',
        {},
        el('b', {}, cut(name)),
        ` ${dtype} `,
        el('span', {}, `[${dims.map((size) => (typeof size === 'string' ? cut(size) : (size ?? '?'))).join(', ')}]`),
      ),
    );
  return [el('h3', {}, title), el('ul', { class: 'tensors' }, ...rows, ...more(list.length - MAX_SHOWN.tensors))];
}

function operators({ operators: all, beyond }: ReadModel): readonly HTMLElement[] {
  const lacking = new Set(beyond.webgl.map((name) => name.split(' of opset ')[0]));
  const sorted = [...all].sort((a, b) => b.count - a.count);
  const chips = sorted.slice(0, MAX_SHOWN.operators).map(({ name, count }) => {
    const lacks = lacking.has(name);
    const chip = el('li', lacks ? { 'data-lacks': '' } : {}, cut(name), ' ', el('b', {}, count.toLocaleString('en')));
    if (lacks) chip.append(el('span', { class: 'unseen' }, ' not on ONNX Runtime’s WebGL'));
    return chip;
  });
  const nodes = all.reduce((sum, { count }) => sum + count, 0);
  return [
    el('h3', {}, `${nodes.toLocaleString('en')} operations of ${all.length} kinds`),
    el('ul', { class: 'operators' }, ...chips, ...more(all.length - MAX_SHOWN.operators)),
  ];
}

function made({ producer, opsets, weights }: ReadModel): string {
  const versions = Object.entries(opsets).map(([domain, version]) => `${cut(domain)} ${version}`);
  const stored = weights.map(({ dtype, bytes: size }) => `${bytes(size)} in ${dtype}`);
  return [
    `Operator set ${versions.slice(0, 8).join(', ')}`,
    `weights: ${stored.join(', ') || 'none'}`,
    ...(producer ? [`made by ${cut(producer)}`] : []),
  ].join('; ');
}

function more(count: number): readonly HTMLElement[] {
  return count > 0 ? [el('li', {}, `and ${count.toLocaleString('en')} more`)] : [];
}

function cut(text: string): string {
  return text.length > MAX_SHOWN.text ? `${text.slice(0, MAX_SHOWN.text)}…` : text;
}
