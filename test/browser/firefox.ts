import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Browser } from '@playwright/test';

/** The part of Playwright's own side of a browser that is used here. */
interface BidiBrowser {
  readonly _browserSession: { send(method: string, params: unknown): Promise<unknown> };
}

/**
 * A WebDriver BiDi command that Playwright sends for each context, and that Firefox ESR 153 does not know. It sets the
 * color scheme, which no test needs.
 */
const UNKNOWN = 'emulation.setMediaFeaturesOverride';

/** Lets Playwright drive a Firefox that lacks a command of WebDriver BiDi. */
export function tolerate(browser: Browser): void {
  const { toImpl } = (browser as unknown as { _connection: { toImpl(object: unknown): BidiBrowser } })._connection;
  const session = toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, params) => (method === UNKNOWN ? {} : await send(method, params));
}

const XVFB = '/usr/bin/Xvfb';

/**
 * Starts a virtual display, without which Firefox on Linux has no WebGL. Returns its name and how to end it; undefined
 * where there is one already, or none to be had.
 */
export async function startDisplay(): Promise<{ name: string; end: () => void } | undefined> {
  if (process.platform !== 'linux' || process.env['DISPLAY'] || !existsSync(XVFB)) return undefined;
  // It writes the number that it has found free; where it cannot start, there is no WebGL.
  const xvfb = spawn(XVFB, ['-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [number] = (await Promise.race([once(xvfb.stdout, 'data'), once(xvfb, 'exit')])) as [Buffer | number];
  if (!Buffer.isBuffer(number)) return undefined;
  return { name: `:${String(number).trim()}`, end: () => void xvfb.kill() };
}
