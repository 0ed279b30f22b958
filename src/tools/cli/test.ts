import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Browser } from '@playwright/test';
import type { Archive } from '../../contract/archive.js';
import { enginesOf } from '../../contract/archive-parts.js';
import { candidateOf, type CandidateName, type Probe } from '../../contract/backends.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { chooseBackends, DEFAULT_TIMEOUT, readForTest, runArchive } from '../testing/run.js';
import type { BackendResult, BackendVerdict } from '../testing/verdict.js';
import { refuseUrl } from './archive-files.js';
import { wrongFlag } from './flags.js';
import { writeJUnit, type JUnitCase } from './junit.js';
import { launchChromium } from '../testing/chromium.js';

/** The flags of `tabserve test`. */
export interface TestFlags {
  readonly backends?: string | undefined;
  readonly junit?: string | undefined;
  readonly browser?: string | undefined;
  readonly timeout?: string | undefined;
}

/**
 * Runs an archive on every backend of an installed Chromium, and prints a line for each.
 * @param print called with each line of the report
 * @returns whether the archive is sound, and no backend is wrong or has failed
 * @throws `model-config` for a wrong flag; `model-not-found` if there is no archive; `unsupported` without Playwright
 *   or Chromium. Then nothing was tested
 */
export async function testArchive(path: string, flags: TestFlags, print: (text: string) => void): Promise<boolean> {
  const timeout = readTimeout(flags.timeout);
  const named = flags.backends?.split(',').map((one) => one.trim());
  refuseUrl(path);
  if (!(await stat(path).catch(() => undefined)))
    throw new TabServeError('model-not-found', `There is no file or folder ${path}.`);
  const name = basename(resolve(path));
  const write = async (cases: readonly JUnitCase[]): Promise<void> => {
    if (flags.junit !== undefined) await writeReport(flags.junit, writeJUnit(name, cases));
  };
  // A report that cannot be written is an error before anything runs.
  await write([]);
  const since = performance.now();
  let archive: Archive;
  try {
    archive = await readForTest(path, true);
  } catch (error) {
    const reason = messageOf(error);
    print(`${name} is broken: ${reason}`);
    const seconds = (performance.now() - since) / 1000;
    await write([{ name: 'archive', verdict: 'failed', reason, seconds, output: reason }]);
    return false;
  }
  const backends = chooseBackends(enginesOf(archive), named);
  const isNamed = named !== undefined;
  const launch = (): Promise<Browser> => launchChromium(flags.browser);
  const browser = await launch();
  try {
    print(`${name} on Chromium ${browser.version()}`);
    let known: Probe | undefined;
    const results = await runArchive({
      browser,
      launch,
      archive: path,
      backends,
      isNamed,
      timeout,
      onResult: (result, probe) => {
        if (!known && probe && isOnGpu(result.backend)) print(describeGpus((known = probe)));
        if (result.backend === backends[0]) print(HEADING);
        print(describeResult(result));
      },
    });
    print(
      `\n${summarize(results)}${isNamed || results.some(({ verdict }) => verdict === 'right') ? '' : '. No backend is right, so every skipped one counts as failed.'}`,
    );
    await write(results.map((one) => ({ ...one, name: one.backend, output: describeResult(one).trim() })));
    return results.every(({ verdict }) => verdict === 'right' || verdict === 'skipped');
  } finally {
    await browser.close();
  }
}

/** The widths of the columns before the reason. */
const WIDTHS = [11, 7, 13, 9];
const HEADING = `\n${formatRow(['backend', 'verdict', 'largest error', 'median'], 'reason')}`;

/** Formats a result as a line of the table: `  onnx/wasm    right    2.4e-6         1.90 ms    golden examples`. */
export function describeResult({ backend, verdict, largestError, median, reason }: BackendResult): string {
  const error = largestError === undefined ? '-' : formatError(largestError);
  const time = median === undefined ? '-' : `${median < 100 ? median.toPrecision(3) : Math.round(median)} ms`;
  return formatRow([backend, verdict, error, time], reason);
}

/** Formats a difference: `2.4e-6`, `0.0135`, `2.00`. */
function formatError(error: number): string {
  return error > 0 && error < 1e-3 ? error.toExponential(1) : error.toPrecision(3);
}

function formatRow(cells: readonly string[], last: string): string {
  const padded = cells.map((cell, column) => cell.padEnd(WIDTHS[column]!));
  return `  ${[...padded, last.replace(/\s+/g, ' ')].join('  ')}`;
}

/** Returns whether a backend runs on a GPU. GPUs are probed only for those. */
function isOnGpu(backend: CandidateName): boolean {
  const { name } = candidateOf(backend);
  return name === 'webgpu' || name === 'webgl';
}

/** Says which GPUs there are, and whether they are computed in software. */
function describeGpus({ webgpu, webgl }: Probe): string {
  const software = (isSoftware: boolean): string => (isSoftware ? ', in software' : '');
  return [
    `  WebGPU: ${webgpu.available ? `${webgpu.description}${software(webgpu.software)}` : webgpu.reason}`,
    `  WebGL:  ${webgl.available ? `${webgl.renderer}${software(webgl.software)}` : webgl.reason}`,
  ].join('\n');
}

/** Counts the verdicts: `2 right, 1 wrong`. */
function summarize(results: readonly BackendResult[]): string {
  const verdicts: readonly BackendVerdict[] = ['right', 'wrong', 'skipped', 'failed'];
  const counts = verdicts.map((verdict) => [results.filter((one) => one.verdict === verdict).length, verdict] as const);
  return counts.flatMap(([count, verdict]) => (count > 0 ? [`${count} ${verdict}`] : [])).join(', ');
}

function readTimeout(flag: string | undefined): number {
  if (flag === undefined) return DEFAULT_TIMEOUT;
  const seconds = Number(flag);
  // A time above setTimeout's limit, 24 days, means no timeout.
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw wrongFlag('timeout', 'a number of seconds, up to 86400', flag);
}

/** Writes the report, and makes its folder. @throws `model-config` */
async function writeReport(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(resolve(path)), { recursive: true });
    await writeFile(path, text);
  } catch (cause) {
    throw new TabServeError('model-config', `--junit: ${path} cannot be written: ${messageOf(cause as Error)}`, {
      cause,
    });
  }
}
