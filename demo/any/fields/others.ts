import { el } from '../../page/dom.js';
import { Explained } from '../../page/explained.js';
import type { Fields, TaskEvents } from '../task.js';
import { area, labelled, line, namesOf, readJson } from './labelled.js';

const SAMPLE = 'models/vad/samples/fan.wav';

/**
 * Creates the fields of a recording: a sample, or a file of the visitor's.
 * @param labels of the field for labels, if there is one
 */
export function audioFields({ chosen }: TaskEvents, labels?: string): Fields<File | URL> {
  const names = labels === undefined ? undefined : line('Labels, with commas between them', labels);
  const chooser = el('input', { type: 'file', accept: 'audio/*', 'aria-label': 'Recording' });
  const player = el('audio', { src: SAMPLE, controls: '', 'aria-label': 'The recording' });
  let recording: File | undefined;
  const take = (file: File): void => {
    recording = file;
    URL.revokeObjectURL(player.src);
    player.src = URL.createObjectURL(file);
    chosen();
  };
  chooser.addEventListener('change', () => chooser.files?.[0] && take(chooser.files[0]));
  return {
    code: "document.querySelector<HTMLInputElement>('input[accept^=audio]')!.files![0]!",
    element: el('div', { class: 'any-input' }, player, labelled(chooser), ...(names ? [labelled(names)] : [])),
    get params() {
      return names ? { labels: namesOf(names.value, 'the labels to choose from') } : {};
    },
    input: () => recording ?? new URL(SAMPLE, document.baseURI),
    take,
    dispose: () => URL.revokeObjectURL(player.src),
  };
}

/** Creates the field of a tensor of float32. */
export function tensorFields(): Fields<{ readonly data: Float32Array; readonly dims: readonly number[] }> {
  const field = area('Tensor, as JSON', '{ "data": [0, 0, 0, 0], "dims": [4] }');
  return {
    code: '{ data: Float32Array.of(0, 0, 0, 0), dims: [4] }',
    element: el('div', { class: 'any-input' }, labelled(field)),
    input() {
      const { data, dims } = readJson(field.value, 'The tensor') as { data?: unknown; dims?: unknown };
      if (Array.isArray(data) && Array.isArray(dims)) return { data: Float32Array.from(data as number[]), dims };
      throw new Explained('The tensor needs “data” and “dims”, two lists of numbers.');
    },
  };
}
