import { readOnnxGraph, type OnnxGraph } from '../../src/tools/cli/onnx-graph.js';
import {
  operatorsBeyond,
  webglDtypes,
  type OperatorTable,
  type TableName,
} from '../../src/tools/cli/operator-tables.js';
import { TabServeError } from '../../src/index.js';
import { readGraph } from '../../src/worker/models/onnx/graph.js';

/** A file as large as this is read without its weights, as `readGraph` does. */
const LARGE = 2 ** 24;

/** What an ONNX file says of its model. */
export interface ReadModel extends OnnxGraph {
  /** Operators, and dtypes, that are not in a backend's table. */
  readonly beyond: Readonly<Record<TableName, readonly string[]>>;
}

/** Reads an ONNX file, without opening its model. @throws `model-format`, `unsupported` */
export async function readModel(file: File, tables: Readonly<Record<TableName, OperatorTable>>): Promise<ReadModel> {
  const skeleton = await readGraph(file);
  if (!skeleton && file.size >= LARGE)
    throw new TabServeError('model-format', `${file.name} is damaged, incomplete, or not an ONNX model.`);
  const graph = readOnnxGraph(skeleton ?? new Uint8Array(await file.arrayBuffer()));
  return {
    ...graph,
    beyond: {
      webgpu: operatorsBeyond(tables.webgpu, graph),
      webgl: [...operatorsBeyond(tables.webgl, graph), ...webglDtypes(graph)],
    },
  };
}
