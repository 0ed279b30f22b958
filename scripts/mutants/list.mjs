/**
 * Mutants: faults that are planted one at a time. Each is a file of `src/`, a part of it that is there once, and what
 * replaces it. They are rules whose fault no visitor would see at once: a test must.
 *
 * @type {readonly (readonly [file: string, part: string, replacement: string])[]}
 */
export const MUTANTS = [
  // Scheduling.
  ['page/workers/budget.ts', 'if (!released) this.#reserved', 'this.#reserved'],
  ['page/workers/budget.ts', 'this.#reserved + threads > this.#cores', 'this.#reserved + threads >= this.#cores'],
  ['page/workers/watchdog.ts', 'const ASLEEP_MS = 2000', 'const ASLEEP_MS = 200000'],
  ['page/workers/watchdog.ts', 'now - due > ASLEEP_MS && !this.#wasLate', 'now - due > ASLEEP_MS'],
  ['page/workers/watchdog.ts', 'if (reached) call.lastHeartbeat = now', 'call.lastHeartbeat = now'],
  ['page/workers/reconciler.ts', 'now - slot.idleSince < IDLE_MS', 'now - slot.idleSince < 10 * IDLE_MS'],
  ['page/workers/reconciler.ts', 'surplus -= 1', 'surplus -= 0'],
  ['page/workers/reconciler.ts', 'if (opening.length > 0) return', 'if (opening.length > 9) return'],
  ['page/workers/reconciler.ts', 'if (now >= state.healAt)', 'if (now > state.healAt)'],
  ['page/workers/recovery.ts', 'const MAX_LOSSES = 2', 'const MAX_LOSSES = 3'],
  ['page/workers/recovery.ts', 'if (job.chunks?.replayable === false) return', 'if (job.chunks) return'],
  ['page/workers/recovery.ts', '> this.#maxSeconds * 1000', '>= this.#maxSeconds * 1000'],
  ['page/workers/slot.ts', 'if (this.isReplaying) return false', ''],
  ['page/workers/slot.ts', 'last > maxMemory && first <= maxMemory', 'last > maxMemory'],
  ['page/workers/slot.ts', 'this.runs >= maxRuns', 'this.runs > maxRuns'],
  ['page/workers/pool-state.ts', 'least.load <= slot.load', 'least.load < slot.load'],
  ['page/requests/queue.ts', 'order > job.order', 'order < job.order'],
  ['page/requests/queue.ts', '!job.batchable || jobs.length === batchSize', 'jobs.length === batchSize'],
  ['page/requests/queue.ts', 'Math.min(...jobs.map', 'Math.max(...jobs.map'],
  ['page/requests/queue.ts', 'lower < 0 ? this.#lanes.length : lower', 'lower'],
  // Proof.
  ['worker/host/compare-outputs.ts', 'worst <= allowed && worst < Infinity', 'worst <= allowed'],
  ['worker/host/compare-outputs.ts', 'Number.isNaN(difference) ? Infinity : difference', 'difference'],
  ['worker/host/compare-outputs.ts', 'tolerance.relative * scale', 'tolerance.relative'],
  ['worker/host/compare-outputs.ts', 'difference > worst', 'difference >= worst'],
  ['worker/host/prove.ts', 'tried.every(({ golden }) => golden > 0)', 'tried.some(({ golden }) => golden > 0)'],
  ['worker/host/prove.ts', 'ran.has(shapesOf(feeds as Tensors))', 'ran.size > 0'],
  ['worker/engines/session.ts', 'Object.hasOwn(feeds, input.name)', 'input.name in feeds'],
  ['worker/engines/session.ts', 'tensor.data.length !== size', 'tensor.data.length < size'],
  // Downloads.
  ['worker/models/download/version.ts', "type !== 'cors'", "type === 'cors'"],
  ['worker/models/download/version.ts', "etag?.startsWith('W/') ? undefined : etag", 'etag'],
  ['worker/models/download/version.ts', 'offset + length === version.size', 'offset + length <= version.size'],
  ['worker/models/download/version.ts', 'if (Number(first) !== offset) return false', ''],
  ['worker/models/download/download-file.ts', 'size < version.size && showsHeaders(response)', 'size < version.size'],
  ['worker/models/download/download-file.ts', 'size > expected.bytes', 'size > expected.bytes + 1'],
  ['worker/models/download/download-file.ts', 'if (!download.bypassCache()) throw error', 'throw error'],
  ['worker/models/download/concurrency.ts', 'running >= most', 'running > most'],
  ['shared/retry.ts', 'if (gotOn) retries = 0', ''],
  ['shared/retry.ts', 'retries >= MAX_RETRIES', 'retries > MAX_RETRIES'],
  ['shared/retry.ts', 'Math.max(backoff, retryAfter)', 'Math.min(backoff, retryAfter)'],
  // Decoders.
  ['worker/tasks/speech/speech.ts', 'now - silentFrom < minSilence', 'now - silentFrom <= minSilence'],
  ['worker/tasks/speech/speech.ts', 'now - from < (rate * minSilence', 'now - from <= (rate * minSilence'],
  ['worker/outputs/boxes/nanodet.ts', 'ymin: cy - distance(1)', 'ymin: cy - distance(3)'],
  ['worker/outputs/boxes/yolov8.ts', 'first <= second ? 0 : 1', 'first < second ? 0 : 1'],
  ['worker/outputs/boxes/boxes.ts', 'xmin: a - c / 2', 'xmin: a - c'],
  // HTTP.
  ['server/http/request-body.ts', 'bytes.length > maxRequestSize', 'bytes.length > 2 * maxRequestSize'],
  ['server/node/http/buffered-bodies.ts', 'this.#total -= body.bytes', 'this.#total -= 0'],
  ['server/http/form.ts', 'if (count > MAX_FIELDS)', 'if (count > MAX_FIELDS + 1)'],
  ['server/node/http/guard.ts', "site === 'same-origin' || ", "site === 'same-site' || site === 'same-origin' || "],
  ['server/node/http/respond.ts', '?.length ?? 0) > 1', '?.length ?? 0) > 2'],
  ['server/node/http/serve-http.ts', 'if (isClosing) outgoing.shouldKeepAlive = false', ''],
  // Generation.
  ['worker/generation/shared-steps.ts', 'const TOLERANCE = 1e-3', 'const TOLERANCE = 1e3'],
  [
    'worker/generation/grammar/targets.ts',
    "decoded.replaceAll('~1', '/').replaceAll('~0', '~')",
    "decoded.replaceAll('~0', '~').replaceAll('~1', '/')",
  ],
  ['worker/generation/logits.ts', 'if (newTokens < minNewTokens)', 'if (newTokens <= minNewTokens)'],
  // Speech.
  ['worker/tasks/transcription/seam.ts', 'if (equal <= 1 || share <= best)', 'if (equal < 1 || share <= best)'],
  ['worker/tasks/transcription/seam.ts', '(leftStart + leftEnd) >> 1', 'leftEnd'],
  ['worker/tasks/transcription/windows.ts', 'heard > 0 ? heard : frames', 'heard'],
  ['worker/tasks/transcription/windows.ts', 'Math.max(first, pair + 1)', 'Math.min(first, pair + 1)'],
  ['worker/tasks/transcription/rules.ts', 'written.length < 2 || isTime(written.at(-2))', 'isTime(written.at(-2))'],
  ['worker/tasks/transcription/rules.ts', 'isAfterTime && !isAfterPair ? last : last + 1', 'last + 1'],
  ['worker/tasks/transcription/transcript.ts', 'const WINDOW_STEPS = 1500', 'const WINDOW_STEPS = 1499'],
  ['worker/tasks/transcription/transcript.ts', 'if (own < latest)', 'if (own <= latest)'],
  ['worker/tasks/transcription/transcript.ts', 'Math.max(this.#start, hundredths(duration))', 'hundredths(duration)'],
  // Tracking.
  ['worker/outputs/tracking/byte-track.ts', 'frame - one.seen <= maxLost + 1', 'frame - one.seen <= maxLost + 2'],
  [
    'worker/outputs/tracking/byte-track.ts',
    'one.seen - one.began > other.seen - other.began',
    'one.seen - one.began < other.seen - other.began',
  ],
  ['worker/outputs/tracking/byte-track.ts', 'const MORE_TO_BEGIN = 0.1', 'const MORE_TO_BEGIN = 0'],
  ['worker/outputs/tracking/byte-track.ts', 'const DUPLICATE = 0.15', 'const DUPLICATE = 0.5'],
  ['worker/outputs/tracking/kalman.ts', 'isLost && at === AT_HEIGHT ? 0 : moved', 'moved'],
  ['worker/outputs/tracking/one-euro.ts', '(size * seconds)', 'size'],
  ['worker/outputs/tracking/assignment.ts', 'if (rows > columns)', 'if (rows > columns + 1)'],
  // Boxes and scores.
  ['worker/outputs/boxes/nms.ts', 'iou(rival, candidate) > iouThreshold', 'iou(rival, candidate) >= iouThreshold'],
  ['worker/outputs/boxes/nms.ts', 'if (kept.length >= limit) break', 'if (kept.length > limit) break'],
  ['worker/outputs/scores.ts', 'b.score - a.score || a.index - b.index', 'b.score - a.score || b.index - a.index'],
  ['worker/outputs/scores.ts', 'Math.exp(logits[i]! - max)', 'Math.exp(logits[i]!)'],
  // Sound, images, tensors.
  ['worker/audio/wav.ts', '(view.getUint8(at) - 128) / 2 ** 7', 'view.getUint8(at) / 2 ** 7'],
  ['worker/tensors/json-row.ts', 'value.length === 1 && depthOf(value) === rank', 'value.length === 1'],
  ['worker/tensors/json-row.ts', 'axis < rank && !Array.isArray(value)', 'axis < rank - 1 && !Array.isArray(value)'],
];
