import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OnnxGraph } from './onnx-graph.js';
import { operatorsBeyond, readOperatorTable, type TableName } from './operator-tables.js';

/**
 * Returns the operators of a model that ONNX Runtime cannot compute on a GPU backend, as the installed onnxruntime-web lists them in its own tables.
 * WebGPU leaves them to the CPU, so the model runs, with copies between the two; WebGL refuses the model.
 */
export function missingOperators(graph: OnnxGraph, backend: TableName): readonly string[] {
  const main = createRequire(import.meta.url).resolve('onnxruntime-web');
  const markdown = readFileSync(join(dirname(main), `../docs/${backend}-operators.md`), 'utf8');
  return operatorsBeyond(readOperatorTable(markdown, backend), graph);
}
