/** The text that tells OneFormer what to segment. */
import type { Context } from '../../../contract/handler.js';
import type { Tensor, TensorInfo } from '../../../contract/tensors.js';
import { loadScript } from '../../../shared/load-script.js';
import type { Subtask } from './queries.js';
import { integers } from '../../tensors/tensors.js';
import type { HuggingFaceTokenizer } from '../../text/hugging-face.js';

/** The number of tokens, unless the model fixes another: the default of `task_seq_len`. */
const TOKENS = 77;

/** Makes the model's input `task_inputs`, `[rows, tokens]`. */
export class TaskTokens {
  readonly #info: TensorInfo;
  readonly #tokenizer: HuggingFaceTokenizer;

  private constructor(info: TensorInfo, tokenizer: HuggingFaceTokenizer) {
    this.#info = info;
    this.#tokenizer = tokenizer;
  }

  /** Loads the tokenizer. @throws what `loadHuggingFace` throws */
  static async load(info: TensorInfo, { files }: Context): Promise<TaskTokens> {
    const load = await loadScript(async () => (await import('../../text/hugging-face.js')).loadHuggingFace);
    return new TaskTokens(info, await load(files));
  }

  /**
   * Returns the input for the subtask of each row. After the text are zeros, as from transformers'
   * `OneFormerProcessor`, with which the models were trained; its pipeline has the tokenizer's own padding there.
   */
  tensor(subtasks: readonly Subtask[]): Tensor {
    const { dtype, dims } = this.#info;
    const length = typeof dims[1] === 'number' ? dims[1] : TOKENS;
    const rows = subtasks.flatMap((subtask) => {
      const { ids } = this.#tokenizer.encode(`the task is ${subtask}`, undefined, length);
      return Array.from({ length }, (_, at) => ids[at] ?? 0);
    });
    return integers(dtype, [subtasks.length, length], rows);
  }
}
