import type { TensorInfo, Tensors } from '../../contract/tensors.js';
import { integers } from '../tensors/tensors.js';
import type { Encoding, Padding } from './tokenizer.js';

/** The names that Hugging Face's exporters give the inputs of a model of texts. */
export const IDS_INPUT = 'input_ids';
export const MASK_INPUT = 'attention_mask';
export const TYPES_INPUT = 'token_type_ids';
export const POSITIONS_INPUT = 'position_ids';
export const TEXT_INPUTS: readonly string[] = [IDS_INPUT, MASK_INPUT, TYPES_INPUT, POSITIONS_INPUT];

/** Returns the length of every row, given the number of tokens in the longest one. */
export function paddedLength({ length = 0, multipleOf }: Padding, longest: number): number {
  return Math.max(length, Math.ceil(longest / multipleOf) * multipleOf);
}

/**
 * Returns the tensors of a model's inputs for texts, `[rows, length]`.
 * @param inputs those that are filled: of the names above, the first one may have any name
 * @param firstPosition of a row's first token
 */
export function padRows(
  rows: readonly Encoding[],
  inputs: readonly TensorInfo[],
  { id, typeId, side }: Padding,
  length: number,
  firstPosition = 0,
): Tensors {
  const values = (name: string, { ids, typeIds }: Encoding): readonly number[] => {
    switch (name) {
      case MASK_INPUT:
        return pad(
          ids.map(() => 1),
          length,
          0,
          side,
        );
      case TYPES_INPUT:
        return pad(typeIds, length, typeId, side);
      case POSITIONS_INPUT:
        return pad(
          ids.map((_, at) => firstPosition + at),
          length,
          0,
          side,
        );
      default:
        return pad(ids, length, id, side);
    }
  };
  return Object.fromEntries(
    inputs.map(({ name, dtype }) => [
      name,
      integers(
        dtype,
        [rows.length, length],
        rows.flatMap((row) => values(name, row)),
      ),
    ]),
  );
}

function pad(values: readonly number[], length: number, filler: number, side: 'left' | 'right'): readonly number[] {
  const padding = Array.from({ length: length - values.length }, () => filler);
  return side === 'right' ? [...values, ...padding] : [...padding, ...values];
}
