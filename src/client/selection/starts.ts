import type { Archive } from '../../contract/archive.js';
import {
  CANDIDATES,
  candidateName,
  candidateOf,
  formatsKey,
  type Backend,
  type BackendName,
  type CandidateName,
  type ModelFormat,
} from '../../contract/backends.js';
import { formatOf, readModelUrl } from '../../shared/model-url.js';
import { planCandidates, type PlanOptions } from './order.js';

/** Backends that run wherever the SDK runs, or about which the browser knows nothing: there is nothing to look for. */
const UNPROBED: ReadonlySet<BackendName> = new Set(['wasm', 'cpu', 'remote']);

/**
 * Returns whether the browser's GPUs matter for the choice. What nobody wants is not looked for: that takes tens of milliseconds. A pure function.
 * @param named what the caller has named @param only the only backend that is wanted
 */
export function needsGpus(named: readonly (BackendName | CandidateName)[] | undefined, only?: Backend): boolean {
  const names = only ? [candidateName(only)] : named;
  return names === undefined || names.some((name) => !UNPROBED.has(backendOf(name)));
}

/** The formats that an archive may turn out to have its model in. */
const POSSIBLE: readonly (readonly ModelFormat[])[] = [['onnx'], ['tfjs'], ['onnx', 'tfjs']];

/**
 * Returns the candidate that is tried first, for each set of formats that the archive may turn out to have (`formatsKey`): its engine can start as soon as the formats are known.
 * A set is missing if the choice depends on more than that. A pure function.
 * @param source where the model is; a URL may name the format
 */
export function firstCandidates(
  choice: Omit<PlanOptions, 'archive' | 'proven'>,
  source: unknown,
): Readonly<Record<string, CandidateName>> {
  const format = typeof source === 'string' ? formatOf(readModelUrl(source).file ?? '') : undefined;
  const first = (formats: readonly ModelFormat[], proven: boolean): CandidateName | undefined => {
    const [candidate] = planCandidates({ ...choice, archive: archiveOf(formats), proven }).candidates;
    return candidate && candidateName(candidate);
  };
  const starts: Record<string, CandidateName> = {};
  for (const formats of format ? [[format]] : POSSIBLE) {
    const name = first(formats, true);
    // A server has no engine to start.
    if (name !== undefined && name !== 'remote/http' && name === first(formats, false))
      starts[formatsKey(formats)] = name;
  }
  return starts;
}

/** What is known of an archive that has a model in these formats. */
function archiveOf(formats: readonly ModelFormat[]): Archive {
  const models = Object.fromEntries(formats.map((format) => [format, 'model']));
  return { url: '', manifest: { model: { modelName: '' } }, config: {}, models, files: {}, golden: [], integrity: {} };
}

function backendOf(name: BackendName | CandidateName): BackendName {
  return isCandidate(name) ? candidateOf(name).name : name;
}

function isCandidate(name: string): name is CandidateName {
  return (CANDIDATES as readonly string[]).includes(name);
}
