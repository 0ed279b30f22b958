/** RunTask is one task of a thread's event loop. */
export const CATEGORIES = [
  'disabled-by-default-devtools.timeline',
  'devtools.timeline',
  'blink.user_timing',
  'toplevel',
];
const TASKS = new Set(['RunTask', 'ThreadControllerImpl::RunTask']);

/**
 * The longest task of the page's main thread during each marked run, in milliseconds: by the clock, in which others may have had the core,
 * and of the thread's own time.
 * @param {string} json Chromium's trace
 * @returns {Record<string, { wall: number, cpu: number }[]>} by contender
 */
export function longestTasks(json) {
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
  const longest = {};
  const started = new Map();
  for (const { name, ts } of marks.sort((a, b) => a.ts - b.ts)) {
    const [, contender, edge] = name.split(' ');
    if (edge === 'start') started.set(contender, ts);
    else (longest[contender] ??= []).push(longestIn(tasks, started.get(contender), ts));
  }
  return longest;
}

function longestIn(tasks, start, end) {
  const during = tasks.filter(({ ts, dur = 0 }) => ts < end && ts + dur > start);
  const longest = (key) => during.reduce((most, task) => Math.max(most, task[key] ?? 0), 0) / 1000;
  return { wall: longest('dur'), cpu: longest('tdur') };
}
