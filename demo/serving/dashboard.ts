import { el } from '../page/dom.js';
import { bytes } from '../page/format.js';
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

/** Rates are means over so many updates. */
const MEAN = 4;

export interface Dashboard {
  readonly element: HTMLElement;
  /** The state, in words. */
  readonly verdict: HTMLElement;
  /** Shows the current values. `possible`: the capacity, in requests a second. */
  show(subject: Subject, settings: Settings, possible: number): void;
  /** Shows that no requests arrive, and why. */
  idle(why: string): void;
  dispose(): void;
}

interface Moment extends Rates {
  readonly offered: number;
  readonly pending: number;
}

/** Creates the meters, the charts and a sentence. `measured` gets the capacity when it turns out to be another than measured at first. */
export function dashboard(announce: (text: string) => void, measured: (perSecond: number) => void): Dashboard {
  const now = meters();
  const drawn = frames();
  const requests = plot({
    title: 'Requests a second',
    series: { answered: 'answered', late: 'timed out', refused: 'refused', offered: 'sent', possible: 'capacity' },
    stacked: ['answered', 'late', 'refused'],
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
    element: el(
      'div',
      { class: 'dashboard' },
      now.element,
      el('div', { class: 'plots' }, requests.element, queue.element, latency.element, batches.element),
      stages.element,
    ),
    verdict: sentence,
    show(subject, settings, possible) {
      const { offered, rates, snapshot } = subject.look();
      const { pendingRequests: pending } = subject.client.jobQueueStatus;
      const { times } = subject;
      const [p50, p95, p99] = times.total;
      recent = [...recent, { offered, pending, ...rates }].slice(-MEAN);
      looks += 1;
      // Requests that time out cost time too: then the answers are fewer than the capacity.
      const saturated =
        recent.length === MEAN && recent.every(({ pending, late }) => pending >= settings.batchSize && late === 0);
      if ((saturated && mean('answered') < possible * 0.9) || mean('answered') > possible * 1.1)
        measured(mean('answered'));
      requests.add({ ...rates, offered, possible });
      queue.add({ pending, places: settings.jobQueueSize });
      latency.add({ p50, p95, p99 });
      batches.show(subject.batches.counts, settings.batchSize);
      stages.show(times);
      const { engine, name } = subject.client.backend!;
      const memory = snapshot.gauges['MemoryUsed']?.[0]?.value;
      now.set({
        answered: `${inShort(mean('answered'))}/s`,
        refused: `${inShort(mean('refused'))}/s`,
        late: `${inShort(mean('late'))}/s`,
        queue: `${pending} of ${settings.jobQueueSize}`,
        backend: `${engine}/${name}`,
        // ONNX Runtime's WebGL does not report it.
        memory: memory ? bytes(memory * 1e6) : 'unknown',
      });
      if (looks % 2 > 0) return;
      void countWorkers(subject);
      now.set({ frames: `${Math.round(drawn.rate())} frames/s` });
      const smooth = {
        answered: mean('answered'),
        refused: mean('refused'),
        late: mean('late'),
        failed: mean('failed'),
      };
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
      now.set({ answered: '–', refused: '–', late: '–', queue: '–', workers: '–', backend: '–', memory: '–' });
    },
    dispose: drawn.dispose,
  };
}
