/**
 * `node start.mjs ARCHIVE…`: starts a `tabserve serve` on each port of `upstream` in nginx.conf, and nginx before them.
 * Asks each server for its health, and replaces one that has ended or does not answer.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';

/** How long a server may take to load its models, before its health counts. */
const LOADING_MS = 60_000;

/** A server is healthy if it answers within this time. */
const HEALTH_MS = 2000;

/** After this many checks without an answer, one a second, a server is ended. */
const MISSED = 3;

const archives = process.argv.slice(2);
const ports = [...readFileSync('nginx.conf', 'utf8').matchAll(/^\s*server 127\.0\.0\.1:(\d+)/gm)].map(
  ([, port]) => port,
);
const children = new Set();
let ending = false;

/** Runs a command until `end`; again, a second after it has ended. */
function keepRunning(command, args, started = () => {}) {
  const child = spawn(command, args, { stdio: 'inherit' });
  children.add(child);
  child.once('error', (error) => end(`${command} cannot be started: ${error.message}`));
  child.once('exit', () => {
    children.delete(child);
    if (!ending) setTimeout(() => ending || keepRunning(command, args, started), 1000);
  });
  started(child);
}

/** Asks a server for its health once a second, and ends it when it has missed too many checks. */
function watch(port, child) {
  const start = Date.now();
  let missed = 0;
  let hasServed = false;
  const check = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/ping`, { signal: AbortSignal.timeout(HEALTH_MS) }).catch(
      () => undefined,
    );
    hasServed ||= answer?.ok === true;
    missed = answer?.ok === true ? 0 : missed + 1;
    const isLoading = !hasServed && Date.now() - start < LOADING_MS;
    if (missed >= MISSED && !isLoading) {
      console.error(`The server on port ${port} is not healthy: it is replaced.`);
      child.kill('SIGKILL');
    } else timer = setTimeout(check, 1000);
  };
  let timer = setTimeout(check, 1000);
  child.once('exit', () => clearTimeout(timer));
}

/** Ends all: nginx and the servers finish the answers that are under way. */
function end(reason) {
  if (ending) return;
  ending = true;
  if (reason) {
    console.error(reason);
    process.exitCode = 1;
  }
  for (const child of children) child.kill(child.spawnfile === 'nginx' ? 'SIGQUIT' : 'SIGTERM');
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end());
mkdirSync('temporary', { recursive: true });
for (const port of ports)
  keepRunning(process.execPath, ['node_modules/.bin/tabserve', 'serve', ...archives, '--port', port], (child) => {
    console.log(`The server on port ${port} is process ${child.pid}.`);
    watch(port, child);
  });
keepRunning('nginx', ['-p', `${process.cwd()}/`, '-c', 'nginx.conf', '-e', 'stderr']);
