import type { Engine, Engines } from '../../worker/engines/engine.js';
import { onnxNode, onnxNodeWasm } from '../../worker/engines/onnx-node.js';
import { remoteHttp } from '../../worker/engines/remote-http.js';
import { tfjsNode } from '../../worker/engines/tfjs-node.js';
import { nativeCalls } from './thread-worker.js';

/** The engines that run under Node: on the CPU, and a server. */
export const nodeEngines = {
  'onnx/cpu': onnxNode(nativeCalls && ((call) => nativeCalls!.run(call))),
  'onnx/wasm': onnxNodeWasm,
  'tfjs/cpu': tfjsNode,
  'remote/http': remoteHttp,
} satisfies Engines;

/** Starts an engine in the calling thread, with one thread. @throws `backend-failed` */
export function startEngine(candidate: keyof typeof nodeEngines): Promise<Engine> {
  return nodeEngines[candidate]({ assets: undefined, threads: 1, onLost: () => {} });
}
