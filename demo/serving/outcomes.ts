import type { MetricsSnapshot } from '../../src/index.js';

/** Requests a second, by outcome. */
export interface Rates {
  readonly answered: number;
  readonly refused: number;
  readonly late: number;
  readonly failed: number;
}

const NOTHING: Rates = { answered: 0, refused: 0, late: 0, failed: 0 };

const OUTCOMES: Readonly<Record<string, keyof Rates>> = { ok: 'answered', 'queue-full': 'refused', timeout: 'late' };

/** Returns a function that turns the client's counters into rates since its last call. */
export function outcomes(): (snapshot: MetricsSnapshot) => Rates {
  let before = NOTHING;
  let at = performance.now();
  return ({ counters }) => {
    const now = performance.now();
    const total = { ...NOTHING };
    for (const { labels, value } of counters['ts_inference_requests_total'] ?? [])
      total[OUTCOMES[labels['outcome']!] ?? 'failed'] += value;
    const rate = (what: keyof Rates): number => ((total[what] - before[what]) * 1000) / (now - at);
    const rates = { answered: rate('answered'), refused: rate('refused'), late: rate('late'), failed: rate('failed') };
    [before, at] = [total, now];
    return rates;
  };
}
