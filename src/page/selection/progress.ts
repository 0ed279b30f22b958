import type { FileProgress, Progress } from '../../contract/archive.js';
import type { WorkerEvent } from '../../contract/wire.js';

type ProgressEvent = Extract<WorkerEvent, { type: 'progress' }>;

/**
 * Adds the progress of all files to the progress of each.
 * Several workers may download the same file, one after the other: it counts once. Neither the sum nor its fraction
 * ever falls.
 */
export class ProgressSum {
  readonly #report: (progress: Progress) => void;
  readonly #files = new Map<string, FileProgress>();
  #last: FileProgress | undefined;
  #isFinished = false;
  #allKnown = false;
  #fraction: number | undefined;
  /** The sum at the last event whose total was known. */
  #loaded = 0;
  /** Where the bar was when the total was first known, or last grew. */
  #start = { fraction: 0, loaded: 0, total: 0 };

  constructor(report: (progress: Progress) => void) {
    this.#report = report;
  }

  /**
   * Adds an event. One that arrives after the end is not reported: a worker's events and its answers have ports of
   * their own.
   */
  add({ progress, planned }: ProgressEvent): void {
    if (this.#isFinished) return;
    const { file, total } = progress;
    const before = this.#files.get(file);
    const loaded = Math.max(progress.loaded, before?.loaded ?? 0);
    this.#files.set(file, {
      ...progress,
      loaded,
      total: total ?? (isPossible(before, loaded) ? before.total : undefined),
    });
    this.#allKnown ||= planned;
    this.#last = progress;
    const sum = this.#sum();
    if (sum.total !== undefined) this.#advance(sum.loaded, sum.total);
    this.#report({ ...progress, overall: { ...sum, fraction: this.#fraction } });
  }

  /**
   * Advances the bar. If the total grows because another file is needed, the bar does not move back: the rest of the
   * bar stands for what is left to load.
   */
  #advance(loaded: number, total: number): void {
    if (total > this.#start.total) this.#start = { fraction: this.#fraction ?? 0, loaded: this.#loaded, total };
    const start = (this.#start = { ...this.#start, total });
    const left = total - start.loaded;
    const fraction = left > 0 ? start.fraction + ((1 - start.fraction) * (loaded - start.loaded)) / left : 1;
    this.#fraction = Math.max(this.#fraction ?? 0, fraction);
    this.#loaded = loaded;
  }

  /** Reports that everything is there. The file of an abandoned engine does not count any more. */
  finish(): void {
    this.#isFinished = true;
    if (!this.#last) return;
    const { loaded } = this.#sum();
    this.#report({ ...this.#last, phase: 'warm-up', overall: { loaded, total: loaded, fraction: 1 } });
  }

  #sum(): Pick<Progress['overall'], 'loaded' | 'total'> {
    let loaded = 0;
    let total: number | undefined = this.#allKnown ? 0 : undefined;
    for (const file of this.#files.values()) {
      loaded += file.loaded;
      // A size that was known beforehand may prove too small.
      if (total !== undefined) total = file.total === undefined ? undefined : total + Math.max(file.total, file.loaded);
    }
    return { loaded, total };
  }
}

/** Returns whether the size that was reported earlier may still be right. */
function isPossible(before: FileProgress | undefined, loaded: number): before is FileProgress & { total: number } {
  return before?.total !== undefined && loaded <= before.total;
}
