import { BACKENDS, type BackendName, type Probe, type Skipped } from '../contract.js';
import { TabServeError } from '../errors.js';

/** An engine on a backend, worth a try. */
export interface Candidate {
  readonly engine: 'onnx';
  readonly name: BackendName;
}

export interface Candidates {
  /** In the order in which they are to be tried. */
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly Skipped[];
}

/**
 * From what the browser has to what to try, and why not the rest. A pure function.
 *
 * Default: WebGPU on real hardware, then WASM, then WebGPU in software. ONNX Runtime's WebGL computes some models wrongly and says nothing,
 * so it is tried only when it is named.
 * @param named the caller's own choice and order, of which only what this browser has not is left out
 * @throws `model-config` for a name that is no backend
 */
export function chooseCandidates(probe: Probe, available: readonly BackendName[], named?: readonly BackendName[]): Candidates {
  for (const name of named ?? []) {
    if (!BACKENDS.includes(name)) throw new TabServeError('model-config', `backends: "${String(name)}" is none; expected ${BACKENDS.join(', ')}.`);
  }
  const first: Candidate[] = [];
  const last: Candidate[] = [];
  const skipped: Skipped[] = [];
  for (const name of named ?? BACKENDS) {
    const reason = !available.includes(name) ? 'This worker was built without the engine for it.' : whyNot(probe, name, named !== undefined);
    if (reason === undefined) first.push({ engine: 'onnx', name });
    else skipped.push({ engine: 'onnx', name, reason });
    if (reason !== undefined && !named && name === 'webgpu' && available.includes(name) && probe.webgpu.available) last.push({ engine: 'onnx', name });
  }
  return { candidates: [...first, ...last], skipped };
}

function whyNot(probe: Probe, name: BackendName, named: boolean): string | undefined {
  const found = probe[name];
  if (!found.available) return found.reason;
  // ONNX Runtime's WebGPU is WebAssembly that drives the GPU.
  if (name === 'webgpu' && !probe.wasm.available) return probe.wasm.reason;
  if (named) return undefined;
  if (name === 'webgl') return "ONNX Runtime's WebGL computes some models wrongly; it is tried only when it is named.";
  if (name === 'webgpu' && probe.webgpu.available && probe.webgpu.software) return `The adapter is software (${probe.webgpu.description}), slower than WASM; it is tried last.`;
  return undefined;
}
