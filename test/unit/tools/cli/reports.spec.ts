import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import type { DeviceReport, ReportedModel } from '../../../../src/contract/device-report.ts';
import type { Probe } from '../../../../src/contract/backends.ts';
import { compareReports } from '../../../../src/tools/cli/compare-reports.ts';
import { readReport } from '../../../../src/tools/cli/read-report.ts';
import { wasm, webgpu } from '../../support/pool-world.ts';

const limits = { maxBufferSize: 268_435_456, maxStorageBufferBindingSize: 1, maxComputeWorkgroupStorageSize: 1 };
const gpu = { available: true, vendor: 'nvidia', architecture: 'turing', limits };
const device = (webgpu: unknown, cores: number): Probe => ({ webgpu, cores, crossOriginIsolated: true }) as Probe;
const REASON =
  'The GPU computed wrongly: compared with WASM, 3 of 10 values differ by more than 0.001, the largest by 0.25.';

const digits: ReportedModel = {
  name: 'digits',
  backend: { ...wasm, median: 12, skipped: [{ engine: 'onnx', name: 'webgpu', reason: REASON }] },
  times: { RequestTime: { count: 3, p50: 20, p95: 40 }, QueueTime: { count: 3, p50: 0, p95: 1 } },
  outcomes: { ok: 3, 'worker-lost': 1 },
  log: ['1 ms  opened'],
};
const A: DeviceReport = {
  format: 'tabserve-device-report',
  formatVersion: 1,
  tabserve: '0.3.0',
  at: '2026-11-29T10:00:00.000Z',
  browser: 'Chrome',
  device: device({ available: false, reason: 'WebGPU has no adapter here.' }, 4),
  models: [digits, { ...digits, name: 'languages' }],
  verdicts: [{ candidate: 'onnx/wasm', model: 'http://localhost:5173/models/digits/', verdict: '12 ms a run' }],
};
const B: DeviceReport = {
  ...A,
  at: '2026-11-30T10:00:00.000Z',
  device: device(gpu, 4),
  models: [
    {
      ...digits,
      backend: { ...webgpu, median: 3, proof: 'reference', skipped: [] },
      times: { RequestTime: { count: 9, p50: 5, p95: 60 }, QueueTime: { count: 9, p50: 1, p95: 1 } },
      outcomes: { ok: 3 },
    },
  ],
  verdicts: [{ candidate: 'onnx/wasm', model: 'https://app.test/models/digits/', verdict: '9 ms a run' }],
};

test('two reports: what differs by name, long texts below each other, and times with their ratio', () => {
  expect(compareReports(A, B)).toBe(`Reports
  saved: 2026-11-29T10:00:00.000Z → 2026-11-30T10:00:00.000Z

Device
  webgpu.available: false → true
  webgpu.reason: "WebGPU has no adapter here." → none
  webgpu.vendor: none → "nvidia"
  webgpu.architecture: none → "turing"
  webgpu.limits.maxBufferSize: none → 268435456
  webgpu.limits.maxStorageBufferBindingSize: none → 1
  webgpu.limits.maxComputeWorkgroupStorageSize: none → 1

Model digits
  serves: onnx/wasm → onnx/webgpu
  proof: golden → reference
  onnx/wasm: serves → none
  onnx/webgpu:
    A  ${REASON}
    B  serves

Model digits: requests
  worker-lost: 1 → none

Model digits: times
  median of a run: 12 ms → 3 ms (0.25 ×)
  RequestTime, p50: 20 ms → 5 ms (0.25 ×)
  RequestTime, p95: 40 ms → 60 ms (1.5 ×)
  QueueTime, p50: 0 ms → 1 ms
  QueueTime, p95: 1 ms → 1 ms (1 ×)

Model languages
  only in A

Cached verdicts
  onnx/wasm, /models/digits/: 12 ms a run → 9 ms a run`);
});

test('a report and itself: no difference; a model that is not open is said', () => {
  const closed = { ...A, device: undefined, models: [{ ...digits, backend: undefined, times: {} }] };
  expect(compareReports(closed, closed)).toBe(
    ['Reports', 'Device', 'Model digits', 'Model digits: requests', 'Model digits: times', 'Cached verdicts']
      .map((title) => `${title}\n  no difference`)
      .join('\n\n'),
  );
  expect(compareReports(closed, A)).toContain('serves: none: the model is not open → onnx/wasm');
});

function saved(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'tabserve-')), 'report.json');
  writeFileSync(path, text);
  return path;
}

test('a saved report is read as it was', async () => {
  expect(await readReport(saved(JSON.stringify(B)))).toEqual(JSON.parse(JSON.stringify(B)));
});

const WRONG: Readonly<Record<string, readonly [text: string, why: string]>> = {
  'no JSON': ['hello', 'it could not be read as JSON: '],
  'a list': ['[]', 'it has no "format": "tabserve-device-report".'],
  'another JSON': ['{"format":"card"}', 'it has no "format": "tabserve-device-report".'],
  'another version': [
    JSON.stringify({ ...A, formatVersion: 2 }),
    'its formatVersion is 2, and this version of tabserve',
  ],
  'no text where one is': [JSON.stringify({ ...A, browser: 1 }), 'its field browser has another form.'],
  'no device': [JSON.stringify({ ...A, device: [] }), 'its field device has another form.'],
  'an unknown candidate': [
    JSON.stringify({ ...A, models: [{ ...digits, backend: { ...wasm, engine: 'other' } }] }),
    'its field models has another form.',
  ],
  'times that are none': [
    JSON.stringify({ ...A, models: [{ ...digits, times: { RequestTime: 3 } }] }),
    'its field models has another form.',
  ],
  'a verdict that is none': [JSON.stringify({ ...A, verdicts: ['fast'] }), 'its field verdicts has another form.'],
};
for (const [name, [text, why]] of Object.entries(WRONG))
  test(`a file that is no report: ${name}`, async () => {
    const path = saved(text);
    const error = await readReport(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid-input' });
    expect((error as Error).message).toContain(`${path} is no device report: ${why}`);
    expect((error as Error).message).toMatch(/Save a report in the panel of tabserve\/devtools/);
  });

test('a file that is not there', async () => {
  await expect(readReport('nothing.json')).rejects.toMatchObject({ code: 'invalid-input' });
});
