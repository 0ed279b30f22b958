/** When a keyword counts as heard: the rules of openWakeWord's `predict`. */

/** The rules of a request. */
export interface DetectionRules {
  readonly threshold: number;
  /** Steps in a row whose scores must reach the threshold. */
  readonly patience: number;
  /** Steps after a detection in which there is no other. */
  readonly debounce: number;
}

/** The state of one keyword: how many steps in a row have reached the threshold, and how many have passed since its last detection. */
export interface DetectionProgress {
  readonly reached: number;
  readonly since: number;
}

export const DETECTION_START: DetectionProgress = { reached: 0, since: Infinity };

/** Goes on by one step. */
export function follow(
  { reached: before, since }: DetectionProgress,
  score: number,
  { threshold, patience, debounce }: DetectionRules,
): { readonly progress: DetectionProgress; readonly isDetected: boolean } {
  const reached = score >= threshold ? before + 1 : 0;
  const isDetected = reached >= patience && since >= debounce;
  return { progress: { reached, since: isDetected ? 0 : since + 1 }, isDetected };
}
