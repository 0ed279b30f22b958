/** The nodes of a model, and what they say of it. Field numbers: `onnx.proto` of ONNX (IR version 10). */
import { all, find, numberIn, text } from './protobuf.js';

/** The number of the field of nodes, in a graph and in a function. */
export const [GRAPH_NODE, FUNCTION_NODE] = [1, 7];

/**
 * Returns the nodes of a graph, and of the branches and loops in it.
 * @param graph the message of a graph or a function
 * @param field the number of its field of nodes
 */
export function nodesOf(graph: Uint8Array, field: number): readonly Uint8Array[] {
  return all(graph, field).flatMap(withInner);
}

/** Returns a node, and those of the branches and loops in it. */
export function withInner(node: Uint8Array): readonly Uint8Array[] {
  const inner = all(node, 5).flatMap((attribute) => [...all(attribute, 6), ...all(attribute, 11)]);
  return [node, ...inner.flatMap((graph) => nodesOf(graph, GRAPH_NODE))];
}

/** Returns the operator of a node. */
export function operatorOf(node: Uint8Array): string {
  return text(find(node, 4));
}

/** `MatMulNBits` of this accuracy level quantizes its input to 8 bits; below it, it computes with floating-point numbers. */
const INT8_LEVEL = 4;

/**
 * Returns whether a node computes the scale of what it quantizes from the numbers of the run: a row's numbers then
 * depend on what runs beside it.
 */
export function hasDynamicScale(node: Uint8Array): boolean {
  const op = operatorOf(node);
  if (op.startsWith('DynamicQuantize')) return true;
  if (op !== 'MatMulNBits') return false;
  return all(node, 5).some((one) => text(find(one, 1)) === 'accuracy_level' && numberIn(one, 3) === INT8_LEVEL);
}

/**
 * Returns whether nodes have a Pad that may be before a pooling, with others between them that ONNX Runtime removes or
 * moves.
 */
export function padsAndPools(nodes: readonly Uint8Array[]): boolean {
  const operators = new Set(nodes.map(operatorOf));
  return operators.has('Pad') && (operators.has('MaxPool') || operators.has('AveragePool'));
}
