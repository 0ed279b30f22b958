import { el } from '../page/dom.js';
import { milliseconds } from '../page/format.js';

/** Who answered, as the visitor sees it. */
export const WHO = {
  here: 'This tab',
  tab: 'Another tab',
  server: 'The server',
  nobody: 'Nobody',
} as const;
export type Who = keyof typeof WHO;

/** The maximum number of answers that are shown. */
const MAX_SHOWN = 60;

export interface Strip {
  readonly element: HTMLElement;
  add(who: Who, time: number): void;
}

/**
 * Shows the last answers as bars, one color for each who answers, with the numbers of all. The higher, the longer it
 * took.
 */
export function strip(): Strip {
  const bars = el('div', { class: 'strip', role: 'img', 'aria-label': 'The last answers' });
  const counts: Record<Who, number> = { here: 0, tab: 0, server: 0, nobody: 0 };
  const values = Object.fromEntries(Object.keys(WHO).map((who) => [who, el('dd', {}, '0')])) as Record<
    Who,
    HTMLElement
  >;
  const tally = el(
    'dl',
    { class: 'strip-tally' },
    ...(Object.keys(WHO) as Who[]).map((who) => el('div', { 'data-who': who }, el('dt', {}, WHO[who]), values[who])),
  );
  return {
    element: el('div', {}, bars, tally),
    add(who, time) {
      counts[who] += 1;
      values[who].textContent = counts[who].toLocaleString('en');
      const bar = el('span', { 'data-who': who, title: `${WHO[who]}, ${milliseconds(time)}` });
      // 1 ms is low, 10 s is the whole height.
      bar.style.height = `${Math.min(100, Math.max(8, 25 * Math.log10(Math.max(time, 1))))}%`;
      bars.append(bar);
      if (bars.children.length > MAX_SHOWN) bars.firstElementChild!.remove();
      const told = (Object.keys(WHO) as Who[]).filter((who) => counts[who] > 0);
      bars.setAttribute('aria-label', `Answers so far: ${told.map((who) => `${WHO[who]} ${counts[who]}`).join(', ')}`);
    },
  };
}
