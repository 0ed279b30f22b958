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

/** Looks over which rates are taken for a sentence: their mean. */
const MEAN = 4;

export interface Dashboard {
  readonly element: HTMLElement;
  /** How it goes, in words. */
  readonly verdict: HTMLElement;
  /** `possible`: what can be answered, in requests a second. */
  show(subject: Subject, settings: Settings, possible: number): void;
  /** Nothing comes in, and why. */
  rest(why: string): void;
  dispose(): void;
}

interface Moment extends Rates {
  readonly offered: number;
  readonly pending: number;
}

/** Meters, charts and a sentence. `measured` is told what can be answered, whenever requests have waited all the time. */
export function dashboard(announce: (text: string) => void, measured: (perSecond: number) => void): Dashboard {
  const now = meters();
  const drawn = frames();
  const requests = plot({
    title: 'Requests a second',
    series: { answered: 'answered', late: 'late', refused: 'refused', offered: 'come in', possible: 'capacity' },
    stacked: ['answered', 'late', 'refused'],
    says: inShort,
  });
  const queue = plot({
    title: 'Queue',
    series: { pending: 'wait', places: 'places' },
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
  /** Asked of the worker once at a time. */
  let counting = false;

  const countWorkers = async ({ client }: Subject): Promise<void> => {
    if (counting) return;
    counting = true;
    // A client that is disposed of meanwhile answers nothing.
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
      // Late answers are nobody's: with them it could answer more than it does.
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
        // ONNX Runtime does not tell on WebGL.
        memory: memory ? bytes(memory * 1e6) : 'not told',
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
      const told = verdict(
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
      level = told.level;
      sentence.textContent = told.text;
      sentence.dataset['level'] = level;
      if (level !== before) announce(told.text);
    },
    rest(why) {
      recent = [];
      level = 'calm';
      sentence.textContent = why;
      sentence.dataset['level'] = 'rest';
      now.set({ answered: '–', refused: '–', late: '–', queue: '–', workers: '–', backend: '–', memory: '–' });
    },
    dispose: drawn.dispose,
  };
}
