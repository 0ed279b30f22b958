import type { Archive } from '../../contract/archive.js';
import type { Backend, Probe } from '../../contract/backends.js';
import { VERSION } from '../../contract/version.js';
import type { ClientOptions } from '../options/client-options.js';

/** The latest entries, as many as a bug report needs. */
const MAX_ENTRIES = 200;

/** The log of one client: its events in order, each with the time since the client was created. */
export class EventLog {
  readonly #begun = performance.now();
  readonly #entries: string[] = [];

  /** @param since when the event began, by `performance.now()`, if it took time */
  add(what: string, since?: number): void {
    const now = performance.now();
    const took = since === undefined ? '' : ` (${(now - since).toFixed(0)} ms)`;
    this.#entries.push(`${(now - this.#begun).toFixed(0).padStart(8)} ms  ${what}${took}`);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }

  get entries(): readonly string[] {
    return this.#entries;
  }
}

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
    `model: ${archive?.url ?? String(model)}${info ? ` (${`${info.modelName} ${info.modelVersion ?? ''}`.trim()})` : ''}`,
    ...Object.entries(archive?.files ?? {}).map(([path, { size }]) => `  ${path}: ${size} bytes`),
    ...Object.entries(probe ?? {}).map(([name, facts]) => `${name}: ${JSON.stringify(facts)}`),
    `backend: ${JSON.stringify(backend)}`,
    ...events,
  ].join('\n');
}
