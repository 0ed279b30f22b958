import type { CandidateName, PowerPreference, Probe } from '../../contract/backends.js';
import { probeBackends } from '../engines/probe.js';
import { fetchUnlessForbidden } from '../engines/forbidden-requests.js';
import { canShareMemory, defaultThreads } from '../../shared/threads.js';

/** What a Web Worker and a worker thread of Node do in different ways. */
export interface Platform {
  /** Probes what the backends need. @param needsGpus whether to look for GPUs @param powerPreference for which ones */
  readonly probe: (needsGpus: boolean, powerPreference?: PowerPreference) => Promise<Probe>;
  /**
   * Returns the number of threads for a candidate.
   * @param wanted what the page or the archive's config asks for.
   * @param maxWorkers how many workers may share the cores
   */
  readonly threads: (candidate: CandidateName, wanted: number | undefined, maxWorkers: number) => number;
  /** Downloads the model's files, and the engine's. */
  readonly fetch: typeof fetch;
}

/** Returns the platform of a Web Worker. */
export function browserPlatform(): Platform {
  return {
    probe: probeBackends,
    threads: (candidate, wanted, maxWorkers) => (candidate === 'onnx/wasm' ? threadCount(wanted, maxWorkers) : 1),
    fetch: fetchUnlessForbidden(globalThis),
  };
}

/**
 * Returns the number of threads to ask of WASM: `wanted`, or the default for this many workers, which is 1 if memory
 * cannot be shared.
 */
export function threadCount(wanted: number | undefined, maxWorkers: number): number {
  return wanted ?? (canShareMemory() ? defaultThreads(navigator.hardwareConcurrency || 1, maxWorkers) : 1);
}
