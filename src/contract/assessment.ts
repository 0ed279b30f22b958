/** What is known of a model before a byte of its weights is downloaded. */
import type { Archive } from './archive.js';
import type { Candidate, Probe, Skipped } from './backends.js';
import type { Precision } from './precisions.js';

/** The handler of a model. */
export interface AssessedHandler {
  /** Undefined if no built-in handler follows from the model's files. */
  readonly name: string | undefined;
  /** Where the name comes from; without one, which handlers may serve the model, and how to choose one. */
  readonly reason: string;
}

/** A file that a model may be in. */
export interface AssessedFile {
  /** The node whose model it is, if the model has several parts or is a workflow; `''` otherwise. */
  readonly node: string;
  /** Its path in the archive. */
  readonly path: string;
  /** Undefined if the model is there in one precision only. */
  readonly precision?: Precision;
  /** With the files of its weights; undefined if the server does not say it. */
  readonly bytes: number | undefined;
}

/** What a worker finds out about a model. */
export interface Assessed {
  readonly archive: Archive;
  readonly handler: AssessedHandler;
  /** Those that exist. */
  readonly files: readonly AssessedFile[];
}

/** What this device has for a model. */
export interface AssessedDevice extends Probe {
  /** How many threads a model on WASM computes with. */
  readonly threads: number;
  /** Bytes that this origin may still store; undefined if the browser does not say. */
  readonly freeStorage: number | undefined;
}

/** A precision that a backend does not get. */
export interface LeftOut extends Pick<AssessedFile, 'node'> {
  readonly precision: Precision;
  readonly reason: string;
}

/** A backend that `load` would try. */
export interface AssessedBackend extends Candidate {
  /** The files that it gets: one for each part of the model. */
  readonly files: readonly AssessedFile[];
  /** The precisions that it does not get. */
  readonly excluded: readonly LeftOut[];
  /** The size of these files; undefined if that of one is not known. */
  readonly bytes: number | undefined;
  /**
   * About how many bytes of memory the open model takes. What a run needs in addition depends on the inputs: in models
   * of large pictures, it may be far more. Undefined on a server, and if the size is not known.
   */
  readonly memory: number | undefined;
  /** Why the model may run badly or not at all here; empty if nothing is known that speaks against it. */
  readonly concerns: readonly string[];
}

/** What `assess` returns. */
export interface Assessment {
  readonly modelName: string;
  readonly handler: AssessedHandler;
  /** All files that the model may be in. */
  readonly files: readonly AssessedFile[];
  readonly device: AssessedDevice;
  /**
   * What `load` would try, in this order. The first that runs the model correctly serves; with `prefer: 'fastest'`, the
   * fastest of them.
   */
  readonly backends: readonly AssessedBackend[];
  /** The backends that are left out or tried last, with the reasons. */
  readonly skipped: readonly Skipped[];
}
