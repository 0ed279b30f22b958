/** The report card as text in a link. What a link holds is hostile: all of it is checked, and every text is cut. */
import { CANDIDATES } from '../../src/contract/backends.js';
import { TabServeError, type CandidateName } from '../../src/index.js';
import { PROOFS, type Card, type Device, type Measured, type Skipped } from './card.js';

/** The first value of a link: other numbers are other formats. */
const FORMAT = 1;
/** The maximum number of characters of a link's text, and of the texts that are in it. */
export const MAX_LENGTHS = { link: 12_000, model: 80, browser: 60, gpu: 120, reason: 240 } as const;

/** Returns a card as text of a URL. Texts are cut to `MAX_LENGTHS`, numbers to six digits. */
export function encodeCard({ model, device, at, rows }: Card): string {
  const { browser, gpu, software, cores, threads } = device;
  const values = [
    FORMAT,
    clean(model, MAX_LENGTHS.model),
    Math.round(at / 1000),
    [clean(browser, MAX_LENGTHS.browser), clean(gpu, MAX_LENGTHS.gpu), Number(software), cores, Number(threads)],
    rows.map((row) =>
      row.state === 'skipped'
        ? [row.candidate, clean(row.reason, MAX_LENGTHS.reason)]
        : [
            row.candidate,
            ...[row.median, row.low, row.high].map(short),
            row.proof,
            // JSON has no infinity.
            Number.isFinite(row.error) ? short(row.error) : null,
            short(row.scale),
            clean(row.wrong, MAX_LENGTHS.reason),
          ],
    ),
  ];
  const bytes = new TextEncoder().encode(JSON.stringify(values));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** Reads what `encodeCard` wrote. @throws `invalid-input` for any other text */
export function decodeCard(text: string): Card {
  try {
    if (text.length > MAX_LENGTHS.link) throw new Error(`more than ${MAX_LENGTHS.link} characters`);
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
    return readCard(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch (cause) {
    throw new TabServeError(
      'invalid-input',
      'This link contains no report card: it is cut off, changed, or of another version of this page. Press Run to measure this device.',
      { cause },
    );
  }
}

function readCard(value: unknown): Card {
  const [format, model, at, device, rows] = list(value, 5);
  if (format !== FORMAT) throw new Error('another format');
  const read = list(rows).map(readRow);
  const names = new Set(read.map(({ candidate }) => candidate));
  if (read.length === 0 || names.size < read.length) throw new Error('no rows, or one twice');
  // The largest time of a Date is 8.64e15 milliseconds.
  return {
    model: words(model, MAX_LENGTHS.model),
    at: number(at, 8e12) * 1000,
    device: readDevice(device),
    rows: read,
  };
}

function readDevice(value: unknown): Device {
  const [browser, gpu, software, cores, threads] = list(value, 5);
  return {
    browser: words(browser, MAX_LENGTHS.browser),
    gpu: words(gpu, MAX_LENGTHS.gpu),
    software: number(software, 1) === 1,
    cores: number(cores, 4096),
    threads: number(threads, 1) === 1,
  };
}

function readRow(value: unknown): Measured | Skipped {
  const [name, ...rest] = list(value);
  const candidate = CANDIDATES.find((one) => one === name) as CandidateName | undefined;
  if (!candidate) throw new Error('an unknown candidate');
  if (rest.length === 1) return { candidate, state: 'skipped', reason: words(rest[0], MAX_LENGTHS.reason) };
  const [median, low, high, proof, error, scale, wrong] = list(rest, 7);
  const known = PROOFS.find((one) => one === proof);
  if (!known) throw new Error('an unknown proof');
  return {
    candidate,
    state: 'measured',
    median: number(median),
    low: number(low),
    high: number(high),
    proof: known,
    error: error === null ? Infinity : number(error),
    scale: number(scale),
    wrong: words(wrong, MAX_LENGTHS.reason),
  };
}

function list(value: unknown, length?: number): readonly unknown[] {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length)) throw new Error('not a list');
  return value;
}

function number(value: unknown, most = Number.MAX_VALUE): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) throw new Error('not a number');
  return value;
}

function words(value: unknown, most: number): string {
  if (typeof value !== 'string') throw new Error('not a text');
  return clean(value, most);
}

/** Removes characters that cannot be seen or change the direction of a text, and cuts it. */
function clean(text: string, most: number): string {
  const seen = [...text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')];
  return seen.length > most ? `${seen.slice(0, most - 1).join('')}…` : seen.join('');
}

function short(value: number): number {
  return Number(value.toPrecision(6));
}
