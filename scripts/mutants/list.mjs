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
];
