import type { OnnxGraph } from './onnx-graph.js';

/** ONNX Runtime's backends that have a table of their operators in the package onnxruntime-web. */
export type TableName = 'webgl' | 'webgpu';

/** The first and the last version of an operator set. */
type Versions = readonly [from: number, to: number];

/** The versions of each operator that a backend computes, by the operator's name as `OnnxGraph` writes it. */
export type OperatorTable = ReadonlyMap<string, readonly Versions[]>;

/** Reads a table of onnxruntime-web's folder `docs`. */
export function readOperatorTable(markdown: string, backend: TableName): OperatorTable {
  const read = backend === 'webgl' ? webglRow : webgpuRow;
  return new Map(markdown.split(/\r?\n/).flatMap(read));
}

/**
 * Returns the operators of a model that are not in a table, with their version if the table has the operator in other
 * versions.
 */
export function operatorsBeyond(table: OperatorTable, graph: OnnxGraph): readonly string[] {
  return graph.operators.flatMap(({ name, domain }) => {
    // ONNX Runtime replaces these when it loads the graph.
    if (name === 'Constant' || name === 'Identity' || name === 'Dropout') return [];
    const version = graph.opsets[domain || 'ai.onnx'] ?? 1;
    const known = table.get(name);
    if (!known) return [name];
    return known.some(([from, to]) => from <= version && version <= to) ? [] : [`${name} of opset ${version}`];
  });
}

/**
 * Dtypes of inputs, outputs and weights that ONNX Runtime's WebGL refuses, or computes wrongly. int64 weights are
 * shapes, which it takes if they fit in 32 bits.
 */
const NOT_ON_WEBGL = new Set(['float16', 'bfloat16', 'float64', 'int8', 'uint8']);

/** Returns the dtypes of a model that ONNX Runtime's WebGL does not compute. */
export function webglDtypes({ inputs, outputs, weights }: OnnxGraph): readonly string[] {
  const ports = [...inputs, ...outputs].map(({ dtype }) => dtype as string);
  const found = [...ports, ...weights.map(({ dtype }) => dtype)].filter((dtype) => NOT_ON_WEBGL.has(dtype));
  return [...new Set([...found, ...ports.filter((dtype) => dtype === 'int64' || dtype === 'uint64')])];
}

/** Reads a line such as `| [Abs](…) | [6-12](…), [13+](…) |`. */
function webglRow(line: string): [string, Versions[]][] {
  const [, name, versions] = /^\| \[(\w+)\]\([^)]*\) \|(.*)\|$/.exec(line) ?? [];
  if (!name || !versions?.trim()) return [];
  return [[name, [...versions.matchAll(/\[([\d+-]+)\]/g)].map(([, range]) => readRange(range!))]];
}

/** Reads a line such as `| Attention | com.microsoft(1+); ai.onnx(23+) | … |`. */
function webgpuRow(line: string): [string, Versions[]][] {
  const [, name, domains] = /^\| (\w+) \| ([^|]*) \|/.exec(line) ?? [];
  return [...(domains ?? '').matchAll(/([\w.]+)\(([^)]*)\)/g)].map(([, domain, ranges]) => [
    domain === 'ai.onnx' ? name! : `${domain}.${name}`,
    ranges!.split(',').map(readRange),
  ]);
}

/** Reads a range such as `6-12`, `13` or `13+`. */
function readRange(range: string): Versions {
  const [from, to] = range.replace('+', '-Infinity').split('-');
  return [Number(from), Number(to ?? from)];
}
