/** The tables of the installed onnxruntime-web. They are loaded when a model is read. */
import webgl from '../../node_modules/onnxruntime-web/docs/webgl-operators.md?raw';
import webgpu from '../../node_modules/onnxruntime-web/docs/webgpu-operators.md?raw';
import { readOperatorTable } from '../../src/tools/cli/operator-tables.js';

export const TABLES = { webgpu: readOperatorTable(webgpu, 'webgpu'), webgl: readOperatorTable(webgl, 'webgl') };
