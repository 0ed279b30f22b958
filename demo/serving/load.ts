/** Loads as multiples of the capacity, by name. */
export const PRESETS = { Gentle: 0.5, Full: 1, Overload: 3 } as const;
/** The slider goes from 0 to this multiple, in steps. */
export const MAX_MULTIPLE = 4;
export const STEP = 0.05;

/**
 * The load: a multiple of a capacity that holds still. It is measured once for a model on a backend. Neither the
 * answers under load nor other settings change it, so three times the capacity stays the same number of requests, and
 * one sees what a setting does about them.
 */
export class Load {
  #capacity: number | undefined;
  #multiple: number = PRESETS.Gentle;

  /** Answers a second; undefined until it is measured. */
  get capacity(): number | undefined {
    return this.#capacity;
  }

  get multiple(): number {
    return this.#multiple;
  }

  /** Requests a second; 0 until the capacity is known. */
  get rate(): number {
    return this.#multiple * (this.#capacity ?? 0);
  }

  /** Sets the multiple, to the nearest step of the slider. */
  set(multiple: number): void {
    const steps = Math.round(Math.min(MAX_MULTIPLE, Math.max(0, multiple)) / STEP);
    if (Number.isFinite(steps)) this.#multiple = Number((steps * STEP).toFixed(2));
  }

  /** Sets the capacity, unless it is known. */
  measured(perSecond: number): void {
    this.#capacity ??= perSecond;
  }

  /** Forgets the capacity: another model or backend runs, or the visitor wants it measured again. */
  forget(): void {
    this.#capacity = undefined;
  }
}
