import { milliseconds } from '../page/format.js';

/**
 * Says how quickly a text was written.
 * @param wait milliseconds to the first token
 * @param took milliseconds from there to the last one
 */
export function rateOf(count: number, wait: number, took: number): string {
  const perSecond = took > 0 && count > 1 ? ((count - 1) * 1000) / took : undefined;
  const speed = perSecond === undefined ? '' : `, ${perSecond.toFixed(perSecond < 10 ? 1 : 0)} tokens/s`;
  return `${count} ${count === 1 ? 'token' : 'tokens'}${speed}, the first after ${milliseconds(wait)}`;
}
