/** An input that the page keeps to ask about it again (`client.keep`), as a worker gets it. */
export interface KeptMessage<Input = unknown> {
  /** By which a handler keeps what it makes of the input, in `context.kept`. No other input has it, in any tab. */
  readonly keptKey: string;
  /** The input itself. Missing if the worker has said that its handler keeps something by this key. */
  readonly value?: Input;
}

/** Returns whether an input is one that the page keeps. */
export function isKept<Input>(input: Input | KeptMessage<Input>): input is KeptMessage<Input> {
  return typeof input === 'object' && input !== null && 'keptKey' in input;
}
