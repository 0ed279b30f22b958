/**
 * Serves the gallery, and opens it in a browser where there is a desktop. Arguments go to Vite:
 * `npm start -- --port 3000`. Plain JavaScript: it runs on every Node that we support.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns whether a browser can be opened: not in CI, and on Linux only with a display and `xdg-open`. */
export function canOpenBrowser(platform = process.platform, env = process.env, exists = existsSync) {
  if (env.CI) return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  const hasDisplay = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  return hasDisplay && (env.PATH ?? '').split(delimiter).some((folder) => exists(join(folder, 'xdg-open')));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vite = fileURLToPath(new URL('../node_modules/vite/bin/vite.js', import.meta.url));
  const opens = canOpenBrowser();
  // Vite prints the address itself.
  if (!opens) console.log('There is no desktop here: open the address below in a browser.');
  const args = [vite, ...(opens ? ['--open'] : []), ...process.argv.slice(2)];
  const server = spawn(process.execPath, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
  server.on('exit', (code) => (process.exitCode = code ?? 0));
}
