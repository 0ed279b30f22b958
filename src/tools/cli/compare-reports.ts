import { candidateName, describeCandidate, type Backend } from '../../contract/backends.js';
import { describeTime } from '../../contract/describe-value.js';
import type { DeviceReport, ReportedModel } from '../../contract/device-report.js';
import { isPlainObject } from '../../shared/is-plain-object.js';

/** A fact that both reports may have, by its name. */
type Facts = ReadonlyMap<string, string>;

/** The text for a fact that a report does not have. */
const MISSING = 'none';
/** A longer line is broken. */
const WIDTH = 110;

/** Says in what two reports differ: the device, the verdicts on each candidate, the outcomes, and all times with their ratio. */
export function compareReports(a: DeviceReport, b: DeviceReport): string {
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Reports', differences(headOf(a), headOf(b))],
    ['Device', differences(flatten(a.device), flatten(b.device))],
    ...modelNames(a, b).flatMap((name) => modelSections(name, modelOf(a, name), modelOf(b, name))),
    ['Cached verdicts', differences(verdictsOf(a), verdictsOf(b))],
  ];
  return sections
    .map(([title, lines]) =>
      [title, ...(lines.length > 0 ? lines : ['no difference']).map((line) => `  ${line}`)].join('\n'),
    )
    .join('\n\n');
}

function headOf({ tabserve, at, browser }: DeviceReport): Facts {
  return new Map([
    ['saved', at],
    ['tabserve', tabserve],
    ['browser', browser],
  ]);
}

/** Returns the values of nested objects by their paths, such as `webgpu.limits.maxBufferSize`. */
function flatten(value: unknown, path = ''): Facts {
  if (!isPlainObject(value)) return path === '' ? new Map() : new Map([[path, JSON.stringify(value)]]);
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [...flatten(inner, path === '' ? name : `${path}.${name}`)]),
  );
}

function modelNames(...reports: readonly DeviceReport[]): string[] {
  return [...new Set(reports.flatMap(({ models }) => models.map(({ name }) => name)))];
}

function modelOf({ models }: DeviceReport, name: string): ReportedModel | undefined {
  return models.find((model) => model.name === name);
}

function modelSections(
  name: string,
  a: ReportedModel | undefined,
  b: ReportedModel | undefined,
): [title: string, lines: readonly string[]][] {
  if (!a || !b) return [[`Model ${name}`, [`only in ${a ? 'A' : 'B'}`]]];
  return [
    [`Model ${name}`, differences(candidatesOf(a.backend), candidatesOf(b.backend))],
    [`Model ${name}: requests`, differences(outcomesOf(a), outcomesOf(b))],
    [`Model ${name}: times`, times(a, b)],
  ];
}

/** Returns what became of each candidate. */
function candidatesOf(backend: Backend | undefined): Facts {
  if (!backend) return new Map([['serves', 'none: the model is not open']]);
  const { threads, precision, proof, skipped } = backend;
  return new Map([
    ['serves', candidateName(backend)],
    ['threads', String(threads)],
    ['precision', precision ?? MISSING],
    ['proof', proof],
    [candidateName(backend), 'serves'],
    ...skipped.map((one): [string, string] => [
      `${describeCandidate(one)}${one.precision ? ` (${one.precision})` : ''}`,
      one.reason,
    ]),
  ]);
}

function outcomesOf({ outcomes }: ReportedModel): Facts {
  return new Map(Object.entries(outcomes).map(([outcome, count]) => [outcome, String(count)]));
}

function verdictsOf({ verdicts }: DeviceReport): Facts {
  return new Map(verdicts.map(({ candidate, model, verdict }) => [`${candidate}, ${pathOf(model)}`, verdict]));
}

/** Returns a URL's path: the same model may come from different sites. */
function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

function differences(a: Facts, b: Facts): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((name) => {
    const [before = MISSING, after = MISSING] = [a.get(name), b.get(name)];
    return before === after ? [] : [change(name, before, after)];
  });
}

function change(name: string, a: string, b: string): string {
  const line = `${name}: ${a} → ${b}`;
  return line.length <= WIDTH ? line : `${name}:\n    A  ${a}\n    B  ${b}`;
}

/** Returns the times that both have, with their ratio. */
function times(a: ReportedModel, b: ReportedModel): string[] {
  const [medianA, medianB] = [a.backend?.median, b.backend?.median];
  const lines = medianA !== undefined && medianB !== undefined ? [ratio('median of a run', medianA, medianB)] : [];
  for (const [name, time] of Object.entries(a.times)) {
    const other = b.times[name];
    if (other) lines.push(ratio(`${name}, p50`, time.p50, other.p50), ratio(`${name}, p95`, time.p95, other.p95));
  }
  return lines;
}

function ratio(name: string, a: number, b: number): string {
  const factor = a > 0 ? ` (${Number((b / a).toPrecision(2))} ×)` : '';
  return `${name}: ${describeTime(a)} → ${describeTime(b)}${factor}`;
}
