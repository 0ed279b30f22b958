import type { CandidateName } from '../../src/index.js';
import type { LabModel } from './models.js';
import type { ReadModel } from './read-model.js';

/** A model whose ONNX file is on this device, and what the file says. */
export interface Opened {
  readonly model: LabModel;
  readonly read: ReadModel;
  /** What the file says about a backend. */
  readonly notes: Readonly<Partial<Record<CandidateName, string>>>;
}

/** A note names this many operators and dtypes. */
const NAMED = 6;

/** Downloads the ONNX file of a sample and reads it, or reads the visitor's own. @throws what is wrong with it */
export async function openFile(model: LabModel, signal?: AbortSignal): Promise<Opened> {
  const [{ readModel }, { TABLES }] = await Promise.all([import('./read-model.js'), import('./operator-tables.js')]);
  const { onnx } = model.weights;
  const file = onnx instanceof File ? onnx : await download(onnx!, signal);
  const read = await readModel(file, TABLES);
  const { webgl, webgpu } = read.beyond;
  return {
    model: { ...model, weights: { ...model.weights, onnx: file } },
    read,
    notes: {
      ...(webgpu.length > 0 && { 'onnx/webgpu': `Not among its operators: ${listed(webgpu)}. The CPU computes them.` }),
      ...(webgl.length > 0 && { 'onnx/webgl': `Not among its operators and types: ${listed(webgl)}.` }),
    },
  };
}

async function download(url: string, signal: AbortSignal | undefined): Promise<File> {
  const response = await fetch(url, signal ? { signal } : {});
  if (!response.ok)
    throw new Error(`${url} could not be downloaded: the server answered ${response.status}. Try again later.`);
  return new File([await response.blob()], url.split('/').at(-1)!);
}

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
