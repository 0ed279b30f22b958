import type { OutputInfo } from '../../contract/tensors.js';
import type { ScoreKind } from './scores.js';

/** The last operator of a graph, in ONNX and in TensorFlow.js, whose numbers are probabilities. */
const PROBABILITIES = new Set(['Softmax', 'Sigmoid', 'HardSigmoid']);
/** Those whose numbers are none: they have any size. A LogSoftmax's softmax is the softmax of its input. */
const LOGITS = new Set(['LogSoftmax', 'Gemm', 'MatMul', 'Conv', 'Conv2D', '_FusedMatMul', 'FusedMatMul']);

/** Returns what the operator that computes an output says of its numbers; undefined if it does not tell. */
export function kindByOperator({ op = '' }: OutputInfo): ScoreKind | undefined {
  return PROBABILITIES.has(op) ? 'probabilities' : LOGITS.has(op) ? 'logits' : undefined;
}

/** Returns what contradicts `handler.output` in the operator that computes a classifier's output; undefined if nothing. */
export function activationFault({ name, op = '' }: OutputInfo, output: ScoreKind): string | undefined {
  if (output === 'logits' && PROBABILITIES.has(op))
    return `handler.output: the model computes "${name}" with ${op}, so it holds probabilities, but output: logits converts them to probabilities once more. Set handler.output to probabilities, or name an output of logits in handler.outputName.`;
  if (output === 'probabilities' && LOGITS.has(op))
    return `handler.output: the model computes "${name}" with ${op}, so it holds no probabilities. Set handler.output to logits, or name an output of probabilities in handler.outputName.`;
  return undefined;
}
