/** Asks a language model a question that it answers with yes or no. */
import { TabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';
import type { Session } from '../../contract/tensors.js';
import { nextTask } from '../../shared/next-task.js';
import type { HuggingFaceTokenizer } from '../text/hugging-face.js';
import { Decoder } from './decoder.js';
import { readInterface } from './decoder-interface.js';
import type { KeyValueCache } from './key-value-cache.js';
import { checkLogits } from './logits.js';
import { commonLength } from './prefix-cache.js';

/** A language model whose first token is compared with two words. */
export class YesOrNo {
  readonly #decoder: Decoder;
  readonly #yes: number;
  readonly #no: number;

  /** @throws `model-config` if it is no language model, or if `yes` or `no` is no token of its vocabulary */
  constructor(session: Session, tokenizer: Pick<HuggingFaceTokenizer, 'idOf'>) {
    this.#decoder = new Decoder(session, readInterface(session, 'text_generator'));
    this.#yes = tokenOf('yes', tokenizer);
    this.#no = tokenOf('no', tokenizer);
  }

  /**
   * Returns the logit of "yes" minus that of "no" after each prompt: its logistic function is the probability of "yes"
   * if there are only the two.
   * @param head the tokens that most of the prompts begin with: they run once, unless their numbers depend on the rest. A
   *   prompt runs the same way whatever runs beside it, so its number is the same, too.
   * @throws what the session's run throws; `inference-failed` for logits that are no numbers
   */
  async ask(
    prompts: readonly (readonly number[])[],
    head: readonly number[],
    { signal, heartbeat }: Pick<Context, 'signal' | 'heartbeat'>,
  ): Promise<Float32Array> {
    const wanted = prompts.map((prompt) => beginsWith(prompt, head));
    const canShare = this.#decoder.hasCache && !this.#decoder.quantizesAtRunTime && wanted.includes(true);
    const shares = canShare && (await this.#decoder.isCausal(head)) ? wanted : prompts.map(() => false);
    const empty = this.#decoder.emptyCache();
    const shared = shares.includes(true) ? await this.#run(head, empty, signal) : undefined;
    const numbers = new Float32Array(prompts.length);
    try {
      for (const [index, prompt] of prompts.entries()) {
        const { cache, logits } = await this.#run(prompt, shares[index] ? shared!.cache : empty, signal);
        cache.free();
        checkLogits(logits);
        numbers[index] = logits[this.#yes]! - logits[this.#no]!;
        heartbeat();
        await nextTask();
      }
      return numbers;
    } finally {
      shared?.cache.free();
    }
  }

  async #run(
    tokens: readonly number[],
    before: KeyValueCache,
    signal: AbortSignal,
  ): Promise<{ readonly cache: KeyValueCache; readonly logits: Float32Array }> {
    const { cache, logits } = await this.#decoder.run([tokens], before, signal);
    return { cache, logits: logits[0]! };
  }
}

/** Returns whether a prompt begins with these tokens, and has more. */
function beginsWith(prompt: readonly number[], head: readonly number[]): boolean {
  return head.length > 0 && prompt.length > head.length && commonLength(prompt, head) === head.length;
}

function tokenOf(word: string, { idOf }: Pick<HuggingFaceTokenizer, 'idOf'>): number {
  const id = idOf(word);
  if (id !== undefined) return id;
  throw new TabServeError(
    'model-config',
    `The tokenizer has no token "${word}": a language model ranks texts by its probability of "yes", as Qwen3-Reranker does.`,
  );
}
