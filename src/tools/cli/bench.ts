import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { extname } from 'node:path';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { numberFlag, wrongFlag } from './flags.js';

/** The flags of `tabserve bench`. */
export interface BenchFlags {
  readonly input?: string | undefined;
  readonly 'content-type'?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly concurrency?: string | undefined;
  readonly duration?: string | undefined;
  readonly 'warm-up'?: string | undefined;
  readonly report?: string | undefined;
}

/** What a load has shown. Times are milliseconds. */
interface BenchReport {
  readonly url: string;
  readonly concurrency: number;
  /** Seconds that were measured. */
  readonly duration: number;
  /** Answers in that time. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** How many requests had no answer, by the reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** The latencies of answers with a status below 400; missing if there were none. */
  readonly latency?: Readonly<Record<'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'max', number>>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.txt': 'text/plain',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.wav': 'audio/wav',
};

/**
 * Sends requests to a server, with a fixed number at once, and measures the answers.
 * @throws `model-config` for a wrong flag; `network` if the server answers nothing
 */
export async function bench(url: string, flags: BenchFlags, print: (text: string) => void): Promise<boolean> {
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    throw new TabServeError(
      'model-config',
      `bench takes the URL of a request, such as http://127.0.0.1:8080/predictions/NAME, not ${url}.`,
    );
  const concurrency = numberFlag('concurrency', flags.concurrency, 1, 10_000) ?? 8;
  const duration = numberFlag('duration', flags.duration, 1, 86_400) ?? 10;
  const warmUp = numberFlag('warm-up', flags['warm-up'], 0, 86_400) ?? 2;
  const body = flags.input === undefined ? undefined : await inputOf(flags.input);
  const load = new Load(new URL(url), concurrency, body, headersOf(flags, body));
  if (warmUp > 0) await load.run(warmUp * 1000);
  const report = { url, concurrency, ...(await load.run(duration * 1000)) };
  load.close();
  print(textOf(report));
  if (flags.report !== undefined) await writeFile(flags.report, `${JSON.stringify(report, undefined, 2)}\n`);
  if (report.requests === 0)
    throw new TabServeError('network', `${url} has answered nothing: ${Object.keys(report.failures).join('; ')}`);
  return (
    Object.keys(report.failures).length === 0 && Object.keys(report.statuses).every((status) => Number(status) < 400)
  );
}

async function inputOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new TabServeError('model-config', `--input: ${messageOf(cause as Error)}`, { cause });
  }
}

function headersOf(flags: BenchFlags, body: Buffer | undefined): Record<string, string> {
  const own = (flags.header ?? []).map((line) => {
    const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) throw wrongFlag('header', 'NAME: VALUE', line);
    return [name, value!] as const;
  });
  const type = flags['content-type'] ?? TYPES[extname(flags.input ?? '').toLowerCase()] ?? 'application/octet-stream';
  return {
    ...(body && { 'Content-Type': type, 'Content-Length': String(body.byteLength) }),
    ...Object.fromEntries(own),
  };
}

/** How long a server may send nothing. */
const SILENCE_MS = 60_000;

/** A load on one server. Its connections stay open from one run to the next. */
class Load {
  readonly #url: URL;
  readonly #concurrency: number;
  readonly #body: Buffer | undefined;
  readonly #options: RequestOptions;
  readonly #agent: Agent;

  constructor(url: URL, concurrency: number, body: Buffer | undefined, headers: Record<string, string>) {
    this.#url = url;
    this.#concurrency = concurrency;
    this.#body = body;
    const isSecure = url.protocol === 'https:';
    this.#agent = new (isSecure ? TlsAgent : Agent)({ keepAlive: true, maxSockets: concurrency });
    this.#options = { method: body ? 'POST' : 'GET', headers, agent: this.#agent };
  }

  /** Runs for a time. It waits for requests that are under way at its end, and does not count them. */
  async run(milliseconds: number): Promise<Omit<BenchReport, 'url' | 'concurrency'>> {
    const statuses: Record<string, number> = {};
    const failures: Record<string, number> = {};
    const latencies: number[] = [];
    let bytes = 0;
    const started = performance.now();
    const until = started + milliseconds;
    const one = async (): Promise<void> => {
      while (performance.now() < until) {
        const begun = performance.now();
        try {
          const answer = await this.#send();
          const now = performance.now();
          if (now > until) return;
          statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
          bytes += answer.bytes;
          if (answer.status < 400) latencies.push(now - begun);
        } catch (error) {
          const why = messageOf(error as Error);
          failures[why] = (failures[why] ?? 0) + 1;
          // A missing server refuses thousands of connections per second.
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    };
    await Promise.all(Array.from({ length: this.#concurrency }, one));
    const seconds = milliseconds / 1000;
    const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    return {
      duration: seconds,
      requests,
      requestsPerSecond: requests / seconds,
      bytesPerSecond: bytes / seconds,
      statuses,
      failures,
      ...(latencies.length > 0 && { latency: latencyOf(latencies) }),
    };
  }

  #send(): Promise<{ readonly status: number; readonly bytes: number }> {
    return new Promise((resolve, reject) => {
      const send = this.#url.protocol === 'https:' ? httpsRequest : httpRequest;
      const request = send(this.#url, this.#options, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.byteLength));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, bytes }));
        response.once('error', reject);
      });
      request.once('error', reject);
      request.setTimeout(SILENCE_MS, () => request.destroy(new Error(`no answer within ${SILENCE_MS / 1000} s`)));
      request.end(this.#body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function latencyOf(latencies: readonly number[]): NonNullable<BenchReport['latency']> {
  const sorted = [...latencies].sort((one, other) => one - other);
  // Returns the smallest value that is at least as large as this share of all values: the nearest rank.
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: at(1) };
}

function textOf({ url, concurrency, duration, latency, ...counts }: BenchReport): string {
  const number = (value: number): string => value.toFixed(value < 100 ? 1 : 0);
  const lines = [
    `${url}: ${concurrency} at once, ${duration} s`,
    `  requests/s  ${number(counts.requestsPerSecond)}   ${number(counts.bytesPerSecond / 1000)} kB/s   ${counts.requests} answers`,
    ...(latency
      ? [
          `  ms          ${Object.entries(latency)
            .map(([name, value]) => `${name} ${number(value)}`)
            .join('   ')}`,
        ]
      : []),
    `  statuses    ${
      Object.entries(counts.statuses)
        .map(([status, count]) => `${status}: ${count}`)
        .join('   ') || 'none'
    }`,
    ...Object.entries(counts.failures).map(([why, count]) => `  no answer   ${count}: ${why}`),
  ];
  return lines.join('\n');
}
