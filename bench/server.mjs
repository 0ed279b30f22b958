/**
 * The section on `tabserve serve`: small requests a second, and how long the slowest take, beside a server written by
 * hand, and TorchServe with as many workers. All servers run from the start, and are asked in turns.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tell } from './lib/progress.mjs';
import { atLeast, atMost, over, row } from './lib/rows.mjs';
import { pairs } from './lib/statistics.mjs';
import { startDigits } from './lib/torchserve.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const COMMAND = at('../dist/tools/cli/main.js');
const MODEL = at('../public/models/digits');
const INPUT = join(MODEL, 'samples/digit-4.png');
const CONNECTIONS = [1, 8, 64];
const ROUNDS = 5;
const SECONDS = 3;

/** Starts a server, and returns its URL when it listens. */
async function start(...args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let output = '';
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const [, found] = /Listening on (\S+)/.exec(output) ?? [];
      if (found) resolve(found);
    });
    void exited.then(() => reject(new Error(`${args.join(' ')} has ended: ${output}`)));
  });
  return {
    url,
    async end() {
      child.kill();
      await exited;
    },
  };
}

/** Returns what `tabserve bench` reports. */
async function load(url, concurrency, report) {
  const flags = [
    '--concurrency',
    concurrency,
    '--duration',
    SECONDS,
    '--warm-up',
    1,
    '--input',
    INPUT,
    '--report',
    report,
  ];
  const child = spawn(process.execPath, [COMMAND, 'bench', `${url}/predictions/digits`, ...flags.map(String)]);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${url} has not answered every request with 200.`);
  return JSON.parse(readFileSync(report, 'utf8'));
}

export async function serverRows() {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-bench-'));
  const report = join(folder, 'report.json');
  const torchServe = await startDigits(MODEL, join(folder, 'torchserve'));
  if (!torchServe) tell('server: TorchServe is not measured: npm run interop installs it');
  const servers = {
    ours: await start(COMMAND, 'serve', '--port', '0', MODEL),
    byHand: await start(at('lib/hand-server.mjs'), MODEL),
    ...(torchServe && { torchServe }),
  };
  try {
    const rows = [];
    for (const connections of CONNECTIONS) {
      tell(`server: ${connections} connections`);
      const reports = { ours: [], byHand: [], torchServe: [] };
      for (let round = 0; round < ROUNDS; round++)
        for (const [name, { url }] of Object.entries(servers)) reports[name].push(await load(url, connections, report));
      rows.push(...rowsOf(`server: ${connections} connections`, reports));
    }
    return rows;
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.end()));
  }
}

function rowsOf(name, { ours, byHand, torchServe }) {
  const rate = (reports) => reports.map(({ requestsPerSecond }) => requestsPerSecond);
  const slowest = (reports) => reports.map(({ latency }) => latency.p99);
  const rows = [
    row(`${name}: tabserve serve`, rate(ours), 'requests/s'),
    row(`${name}: node:http, sharp and onnxruntime-node by hand`, rate(byHand), 'requests/s'),
    row(`${name}: tabserve serve over that by hand`, pairs(rate(ours), rate(byHand), over), '×', atLeast(0.75, '×')),
    row(
      `${name}: the 99th percentile over that by hand`,
      pairs(slowest(ours), slowest(byHand), over),
      '×',
      atMost(1.5, '×'),
    ),
  ];
  if (torchServe.length === 0) return rows;
  return [
    ...rows,
    row(`${name}: TorchServe, one worker`, rate(torchServe), 'requests/s'),
    row(`${name}: tabserve serve over TorchServe`, pairs(rate(ours), rate(torchServe), over), '×', atLeast(1, '×')),
  ];
}
