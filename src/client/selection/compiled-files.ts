import type { CandidateName } from '../../contract/backends.js';
import type { CompiledFile } from '../../contract/wire.js';

/** The compiled engines of this page. Each lives as long as a client, or a worker, that uses it. */
const ofPage = new Map<CandidateName, WeakRef<CompiledFile>>();

/** The compiled engines that one client's workers use. Clients of a page share them, so that each engine is compiled once. */
export class CompiledFiles {
  readonly #used = new Map<CandidateName, CompiledFile>();

  /** Keeps what a worker has compiled. */
  add(candidate: CandidateName, compiled: CompiledFile): void {
    this.#used.set(candidate, compiled);
    ofPage.set(candidate, new WeakRef(compiled));
  }

  /** Returns the candidate's engine, if a worker of the page has compiled it. */
  find(candidate: CandidateName): CompiledFile | undefined {
    const compiled = this.#used.get(candidate) ?? ofPage.get(candidate)?.deref();
    if (compiled) this.#used.set(candidate, compiled);
    return compiled;
  }
}
