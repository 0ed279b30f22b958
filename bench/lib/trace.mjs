/** RunTask is one task of a thread's event loop. */
export const CATEGORIES = [
  'disabled-by-default-devtools.timeline',
  'devtools.timeline',
  'blink.user_timing',
  'toplevel',
];
/**
 * No more than what `ownTime` reads: the events for DevTools take the page's thread a fifth of a millisecond for each
 * message.
 */
export const TASK_CATEGORIES = ['blink.user_timing', 'toplevel'];
const TASKS = new Set(['RunTask', 'ThreadControllerImpl::RunTask']);

/**
 * The longest task of the page's main thread during each marked run, in milliseconds: by the clock, in which others may
 * have had the core, and of the thread's own time.
 * @param {string} json Chromium's trace
 * @returns {Record<string, { wall: number, cpu: number }[]>} by contender
 */
export function longestTasks(json) {
  return byMark(json, longestIn);
}

/**
 * The own time of the page's main thread during each marked run, in milliseconds, all of its tasks together.
 * @param {string} json Chromium's trace
 * @returns {Record<string, number>} by the marks' name
 */
export function ownTime(json) {
  // With DevTools' categories, a task has two events, one in the other.
  const sum = (tasks) => tasks.reduce((all, { name, tdur = 0 }) => all + (name === 'RunTask' ? 0 : tdur), 0) / 1000;
  return Object.fromEntries(Object.entries(byMark(json, sum)).map(([name, [time]]) => [name, time]));
}

/** Calls `measure` with the tasks of the page's main thread during each marked run. */
function byMark(json, measure) {
  const { traceEvents } = JSON.parse(json);
  const marks = traceEvents.filter(
    ({ cat = '', name }) => cat.includes('blink.user_timing') && /^bench \w+ (start|end)$/.test(name),
  );
  if (marks.length === 0) throw new Error('The trace holds none of our marks.');
  // The page marks from its main thread.
  const [{ pid, tid }] = marks;
  const tasks = traceEvents.filter(
    (event) => event.pid === pid && event.tid === tid && event.ph === 'X' && TASKS.has(event.name),
  );
  if (tasks.length === 0) throw new Error('The trace holds no tasks of the main thread.');
  const measured = {};
  const started = new Map();
  for (const { name, ts } of marks.sort((a, b) => a.ts - b.ts)) {
    const [, contender, edge] = name.split(' ');
    const start = started.get(contender);
    if (edge === 'start') started.set(contender, ts);
    else
      (measured[contender] ??= []).push(
        measure(tasks.filter(({ ts: from, dur = 0 }) => from < ts && from + dur > start)),
      );
  }
  return measured;
}

function longestIn(tasks) {
  const longest = (key) => tasks.reduce((most, task) => Math.max(most, task[key] ?? 0), 0) / 1000;
  return { wall: longest('dur'), cpu: longest('tdur') };
}
