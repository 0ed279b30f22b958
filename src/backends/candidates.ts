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
  const candidates: Candidate[] = [];
  const last: Candidate[] = [];
  const skipped: Skipped[] = [];
  for (const name of named ?? BACKENDS) {
    const skip = (reason: string): void => void skipped.push({ engine: 'onnx', name, reason });
    const missing = !available.includes(name) ? 'This worker was built without the engine for it.' : whatLacks(probe, name);
    if (missing !== undefined) skip(missing);
    else if (named) candidates.push({ engine: 'onnx', name });
    else if (name === 'webgl') skip("ONNX Runtime's WebGL computes some models wrongly; it is tried only when it is named.");
    else if (name === 'webgpu' && probe.webgpu.available && probe.webgpu.software) {
      skip(`The adapter is software (${probe.webgpu.description}), slower than WASM; it is tried last.`);
      last.push({ engine: 'onnx', name });
    } else candidates.push({ engine: 'onnx', name });
  }
  return { candidates: [...candidates, ...last], skipped };
}

function whatLacks(probe: Probe, name: BackendName): string | undefined {
  const found = probe[name];
  if (!found.available) return found.reason;
  // ONNX Runtime's WebGPU is WebAssembly that drives the GPU.
  if (name === 'webgpu' && !probe.wasm.available) return probe.wasm.reason;
  return undefined;
}
