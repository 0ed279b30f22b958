import { el } from '../page/dom.js';
import { batchChart } from './batches.js';
import { frames } from './frames.js';
import { meters } from './meters.js';
import { inShort, roughly } from './numbers.js';
import { plot } from './plot.js';
import type { Rates } from './outcomes.js';
import { stageTable } from './stages.js';
import type { Settings } from './settings.js';
import type { Subject } from './subject.js';
import { verdict, type Level } from './verdict.js';

/** Rates are means over this many updates. */
const MEAN = 4;

export interface Dashboard {
  /** The state in a sentence, the large chart and the meters. */
  readonly element: HTMLElement;
  /** The other charts. */
  readonly more: HTMLElement;
  /** Shows the current values. `possible`: the capacity, in requests a second. */
  show(subject: Subject, settings: Settings, possible: number): void;
  /** Shows that no requests arrive, and why. */
  idle(why: string): void;
  /** Forgets what was measured: another model or backend runs. */
  clear(): void;
  dispose(): void;
}

interface Moment extends Rates {
  readonly offered: number;
}

/** Creates the charts, the meters and a sentence. */
export function dashboard(announce: (text: string) => void): Dashboard {
  const now = meters();
  const drawn = frames();
  const requests = plot({
    title: 'Requests a second, in the last minute',
    series: { answered: 'answered', late: 'timed out', refused: 'refused', offered: 'sent', possible: 'capacity' },
    stacked: ['answered', 'late', 'refused'],
    large: true,
    says: inShort,
  });
  const queue = plot({
    title: 'Queue',
    series: { pending: 'waiting', places: 'size' },
    stacked: ['pending'],
    says: inShort,
  });
  const latency = plot({
    title: 'Latency of answered requests',
    series: { p50: 'p50', p95: 'p95', p99: 'p99' },
    says: roughly,
  });
  const batches = batchChart();
  const stages = stageTable();
  const sentence = el('p', { class: 'verdict' });
  let recent: Moment[] = [];
  let level: Level = 'calm';
  let looks = 0;
  /** Whether the number of workers is being read. */
  let counting = false;

  const countWorkers = async ({ client }: Subject): Promise<void> => {
    if (counting) return;
    counting = true;
    // A client that was disposed of meanwhile rejects.
    const description = await client.describe().catch(() => undefined);
    if (description) now.set({ workers: String(description.workers) });
    counting = false;
  };
  const mean = (of: keyof Moment): number => recent.reduce((sum, moment) => sum + moment[of], 0) / recent.length;

  return {
    element: el('div', { class: 'dashboard' }, sentence, requests.element, now.element),
    more: el(
      'div',
      { class: 'dashboard' },
      el('div', { class: 'plots' }, latency.element, queue.element, batches.element),
      stages.element,
    ),
    show(subject, settings, possible) {
      const { offered, rates } = subject.look();
      const { pendingRequests: pending } = subject.client.jobQueueStatus;
      const { times } = subject;
      const [p50, p95, p99] = times.total;
      recent = [...recent, { offered, ...rates }].slice(-MEAN);
      looks += 1;
      const smooth = {
        answered: mean('answered'),
        refused: mean('refused'),
        late: mean('late'),
        failed: mean('failed'),
      };
      requests.add({ ...smooth, offered: mean('offered'), possible });
      queue.add({ pending, places: settings.jobQueueSize });
      latency.add({ p50, p95, p99 });
      batches.show(subject.batches.counts, settings.batchSize);
      stages.show(times);
      const { engine, name } = subject.client.backend!;
      now.set({
        answered: `${inShort(smooth.answered)}/s`,
        refused: `${inShort(smooth.refused)}/s`,
        late: `${inShort(smooth.late)}/s`,
        queue: `${pending} of ${settings.jobQueueSize}`,
        backend: `${engine}/${name}`,
        latency: roughly(p95),
      });
      if (looks % 2 > 0) return;
      void countWorkers(subject);
      now.set({ frames: `${Math.round(drawn.rate())} frames/s` });
      const before = level;
      const { level: next, text } = verdict(
        {
          offered: mean('offered'),
          rates: smooth,
          pending,
          queue: times.queue,
          total: times.total,
          settings,
          failure: subject.failure,
        },
        before,
      );
      level = next;
      sentence.textContent = text;
      sentence.dataset['level'] = level;
      if (level !== before) announce(text);
    },
    idle(why) {
      recent = [];
      level = 'calm';
      sentence.textContent = why;
      sentence.dataset['level'] = 'idle';
      now.set({ answered: '–', refused: '–', late: '–', queue: '–', workers: '–', backend: '–', latency: '–' });
    },
    clear() {
      for (const one of [requests, queue, latency]) one.clear();
    },
    dispose: drawn.dispose,
  };
}
