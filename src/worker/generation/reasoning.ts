/** How models that reason mark it in their answers. */

/** The marks of reasoning. */
export interface ReasoningMarks {
  /** What a chat template has in its text whose model writes these. */
  readonly sign: RegExp;
  readonly begin: string;
  readonly end: string;
  /** Special tokens that are parts of `begin` and of `dropped`. */
  readonly tokens: readonly string[];
  /** Marks of other parts of an answer, which are no text. */
  readonly dropped: readonly string[];
}

const MARKS: readonly ReasoningMarks[] = [
  // gpt-oss: each part of an answer is a message of a channel.
  {
    sign: /<\|channel\|>analysis/,
    begin: '<|channel|>analysis<|message|>',
    end: '<|end|>',
    tokens: ['<|channel|>', '<|message|>', '<|start|>'],
    dropped: ['<|start|>assistant', '<|channel|>final<|message|>', '<|channel|>commentary<|message|>', '<|end|>'],
  },
  // Gemma 4.
  { sign: /<channel\|>/, begin: '<|channel>thought', end: '<channel|>', tokens: ['<|channel>'], dropped: [] },
  // Magistral.
  { sign: /\[THINK\]/, begin: '[THINK]', end: '[/THINK]', tokens: [], dropped: [] },
  { sign: /<\/?think>/, begin: '<think>', end: '</think>', tokens: [], dropped: [] },
];

/** Returns the marks that a chat template's model writes; undefined if it does not reason. */
export function reasoningOf(template: string): ReasoningMarks | undefined {
  return MARKS.find(({ sign }) => sign.test(template));
}

/** Returns whether a prompt ends within reasoning. @param last the text that the answer continues, if it does */
export function opensReasoning({ begin, end }: ReasoningMarks, prompt: string, last: string): boolean {
  if (last !== '') return last.lastIndexOf(begin) > last.lastIndexOf(end);
  return prompt.trimEnd().endsWith(begin);
}
