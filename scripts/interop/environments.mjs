/** Makes the Python environment that a real server runs in, below `.cache/interop`. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The exit code where the packages cannot be had. */
const NO_PACKAGES = 3;

const CACHE = resolve('.cache/interop');

/** The packages of each server, pinned: their answers are compared with recorded ones. */
const PACKAGES = {
  // The last torchtext, which TorchServe's text handlers import, belongs to this torch.
  torchserve: [
    'torchserve==0.12.0',
    'torch-model-archiver==0.12.0',
    'torch-workflow-archiver==0.2.15',
    'torch==2.3.1',
    'torchvision==0.18.1',
    'torchtext==0.18.0',
    'numpy==1.26.4',
    'captum==0.7.0',
    'onnx==1.16.2',
    'onnxruntime==1.18.1',
    'pyyaml',
    'setuptools',
  ],
  mlserver: ['mlserver==1.7.1', 'numpy==1.26.4'],
  // Those of examples/kserve/requirements.txt.
  kserve: readFileSync('examples/kserve/requirements.txt', 'utf8').trim().split('\n'),
  clients: ['openai==3.57.0', 'langchain-openai==1.7.4'],
};

/** Returns the folder with the commands of a server's environment; undefined if it is not there. */
export function installed(name) {
  const folder = join(CACHE, name);
  const mark = join(folder, 'installed.json');
  const isThere = existsSync(mark) && readFileSync(mark, 'utf8') === JSON.stringify(PACKAGES[name]);
  return isThere ? join(folder, 'bin') : undefined;
}

/** Returns the folder with the commands of a server's environment. It is made at the first call, which takes minutes. */
export function environment(name) {
  const found = installed(name);
  if (found) return found;
  const folder = join(CACHE, name);
  const mark = join(folder, 'installed.json');
  console.log(`Installing ${name} into .cache/interop/${name}; this takes minutes.`);
  rmSync(mark, { force: true });
  if (!existsSync(join(folder, 'bin/pip'))) run('python3', ['-m', 'venv', folder]);
  run(join(folder, 'bin/pip'), ['install', '--quiet', '--no-input', ...PACKAGES[name]]);
  writeFileSync(mark, JSON.stringify(PACKAGES[name]));
  return join(folder, 'bin');
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status === 0) return;
  console.error(
    `${command} failed: npm run interop needs Python 3.9 to 3.11 with venv, and a package index with the servers (PyPI).`,
  );
  process.exit(NO_PACKAGES);
}
