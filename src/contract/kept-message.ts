/**
 * A value that the page retains, as a worker gets it: an input that the app asks about again (`client.keep`), or a
 * sequence's state.
 */
export interface KeptMessage<Value = unknown> {
  /**
   * The key by which the value, or what a handler computes from it, is in `context.kept`. No other value has it, in any
   * tab.
   */
  readonly keptKey: string;
  /** The value itself. Missing if the worker has said that it has something under this key. */
  readonly value?: Value;
}

/** Returns whether an input is one that the page retains. */
export function isKept<Input>(input: Input | KeptMessage<Input>): input is KeptMessage<Input> {
  return typeof input === 'object' && input !== null && 'keptKey' in input;
}
