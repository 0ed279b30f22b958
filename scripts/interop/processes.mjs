/** Starts servers on loopback, and ends them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** How long a server may take until it answers. */
const START_MS = 120_000;

/** How long a server may take to end before it is killed. */
const END_MS = 10_000;

/** Returns this many ports that are free now. */
export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = await Promise.all(servers.map((server) => once(server, 'listening').then(() => server.address().port)));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/**
 * Starts a server, and waits until a URL is answered as it should be.
 * @param log the file for what it prints
 * @param isReady says whether it is ready, by the answer
 * @returns its process group, and a function that ends it, with the processes that it has started
 */
export async function startServer(command, args, { cwd, env, log, readyUrl, isReady = ({ ok }) => ok }) {
  const output = openSync(log, 'w');
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
    detached: true,
  });
  const exited = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (hasEnded()) return;
    process.kill(-child.pid, 'SIGTERM');
    await exited;
    // Those that it has started may take longer.
    const late = Date.now() + END_MS;
    while (hasGroup(child.pid)) {
      if (Date.now() > late) process.kill(-child.pid, 'SIGKILL');
      await wait(100);
    }
  };
  const end = Date.now() + START_MS;
  while (Date.now() < end && !hasEnded()) {
    const answer = await fetch(readyUrl).catch(() => undefined);
    if (answer && (await isReady(answer))) return { group: child.pid, stop };
    await wait(250);
  }
  await stop();
  throw new Error(`${command} did not get ready: see ${log}.`);
}

/** Returns whether a group has a process. */
function hasGroup(leader) {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}
