import { readFile } from 'node:fs/promises';
import { CANDIDATES } from '../../contract/backends.js';
import { describeValue } from '../../contract/describe-value.js';
import { REPORT_FORMAT, REPORT_VERSION, type DeviceReport } from '../../contract/device-report.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { isPlainObject } from '../../shared/is-plain-object.js';

/**
 * Reads a report that was saved in DevTools. Another person may have written it, so all of it is checked.
 * @throws `invalid-input` for a file that cannot be read, or that is no report
 */
export async function readReport(path: string): Promise<DeviceReport> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw notReport(path, `it could not be read as JSON: ${messageOf(cause)}`, cause);
  }
  const wrong = whatIsWrong(value);
  if (wrong !== undefined) throw notReport(path, wrong);
  return value as DeviceReport;
}

function notReport(path: string, why: string, cause?: unknown): TabServeError {
  const advice = 'Save a report in the panel of tabserve/devtools, or write what deviceReport() returns as JSON.';
  return new TabServeError('invalid-input', `${path} is no device report: ${why.replace(/\.?$/, '.')} ${advice}`, {
    cause,
  });
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isListOf =
  (is: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(is);
const isMapOf =
  (is: Check): Check =>
  (value) =>
    isPlainObject(value) && Object.values(value).every(is);
const hasFields =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isPlainObject(value) && Object.entries(fields).every(([name, is]) => is(value[name]));
const maybe =
  (is: Check): Check =>
  (value) =>
    value === undefined || is(value);

const isCandidate: Check = (value) =>
  isPlainObject(value) &&
  (value['engine'] === 'remote' ||
    CANDIDATES.some((name) => name === `${String(value['engine'])}/${String(value['name'])}`));
const isSkipped: Check = (value) =>
  isCandidate(value) && hasFields({ reason: isText, threads: maybe(isNumber), precision: maybe(isText) })(value);
const isBackend: Check = (value) =>
  isCandidate(value) &&
  hasFields({ threads: isNumber, proof: isText, median: maybe(isNumber), skipped: isListOf(isSkipped) })(value);
const isModel = hasFields({
  name: isText,
  backend: maybe(isBackend),
  times: isMapOf(hasFields({ count: isNumber, p50: isNumber, p95: isNumber })),
  outcomes: isMapOf(isNumber),
  log: isListOf(isText),
});

const FIELDS: Readonly<Record<string, Check>> = {
  tabserve: isText,
  at: isText,
  browser: isText,
  device: maybe(isPlainObject),
  models: isListOf(isModel),
  verdicts: isListOf(hasFields({ candidate: isText, model: isText, verdict: isText })),
};

/** Returns what is wrong with a report; undefined if nothing is. */
function whatIsWrong(value: unknown): string | undefined {
  if (!isPlainObject(value) || value['format'] !== REPORT_FORMAT) return `it has no "format": "${REPORT_FORMAT}"`;
  if (value['formatVersion'] !== REPORT_VERSION)
    return `its formatVersion is ${describeValue(value['formatVersion'])}, and this version of tabserve reads ${REPORT_VERSION}`;
  const [field] = Object.entries(FIELDS).find(([name, is]) => !is(value[name])) ?? [];
  return field === undefined ? undefined : `its field ${field} has another form`;
}
