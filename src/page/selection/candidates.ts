import type { Archive } from '../../contract/archive.js';
import { enginesOf, partsOf, type Part } from '../../contract/archive-parts.js';
import {
  BACKENDS,
  BROWSER_CANDIDATES,
  candidateName,
  candidateOf,
  CANDIDATES,
  formatOfEngine,
  type BackendName,
  type Candidate,
  type CandidateName,
  type ModelFormat,
  type Probe,
  type Skipped,
} from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import { choosePrecisions, describeExcluded } from './precisions.js';

const FAULTY: CandidateName = 'onnx/webgl';
const WEBNN: CandidateName = 'onnx/webnn';
const REMOTE: CandidateName = 'remote/http';

/**
 * Returns why a candidate may serve a model only once its outputs were proven correct, by the archive's golden examples
 * or by a comparison with WASM. This also applies if it is named. Undefined if it may serve without that.
 */
export function whyProve(candidate: Candidate): string | undefined {
  switch (candidateName(candidate)) {
    case FAULTY:
      return 'It computes some models wrongly';
    case WEBNN:
      return "What WebNN computes with, and how exactly, is the operating system's choice";
    default:
      return undefined;
  }
}

export interface Candidates {
  /** In the order in which to try them. */
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly Skipped[];
}

export interface Choice {
  /** The browser's capabilities. */
  readonly probe: Probe;
  /** The engines that the worker was built with. */
  readonly built: readonly CandidateName[];
  /** The `models` of its parts are the formats that they have their model in; `alternatives`, the precisions. */
  readonly archive: Archive;
  /** Whether the app has named a server of models. @default false */
  readonly hasServer?: boolean | undefined;
  /**
   * Whether every candidate is going to be proven anyway: the archive has golden examples, or the caller wants
   * comparisons.
   */
  readonly proven?: boolean;
  /** Whether the fastest candidate is wanted, so that each of them is measured. @default false */
  readonly measured?: boolean;
  /**
   * The caller's own choice and order. A candidate's name means that one. A backend's name means every engine for which
   * the archive has a model, ONNX Runtime first. Exception: `webgl` means ONNX Runtime only if TensorFlow.js has no
   * model, or is not built in.
   */
  readonly named?: readonly (BackendName | CandidateName)[] | undefined;
}

/**
 * Returns the candidates to try, in order, and a reason for each one that is skipped. A pure function.
 *
 * Default: WebGPU on real hardware, WebGL on real hardware, WASM, then GPUs in software; on each, ONNX Runtime before
 * TensorFlow.js. ONNX Runtime's WebGL is tried if it is going to be proven anyway, or named. WebNN is tried if every
 * candidate is measured, or named. Plain JavaScript is slow: it is tried only if named, or if the worker has nothing
 * else for the archive. Under Node, WASM is tried only if named. A server is asked only if named. A candidate whose
 * format the archive lacks is not mentioned, unless it is named.
 * @throws `model-config` if a name is neither a backend nor a candidate
 */
export function chooseCandidates({
  probe,
  built,
  archive,
  named,
  hasServer = false,
  proven = false,
  measured = false,
}: Choice): Candidates {
  const engines = enginesOf(archive);
  const possibleHere = isNode(built) ? CANDIDATES : BROWSER_CANDIDATES;
  const wanted = named
    ? [...new Set(named.flatMap(expand))]
    : possibleHere.filter((name) =>
        name === REMOTE ? isServed(archive) : engines.some((one) => one === candidateOf(name).engine),
      );
  const candidates: Candidate[] = [];
  const last: Candidate[] = [];
  const skipped: Skipped[] = [];
  for (const name of wanted) {
    const candidate = candidateOf(name);
    const skip = (reason: string): void => void skipped.push({ ...candidate, reason });
    const missing = whatLacks(name, { probe, built, archive, hasServer });
    const unnamed = named?.includes(name)
      ? undefined
      : whyOnlyNamed(name, named !== undefined, { built, engines, proven, measured });
    if (missing !== undefined) skip(missing);
    else if (unnamed !== undefined) skip(unnamed);
    else if (!named && isSoftware(probe, candidate.name)) {
      skip(`The GPU is software (${describeGpu(probe, candidate.name)}), slower than WASM. It is tried last.`);
      last.push(candidate);
    } else candidates.push(candidate);
  }
  return { candidates: [...candidates, ...last], skipped };

  function expand(name: BackendName | CandidateName): CandidateName[] {
    if ((CANDIDATES as readonly string[]).includes(name)) return [name as CandidateName];
    if (!(BACKENDS as readonly string[]).includes(name)) {
      throw new TabServeError(
        'model-config',
        `backends: "${String(name)}" is neither a backend nor a candidate; expected one of ${[...BACKENDS, ...CANDIDATES].join(', ')}.`,
      );
    }
    const all = possibleHere.filter((candidate) => candidateOf(candidate).name === name);
    const possible = all.filter((candidate) => engines.some((one) => one === candidateOf(candidate).engine));
    return possible.length > 0 ? possible : all;
  }
}

/** Returns whether the worker is a thread of Node: no browser's worker has this engine. */
function isNode(built: readonly CandidateName[]): boolean {
  return built.includes('onnx/cpu');
}

/** Returns whether an archive says which model of a server it is for. */
function isServed(archive: Archive): boolean {
  return partsOf(archive).some((part) => part.archive.config.engine?.remote !== undefined);
}

const FORMATS: Readonly<Record<ModelFormat, string>> = { onnx: 'ONNX', tfjs: 'TensorFlow.js' };

function whatLacks(candidate: CandidateName, choice: Omit<Choice, 'named'>): string | undefined {
  const { probe, built, archive, hasServer } = choice;
  const { engine, name } = candidateOf(candidate);
  const format = formatOfEngine(engine);
  const parts = partsOf(archive);
  const lacking = format && parts.find((part) => part.archive.models[format] === undefined);
  if (lacking) return `${nameOf(lacking)} has no ${FORMATS[format]} model.`;
  if (!built.includes(candidate)) {
    if (candidate === 'onnx/cpu') return 'It runs under Node only.';
    if (isNode(built)) return 'It runs in a browser only.';
    return `"${candidate}" is not among the worker's engines. To use it, add it in the Vite plugin or expose.`;
  }
  if (name === 'remote')
    return hasServer
      ? undefined
      : 'No server is named: set the option remote, such as { url }, and name it in backends.';
  if (name === 'cpu') return undefined;
  const found = probe[name];
  if (!found.available) return found.reason;
  // On these, ONNX Runtime is WebAssembly that drives the GPU, or WebNN.
  if ((candidate === 'onnx/webgpu' || candidate === WEBNN) && !probe.wasm.available) return probe.wasm.reason;
  for (const { node, archive: part } of parts) {
    const precisions = choosePrecisions({ engine, name }, part, probe);
    if (precisions?.wanted.length !== 0) continue;
    const model = node === '' ? 'the model' : `the model of node "${node}"`;
    return `It gets no precision that ${model} is there in. ${describeExcluded(precisions.excluded)}.`;
  }
  return undefined;
}

function nameOf({ node }: Pick<Part, 'node'>): string {
  return node === '' ? 'The archive' : `Node "${node}"`;
}

/** Returns why a candidate is tried only if it is named itself. @param byBackend whether its backend was named */
function whyOnlyNamed(
  candidate: CandidateName,
  byBackend: boolean,
  choice: Pick<Choice, 'built' | 'proven' | 'measured'> & { readonly engines: readonly ModelFormat[] },
): string | undefined {
  if (candidate === REMOTE && !byBackend)
    return "A server is asked only if it is named: add 'remote' to backends, and set the option remote.";
  const others = choice.built.filter(
    (name) => name !== candidate && choice.engines.some((one) => one === candidateOf(name).engine),
  );
  if (candidate === 'tfjs/cpu' && !byBackend && others.length > 0)
    return 'Plain JavaScript is slow. It is tried only if it is named.';
  if (candidate === 'onnx/wasm' && !byBackend && isNode(others))
    return 'Under Node, it is slower than onnx/cpu. It is tried only if it is named.';
  if (candidate === WEBNN && !byBackend && !choice.measured)
    return "It is tried only if it is named, or with prefer: 'fastest', which measures whether it is faster.";
  if (candidate !== FAULTY || choice.proven) return undefined;
  const faulty = "ONNX Runtime's WebGL computes some models wrongly";
  if (!byBackend)
    return `${faulty}. It is tried only if the archive has golden examples, with verify: 'reference', or if it is named.`;
  const better = choice.engines.includes('tfjs') && choice.built.includes('tfjs/webgl');
  return better
    ? `${faulty}, and the archive has a TensorFlow.js model for WebGL. Name onnx/webgl to try it.`
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
