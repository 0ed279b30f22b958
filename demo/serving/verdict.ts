import { inShort, roughly } from './numbers.js';
import type { Rates } from './outcomes.js';
import type { Quantiles } from './recent.js';
import type { Settings } from './settings.js';

/** What is seen of a client that serves. */
export interface Sight {
  /** Requests a second that came in. */
  readonly offered: number;
  readonly rates: Rates;
  /** Requests that wait. */
  readonly pending: number;
  readonly queue: Quantiles;
  readonly total: Quantiles;
  readonly settings: Settings;
  /** What the last request said that failed otherwise. */
  readonly failure: string | undefined;
}

export type Level = 'calm' | 'busy' | 'overload' | 'recovering';

/** Of requests that come at random, some come in heaps: what fails of them up to this share is chance. */
const FEW = 0.01;

/** How it goes, in a word and in sentences; `before`: what it was. */
export function verdict(
  { offered, rates, pending, queue, total, settings, failure }: Sight,
  before: Level,
): { readonly level: Level; readonly text: string } {
  const { answered, refused, late, failed } = rates;
  if (failed > 0) return { level: 'overload', text: `${inShort(failed)} requests a second fail: ${failure ?? ''}` };
  if (refused + late > offered * FEW) {
    const sentences = [
      `Overload: ${inShort(offered)} requests a second come in, and ${inShort(answered)} are answered.`,
    ];
    if (refused > 0)
      sentences.push(`The queue is full, so ${inShort(refused)} a second are refused at once, with queue-full.`);
    if (late > 0)
      sentences.push(
        `${inShort(late)} a second have waited for ${settings.deadline} ms, and are given up with timeout.`,
      );
    if (late > refused) sentences.push('Fewer places in the queue would refuse them at once instead.');
    sentences.push(
      `${late > 0 ? 'What is answered, is so' : 'What was accepted is answered'} within ${roughly(total[2])} (99 of 100).`,
    );
    return { level: 'overload', text: sentences.join(' ') };
  }
  const few = refused + late > 0 ? ` ${inShort(refused + late)} a second came in a heap too large.` : '';
  const waiting = pending > 2 * settings.batchSize;
  if (waiting && (before === 'overload' || before === 'recovering')) {
    return {
      level: 'recovering',
      text: `Recovering: nothing is refused any more, and the ${pending} that wait are worked off.`,
    };
  }
  if (waiting && offered > answered * 1.1) {
    return {
      level: 'busy',
      text: `More comes in than is answered: the queue fills, ${pending} of its ${settings.jobQueueSize} places are taken.`,
    };
  }
  if (offered === 0) return { level: 'calm', text: 'Nothing comes in.' };
  const answers = `95 of 100 within ${roughly(total[1])}, of which up to ${roughly(queue[1])} in the queue.${few}`;
  return waiting
    ? { level: 'busy', text: `Busy: requests wait for their turn, and are answered, ${answers}` }
    : { level: 'calm', text: `Requests are answered as they come, ${answers}` };
}
