/**
 * `npm run soak -- --cycles N --frames N --backend NAME --seconds N`: N cycles of load, predict and dispose, N
 * frames, and N seconds of `tabserve serve` under a mixed load, with flat memory. 0 leaves one out.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '2000' },
    frames: { type: 'string', default: '10000' },
    backend: { type: 'string', default: 'wasm' },
    seconds: { type: 'string', default: '300' },
  },
});
const { status } = spawnSync(
  'npx',
  ['playwright', 'test', 'browser/soak', 'node/soak', `--project=${values.backend}`, '--project=node', '--workers=1'],
  {
    stdio: 'inherit',
    env: { ...process.env, SOAK_CYCLES: values.cycles, SOAK_FRAMES: values.frames, SOAK_SECONDS: values.seconds },
    shell: process.platform === 'win32',
  },
);
process.exitCode = status ?? 1;
