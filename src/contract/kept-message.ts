/**
 * A value that the page holds, as a worker gets it: an input that the app asks about again (`client.keep`), a sequence's
 * state.
 */
export interface KeptMessage<Value = unknown> {
  /** By which it, or what a handler makes of it, is kept in `context.kept`. No other value has it, in any tab. */
  readonly keptKey: string;
  /** The value itself. Missing if the worker has said that something is kept by this key. */
  readonly value?: Value;
}

/** Returns whether an input is one that the page keeps. */
export function isKept<Input>(input: Input | KeptMessage<Input>): input is KeptMessage<Input> {
  return typeof input === 'object' && input !== null && 'keptKey' in input;
}
