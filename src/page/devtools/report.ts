import {
  REPORT_FORMAT,
  REPORT_VERSION,
  type DeviceReport,
  type ReportedModel,
  type ReportedVerdict,
} from '../../contract/device-report.js';
import type { MetricsSnapshot } from '../../contract/metrics.js';
import { VERSION } from '../../contract/version.js';
import type { InspectedClient } from './client-view.js';
import { listVerdicts } from '../selection/verdicts.js';
import { describeVerdict, outcomesOf, readVerdictKey } from './words.js';

/**
 * Makes a report of this device and of how the models of these clients have run: what the browser has, each candidate
 * with its verdict and why, measured times, outcomes and the log. It stays in the page: show it, save it, or send it
 * where your app says.
 */
export async function deviceReport(clients: readonly InspectedClient[]): Promise<DeviceReport> {
  const models = withOwnNames(await Promise.all(clients.map((client, index) => modelOf(client, index + 1))));
  const report: DeviceReport = {
    format: REPORT_FORMAT,
    formatVersion: REPORT_VERSION,
    tabserve: VERSION,
    at: new Date().toISOString(),
    browser: globalThis.navigator?.userAgent ?? '',
    device: clients.find(({ probe }) => probe)?.probe,
    models,
    // Where the browser allows no database, there are none.
    verdicts: await verdicts().catch(() => []),
  };
  return JSON.parse(JSON.stringify(report, (_, value: unknown) => readable(value))) as DeviceReport;
}

async function modelOf(client: InspectedClient, number: number): Promise<ReportedModel> {
  const description = await client.describe().catch(() => undefined);
  const metrics = client.metrics.snapshot();
  const lines = client.diagnose().split('\n');
  // The lines before are in other parts of the report.
  const log = lines.slice(lines.findIndex((line) => line.startsWith('backend: ')) + 1);
  const { backend } = client;
  return { name: description?.modelName ?? `Client ${number}`, backend, ...measured(metrics), log };
}

/** Numbers the models that have the name of one before. */
function withOwnNames(models: readonly ReportedModel[]): ReportedModel[] {
  return models.map((model, index) => {
    const before = models.slice(0, index).filter(({ name }) => name === model.name).length;
    return before === 0 ? model : { ...model, name: `${model.name} (${before + 1})` };
  });
}

function measured(metrics: MetricsSnapshot): Pick<ReportedModel, 'times' | 'outcomes'> {
  const times = Object.entries(metrics.histograms)
    .filter(([, [first]]) => first?.unit === 'ms')
    .flatMap(([name, series]) =>
      series.map(({ labels, count, p50, p95 }) => [[name, ...Object.values(labels)].join(' '), { count, p50, p95 }]),
    );
  return { times: Object.fromEntries(times), outcomes: Object.fromEntries(outcomesOf(metrics)) };
}

async function verdicts(): Promise<ReportedVerdict[]> {
  return [...(await listVerdicts())].map(([key, verdict]) => ({
    ...readVerdictKey(key),
    verdict: describeVerdict(verdict),
  }));
}

/** Returns a value of a report as its holder may send it: JSON has no infinity, and a URL may hold a secret. */
function readable(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'string' ? withoutSecrets(value) : value;
}

/** What ends a URL in a sentence. */
const END = String.raw`(?=[.,:;)]*(?:["'<>\s]|$))`;
const QUERY = new RegExp(String.raw`(\bhttps?:\/\/[^\s?#"'<>]*)[?#][^\s"'<>]*?${END}`, 'gi');
const PARAMETERS = new RegExp(String.raw`\?[^\s"'<>=]+=[^\s"'<>]*?${END}`, 'g');
const PASSWORD = /(\bhttps?:\/\/)[^\s/?#"'<>@]+@/gi;
const DATA = /\bdata:[^\s"'<>]*,[^\s"'<>]*/gi;

/** Returns a text whose URLs have no query, no fragment, no password and no data. */
export function withoutSecrets(text: string): string {
  return text.replace(DATA, 'data:…').replace(PASSWORD, '$1').replace(QUERY, '$1').replace(PARAMETERS, '');
}
