/**
 * Installs what is missing before `npm start` and `npm test`: the packages, and with `--browser` Chromium; with
 * `--firefox` also Firefox, and with `--webkit` WebKitGTK, without which their tests are skipped. Plain JavaScript without dependencies: it runs before
 * there are any.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) fail(`Node 20.19 or newer is needed; this is ${process.version}.`);

// npm and apt take half a minute each, and do not wait for one another.
await Promise.all([installPackages(), installBrowsers()]);

async function installPackages() {
  if (isInstalled()) return;
  // npm ci empties the folder that a link leads to: another clone's packages.
  if (lstatSync('node_modules', { throwIfNoEntry: false })?.isSymbolicLink())
    fail(
      'node_modules is a symbolic link, and packages are missing there. Remove the link, or install them in its folder.',
    );
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']).catch(() => fail('npm ci failed.'));
}

async function installBrowsers() {
  if (process.argv.includes('--browser') && !findChromium()) await installChromium();
  if (process.argv.includes('--firefox') && !findFirefox()) await installFirefox();
  if (process.argv.includes('--webkit') && !existsSync('/usr/bin/WebKitWebDriver')) await installWebkit();
}

/**
 * Returns whether each package of our lock file is in the one that npm left in node_modules, in the same version.
 */
function isInstalled() {
  const installed = 'node_modules/.package-lock.json';
  if (!existsSync(installed)) return false;
  const [wanted, present] = ['package-lock.json', installed].map(
    (file) => JSON.parse(readFileSync(file, 'utf8')).packages,
  );
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional || present[path]?.version === version,
  );
}

function findChromium() {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
}

async function installChromium() {
  try {
    await install('chromium');
  } catch {
    fail(
      'Chromium is needed for the browser tests and could not be installed. Install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to one.',
    );
  }
}

function findFirefox() {
  if (process.env.FIREFOX_PATH) return process.env.FIREFOX_PATH;
  return ['/usr/bin/firefox-esr', '/usr/bin/firefox', '/Applications/Firefox.app/Contents/MacOS/firefox'].find(
    existsSync,
  );
}

/** Installs Firefox. On Linux it has WebGL only with a display, if only a virtual one, and MP4 by a library whose name has its version. */
async function installFirefox() {
  try {
    await install('firefox-esr', 'xvfb', 'libgl1-mesa-dri', '^libavcodec[0-9]+$');
  } catch {
    console.warn(
      'Firefox could not be installed, so its tests are skipped. Install it (Debian: apt-get install firefox-esr xvfb), or set FIREFOX_PATH to one.',
    );
  }
}

async function installWebkit() {
  try {
    // The last has AAC.
    await install('webkit2gtk-driver', 'xvfb', 'gstreamer1.0-libav');
  } catch {
    console.warn(
      'WebKitGTK could not be installed, so its tests are skipped. Install it (Debian: apt-get install webkit2gtk-driver xvfb gstreamer1.0-libav).',
    );
  }
}

async function install(...packages) {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', ...packages],
  ]) {
    const [command, ...rest] = [...sudo, 'apt-get', ...args];
    await run(command, rest, { DEBIAN_FRONTEND: 'noninteractive' });
  }
}

/** Runs a command to its end. @throws if it cannot be started, or fails */
async function run(command, args, env = {}) {
  const [code] = await once(spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }), 'exit');
  if (code !== 0) throw new Error(`${command} ended with code ${code}.`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
