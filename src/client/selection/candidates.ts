import type { Archive } from '../../contract/archive.js';
import {
  BACKENDS,
  CANDIDATES,
  type BackendName,
  type CandidateName,
  type EngineName,
  type Probe,
  type Skipped,
} from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';

/** An engine on a backend, worth a try. */
export interface Candidate {
  readonly engine: EngineName;
  readonly name: BackendName;
}

export function nameOf({ engine, name }: Candidate): CandidateName {
  return `${engine}/${name}` as CandidateName;
}

export interface Candidates {
  /** In the order in which they are to be tried. */
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly Skipped[];
}

/** What there is to choose from. */
export interface Choice {
  /** What the browser has. */
  readonly probe: Probe;
  /** The engines that the worker was built with. */
  readonly built: readonly CandidateName[];
  /** The formats that the archive has its model in. */
  readonly models: Archive['models'];
  /** Whether each candidate will be proven right before it is taken. */
  readonly proven?: boolean;
  /**
   * The caller's own choice and order. A candidate's name means that one. A backend's name means every engine that the archive has a model for, ONNX Runtime first,
   * but for `webgl`: there ONNX Runtime is meant only where TensorFlow.js has no model, or is not built in.
   */
  readonly named?: readonly (BackendName | CandidateName)[] | undefined;
}

/**
 * From what the browser has to what to try, and why not the rest. A pure function.
 *
 * Default: WebGPU on real hardware, WebGL on real hardware, WASM, then GPUs in software; on each, ONNX Runtime before TensorFlow.js.
 * ONNX Runtime's WebGL computes some models wrongly and says nothing: it is tried only when it is to be proven, or named. Plain JavaScript is slow: only when named.
 * Candidates whose format the archive lacks are left out without a word, unless they are named.
 * @throws `model-config` for a name that is no backend
 */
export function chooseCandidates({ probe, built, models, named, proven = false }: Choice): Candidates {
  const wanted = named
    ? [...new Set(named.flatMap(expand))]
    : CANDIDATES.filter((name) => models[split(name).engine] !== undefined);
  const candidates: Candidate[] = [];
  const last: Candidate[] = [];
  const skipped: Skipped[] = [];
  for (const name of wanted) {
    const candidate = split(name);
    const skip = (reason: string): void => void skipped.push({ ...candidate, reason });
    const missing = whatLacks(name, { probe, built, models });
    const unnamed = named?.includes(name)
      ? undefined
      : whyOnlyNamed(name, named !== undefined, { built, models, proven });
    if (missing !== undefined) skip(missing);
    else if (unnamed !== undefined) skip(unnamed);
    else if (!named && isSoftware(probe, candidate.name)) {
      skip(`The GPU is software (${describeGpu(probe, candidate.name)}), slower than WASM; it is tried last.`);
      last.push(candidate);
    } else candidates.push(candidate);
  }
  return { candidates: [...candidates, ...last], skipped };

  function expand(name: BackendName | CandidateName): CandidateName[] {
    if ((CANDIDATES as readonly string[]).includes(name)) return [name as CandidateName];
    if (!(BACKENDS as readonly string[]).includes(name)) {
      throw new TabServeError(
        'model-config',
        `backends: "${String(name)}" is none; expected ${[...BACKENDS, ...CANDIDATES].join(', ')}.`,
      );
    }
    const all = CANDIDATES.filter((candidate) => split(candidate).name === name);
    const possible = all.filter((candidate) => models[split(candidate).engine] !== undefined);
    return possible.length > 0 ? possible : all;
  }
}

function split(name: CandidateName): Candidate {
  const [engine, backend] = name.split('/') as [EngineName, BackendName];
  return { engine, name: backend };
}

const FORMATS: Readonly<Record<EngineName, string>> = { onnx: 'ONNX', tfjs: 'TensorFlow.js' };

function whatLacks(candidate: CandidateName, { probe, built, models }: Omit<Choice, 'named'>): string | undefined {
  const { engine, name } = split(candidate);
  if (models[engine] === undefined) return `The archive has no ${FORMATS[engine]} model.`;
  if (!built.includes(candidate)) return 'This worker was built without the engine for it.';
  if (name === 'cpu') return undefined;
  const found = probe[name];
  if (!found.available) return found.reason;
  // ONNX Runtime's WebGPU is WebAssembly that drives the GPU.
  if (candidate === 'onnx/webgpu' && !probe.wasm.available) return probe.wasm.reason;
  return undefined;
}

/** Why a candidate wants to be named itself; `byBackend`: its backend was. */
function whyOnlyNamed(
  candidate: CandidateName,
  byBackend: boolean,
  choice: Pick<Choice, 'built' | 'models' | 'proven'>,
): string | undefined {
  if (candidate === 'tfjs/cpu' && !byBackend) return 'Plain JavaScript is slow; it is tried only when it is named.';
  if (candidate !== 'onnx/webgl' || choice.proven) return undefined;
  if (!byBackend)
    return "ONNX Runtime's WebGL computes some models wrongly; it is tried only when it can be proven, or is named.";
  const better = choice.models.tfjs !== undefined && choice.built.includes('tfjs/webgl');
  return better
    ? "ONNX Runtime's WebGL computes some models wrongly, and TensorFlow.js has this one for WebGL; it is tried only when it is named onnx/webgl."
    : undefined;
}

function isSoftware({ webgpu, webgl }: Probe, name: BackendName): boolean {
  return (
    (name === 'webgpu' && webgpu.available && webgpu.software) ||
    (name === 'webgl' && webgl.available && webgl.software)
  );
}

function describeGpu({ webgpu, webgl }: Probe, name: BackendName): string {
  return name === 'webgpu' ? (webgpu.available && webgpu.description) || '' : (webgl.available && webgl.renderer) || '';
}
