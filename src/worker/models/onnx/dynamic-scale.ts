/** Whether a graph quantizes at run time. Field numbers: `onnx.proto` of ONNX (IR version 10). */
import { all, find, numberIn, text } from './protobuf.js';

/** The number of the field of nodes, in a graph and in a function. */
export const [GRAPH_NODE, FUNCTION_NODE] = [1, 7];

/** `MatMulNBits` of this accuracy level quantizes its input to 8 bits; below it, it computes with floating-point numbers. */
const INT8_LEVEL = 4;

/**
 * Returns whether a node of a graph, or of a branch or loop in it, computes the scale of what it quantizes from the
 * numbers of the run: a row's numbers then depend on what runs beside it.
 * @param graph the message of a graph or a function
 * @param nodes the number of its field of nodes
 */
export function hasDynamicScale(graph: Uint8Array, nodes: number): boolean {
  return all(graph, nodes).some((node) => {
    const op = text(find(node, 4));
    if (op.startsWith('DynamicQuantize')) return true;
    const attributes = all(node, 5);
    if (op === 'MatMulNBits')
      return attributes.some((one) => text(find(one, 1)) === 'accuracy_level' && numberIn(one, 3) === INT8_LEVEL);
    return attributes.some((one) =>
      [...all(one, 6), ...all(one, 11)].some((inner) => hasDynamicScale(inner, GRAPH_NODE)),
    );
  });
}
