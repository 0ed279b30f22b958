/** What an earlier visit found out about a candidate: whether it runs, whether it computes correctly, and how fast it is. */
export interface Verdict {
  /** Config, adapter and browser that the verdict holds for. It does not apply in another environment. */
  readonly environment: string;
  /** The model's hash and the engine's version that the verdict holds for; undefined if the candidate could not be opened. */
  readonly build?: string | undefined;
  /** Whether its outputs were compared with the reference. */
  readonly compared?: boolean | undefined;
  /** How its outputs differ from the reference's; undefined if they are equal within tolerance, or were not compared. */
  readonly wrong?: string | undefined;
  /** Median of a run, in milliseconds. */
  readonly median?: number | undefined;
  /** The precisions of the model that computed wrongly. */
  readonly unfit?: readonly UnfitVerdict[] | undefined;
  /** Why it did not run, or not in time, when it was last measured, and at how many visits that happened. */
  readonly failed?: { readonly reason: string; readonly visits: number } | undefined;
}

/** A precision of the model that computed wrongly on a candidate, where the model is there in several. */
export interface UnfitVerdict {
  /** The node of a workflow; `''` for the archive's own model. */
  readonly node: string;
  readonly precision: string;
  readonly reason: string;
  /** What the archive said of the file and of the golden examples. If it says something else, the verdict does not apply. */
  readonly file: string;
}

/**
 * Stores verdicts. A store that throws, returns anything else than a verdict, or does not answer within a second is treated as empty, and the
 * client's log says so.
 */
export interface VerdictStore {
  get(key: string): Promise<Verdict | undefined>;
  set(key: string, verdict: Verdict): Promise<void>;
  clear(): Promise<void>;
}

/**
 * Returns a copy of a store's answer, or undefined if it does not have the form of a verdict: another version of the SDK, or anything else, may have
 * written it. Each field is read once, because a getter may answer something else the second time.
 */
export function parseVerdict(value: unknown): Verdict | undefined {
  if (!isRecord(value)) return undefined;
  const { environment, build, compared, wrong, median, unfit: list, failed: failure } = value;
  const failed = isRecord(failure) ? { reason: failure['reason'], visits: failure['visits'] } : failure;
  const unfit = Array.isArray(list) ? Array.from(list, copyUnfit) : list;
  const isVerdict =
    typeof environment === 'string' &&
    isOptional(build, (it) => typeof it === 'string') &&
    isOptional(compared, (it) => typeof it === 'boolean') &&
    isOptional(wrong, (it) => typeof it === 'string') &&
    isOptional(median, isDuration) &&
    isOptional(unfit, (it) => Array.isArray(it) && it.every(isUnfit)) &&
    isOptional(failed, (it) => isRecord(it) && typeof it['reason'] === 'string' && isDuration(it['visits']));
  return isVerdict ? ({ environment, build, compared, wrong, median, unfit, failed } as Verdict) : undefined;
}

function copyUnfit(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { node, precision, reason, file } = value;
  return { node, precision, reason, file };
}

function isUnfit(value: unknown): value is UnfitVerdict {
  return isRecord(value) && Object.values(value).every((one) => typeof one === 'string');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isOptional(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value);
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
