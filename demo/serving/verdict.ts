import { inShort, roughly } from './numbers.js';
import type { Rates } from './outcomes.js';
import type { Quantiles } from './recent.js';
import type { Settings } from './settings.js';

/** The measurements that the sentence is made from. */
export interface Sight {
  /** Requests a second that were sent. */
  readonly offered: number;
  readonly rates: Rates;
  /** Requests in the queue. */
  readonly pending: number;
  readonly queue: Quantiles;
  readonly total: Quantiles;
  readonly settings: Settings;
  /** The message of the last other error. */
  readonly failure: string | undefined;
}

export type Level = 'calm' | 'busy' | 'overload' | 'recovering';

/** Requests at random times sometimes come in bursts: up to this share of them may fail by chance. */
const FEW = 0.01;

/** Describes the state in a word and in sentences; `before` is the state before. */
export function verdict(
  { offered, rates, pending, queue, total, settings, failure }: Sight,
  before: Level,
): { readonly level: Level; readonly text: string } {
  const { answered, refused, late, failed } = rates;
  if (failed > 0) return { level: 'overload', text: `${inShort(failed)} requests a second fail: ${failure ?? ''}` };
  if (refused + late > offered * FEW) {
    const sentences = [`Overload: of ${inShort(offered)} requests a second, ${inShort(answered)} are answered.`];
    if (refused > 0)
      sentences.push(`The queue is full, so ${inShort(refused)} a second are refused at once with queue-full.`);
    if (late > 0) sentences.push(`${inShort(late)} a second fail with timeout after ${settings.deadline} ms.`);
    if (late > refused) sentences.push('A smaller queue would refuse them at once instead.');
    sentences.push(`99 % of the answers take at most ${roughly(total[2])}.`);
    return { level: 'overload', text: sentences.join(' ') };
  }
  const few = refused + late > 0 ? ` In bursts, ${inShort(refused + late)} a second fail.` : '';
  const waiting = pending > 2 * settings.batchSize;
  if (waiting && (before === 'overload' || before === 'recovering')) {
    return {
      level: 'recovering',
      text: `Recovering: no request is refused any more, and the ${pending} in the queue are being answered.`,
    };
  }
  if (waiting && offered > answered * 1.1) {
    return {
      level: 'busy',
      text: `More requests arrive than are answered, so the queue grows: ${pending} of ${settings.jobQueueSize}.`,
    };
  }
  if (offered === 0) return { level: 'calm', text: 'Paused: no requests are sent.' };
  const answers = `95 % within ${roughly(total[1])}, up to ${roughly(queue[1])} of it in the queue.${few}`;
  return waiting
    ? { level: 'busy', text: `Busy: requests wait in the queue, and all are answered, ${answers}` }
    : { level: 'calm', text: `All requests are answered, ${answers}` };
}
