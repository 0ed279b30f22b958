/** How far the work on a recording is. */
export interface HearingProgress {
  /** How much of `total` has been heard, in what the handler says: windows of its model, chunks, models. */
  readonly done: number;
  readonly total: number;
}
