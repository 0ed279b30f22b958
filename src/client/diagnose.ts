import type { Archive } from '../contract/archive.js';
import type { Backend, Probe } from '../contract/backends.js';
import { VERSION } from '../contract/version.js';
import type { ClientOptions } from './options.js';

/** The facts of a diagnosis. */
interface ClientState {
  readonly model: ClientOptions['model'];
  readonly archive: Archive | undefined;
  readonly probe: Probe | undefined;
  readonly backend: Backend | undefined;
  /** The lines of the client's event log. */
  readonly events: readonly string[];
}

/** Returns text for a bug report: versions, the model's files, what the browser has, the backend, and the event log. */
export function diagnosis({ model, archive, probe, backend, events }: ClientState): string {
  const info = archive?.manifest.model;
  return [
    `tabserve ${VERSION}, ${globalThis.navigator?.userAgent}`,
    `model: ${archive?.url ?? String(model)}${info ? ` (${info.modelName} ${info.modelVersion ?? ''})` : ''}`,
    ...Object.entries(archive?.files ?? {}).map(([path, { size }]) => `  ${path}: ${size} bytes`),
    ...Object.entries(probe ?? {}).map(([name, facts]) => `${name}: ${JSON.stringify(facts)}`),
    `backend: ${JSON.stringify(backend)}`,
    ...events,
  ].join('\n');
}
