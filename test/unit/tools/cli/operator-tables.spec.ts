import { expect, test } from '@playwright/test';
import type { OnnxGraph } from '../../../../src/tools/cli/onnx-graph.ts';
import { operatorsBeyond, readOperatorTable } from '../../../../src/tools/cli/operator-tables.ts';

const graph = (opset: number, ...names: readonly string[]): OnnxGraph =>
  ({ operators: names.map((name) => ({ name, domain: '' })), opsets: { 'ai.onnx': opset } }) as unknown as OnnxGraph;

test('operators in versions that a backend has, and in those that it has not', () => {
  const table = readOperatorTable('| [Abs](x) | [6-12](x), [14+](x) |\n| [Clip](x) | [6-10](x) |', 'webgl');
  const beyond = (opset: number, ...names: readonly string[]): readonly string[] =>
    operatorsBeyond(table, graph(opset, ...names));
  expect([6, 12, 14, 30].map((opset) => beyond(opset, 'Abs'))).toEqual([[], [], [], []]);
  expect([5, 13].map((opset) => beyond(opset, 'Abs'))).toEqual([['Abs of opset 5'], ['Abs of opset 13']]);
  expect(beyond(11, 'Clip', 'Identity', 'Unknown')).toEqual(['Clip of opset 11', 'Unknown']);
});
