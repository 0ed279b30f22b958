import type { Manifest, ModelConfig } from '../../contract/archive.js';
import { MAX_LABELS_BYTES, MAX_METADATA_BYTES } from '../../contract/limits.js';
import type { ManifestFound } from './archive.js';
import { checkFile } from './integrity.js';
import { readText } from './json.js';
import { EXTRAS, type Extras, LABELS, MANIFEST, outlineOf, readExtras, readManifest } from './manifest.js';
import { textOf } from './read-blob.js';
import { beginFiles } from './side-files.js';
import { type SpeculativeReads, knownOf, type Source } from './sources/source.js';

/** The two files that name the others. */
const INDEX = [MANIFEST, EXTRAS] as const;
type IndexFile = (typeof INDEX)[number];

/** What the two files say. */
export interface Index {
  readonly manifest: Manifest;
  readonly extras: Extras;
}

/**
 * What an earlier visit has stored of an archive's manifest and `tabserve.json`. While the server is asked whether it
 * still has these versions, their copies say which other files to ask for, and which engine to start. If the server has
 * other versions, nothing that was read because of the copies is used.
 */
export class EarlierVisit {
  readonly #source: Source;
  readonly #config: ModelConfig;
  readonly #onManifest: (found: ManifestFound) => void;
  /** Undefined for a file that the server did not have. */
  readonly #copies = new Map<IndexFile, Blob | undefined>();
  #reads: SpeculativeReads | undefined;
  /** What the copies say. */
  #index: Index | undefined;
  /**
   * Resolves when the copies were read and the reads of the other files have begun; undefined until both copies are
   * there.
   */
  #begun: Promise<void> | undefined;
  #isOutdated = false;

  /** @param onManifest called with what the copies say */
  constructor(source: Source, config: ModelConfig, onManifest: (found: ManifestFound) => void) {
    this.#source = source;
    this.#config = config;
    this.#onManifest = onManifest;
  }

  /** Takes the copy of a file. With the last of them, the other files begin to be read. */
  take(file: IndexFile, copy: Blob | undefined): void {
    this.#copies.set(file, copy);
    // A copy that cannot be read, or is damaged, is ignored, because the server's file is being downloaded.
    if (INDEX.every((one) => this.#copies.has(one))) this.#begun = this.#begin().catch(() => {});
  }

  async #begin(): Promise<void> {
    const [own, others] = await Promise.all(
      INDEX.map(async (file) => {
        const copy = this.#copies.get(file);
        return copy && (await readText(copy, file, MAX_METADATA_BYTES));
      }),
    );
    if (own === undefined) return;
    const [manifest, extras] = [readManifest(own), readExtras(others ?? '{}')];
    // `tabserve.json` may have the manifest's hash: a copy with another one is not the manifest that will be read.
    const expected = knownOf(MANIFEST, extras.integrity);
    if (expected) await checkFile(this.#copies.get(MANIFEST)!, expected, MANIFEST);
    if (this.#isOutdated) return;
    this.#index = { manifest, extras };
    const reads = (this.#reads = this.#source.speculate?.());
    if (!reads) return;
    const outline = outlineOf(this.#source.url, manifest, extras);
    const begin: ManifestFound['begin'] = (format) => beginFiles(reads, { ...outline, config: this.#config }, format);
    const { configFile } = manifest.model;
    if (configFile !== undefined) reads.begin(configFile, knownOf(configFile, extras.integrity), MAX_METADATA_BYTES);
    reads.begin(LABELS, knownOf(LABELS, extras.integrity), MAX_LABELS_BYTES);
    beginFiles(reads, { ...outline, config: this.#config });
    this.#onManifest({ manifest, models: outline.models, begin });
  }

  /**
   * Compares the copies with the server's files. If they are the same, the reads that were begun are used; otherwise,
   * they are dropped.
   * @returns what the files say, if that is known from the copies
   */
  async settle(files: Readonly<Record<IndexFile, Blob | undefined>>): Promise<Index | undefined> {
    if (!this.#begun) return undefined;
    const same = await Promise.all(INDEX.map((file) => isSame(this.#copies.get(file), files[file]).catch(() => false)));
    if (same.every(Boolean)) {
      await this.#begun;
      this.#reads?.keep();
      return this.#index;
    }
    this.drop();
    return undefined;
  }

  /** Aborts the reads that were begun: the files are not needed. */
  drop(): void {
    this.#isOutdated = true;
    this.#reads?.drop();
  }
}

async function isSame(copy: Blob | undefined, file: Blob | undefined): Promise<boolean> {
  if (copy === file) return true;
  if (!copy || copy.size !== file?.size) return false;
  const [before, now] = await Promise.all([textOf(copy), textOf(file)]);
  return before === now;
}
