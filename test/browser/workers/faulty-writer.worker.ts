import { expose, TextGenerator, type Context } from '../../../src/worker.ts';
import type { GenerateTools, GeneratedAnswer, Prompt } from '../../../src/worker/generation/answer.ts';
import { happen } from './happen.ts';

/** After how many tokens of an answer, or of the rest of one, a fault happens. */
const TOKENS = 4;

/** The built-in generator, but a request may end its worker in the middle of an answer. */
class FaultyWriter extends TextGenerator {
  #context!: Context;

  override async inference(
    inputs: readonly (Prompt | undefined)[],
    context: Context,
  ): Promise<readonly (GeneratedAnswer | undefined)[]> {
    this.#context = context;
    return await super.inference(inputs, context);
  }

  protected override async *generate(prompt: Prompt, tools: GenerateTools): ReturnType<TextGenerator['generate']> {
    const context = this.#context;
    let tokens = 0;
    for await (const step of super.generate(prompt, tools)) {
      yield step;
      tokens += step.text.length;
      if (step.text.length > 0 && tokens === TOKENS) await happen('inference', context);
    }
  }
}

expose(FaultyWriter);
