const COLUMNS = 60;

/**
 * Returns lines that show what happened when, one line a step: from when to when in milliseconds, and the step that had
 * ended last before it, for which it waited if no time lies between them.
 * @param {readonly { name: string, start: number, end: number, bytes?: number }[]} spans the first one is the whole
 */
export function waterfall([whole, ...spans]) {
  const at = (time) => time - whole.start;
  const steps = spans
    .filter(({ start, end }) => end > whole.start && start < whole.end)
    .map(({ name, start, end, bytes }) => ({ name: shortName(name), start: at(start), end: at(end), bytes }))
    .toSorted((a, b) => a.start - b.start || b.end - a.end);
  const width = Math.max(...steps.map(({ name }) => name.length));
  const total = at(whole.end);
  return steps.map(({ name, start, end, bytes }) => {
    const [from, to] = [start, end].map((time) => Math.round((Math.max(0, time) / total) * COLUMNS));
    const bar = `${' '.repeat(from)}${'█'.repeat(Math.max(1, to - from))}`.slice(0, COLUMNS).padEnd(COLUMNS);
    const before = steps.filter((one) => one.end <= start + 0.5).toSorted((a, b) => b.end - a.end)[0];
    const waits = before ? `${Math.max(0, start - before.end).toFixed(0)} ms after ${before.name}` : '';
    const size = bytes ? `, ${(bytes / 1000).toFixed(0)} kB` : '';
    return `${name.padEnd(width)} ${start.toFixed(0).padStart(6)} to ${end.toFixed(0).padStart(6)} |${bar}| ${waits}${size}`;
  });
}

function shortName(name) {
  return name.includes('://') ? `GET ${name.replace(/^.*\/|[?#].*$/g, '') || '/'}` : name.replace(/^tabserve /, '');
}
