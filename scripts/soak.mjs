/**
 * `npm run soak -- --cycles N --frames N --backend NAME`: so many cycles of load, predict and dispose, and so many
 * frames, with flat memory.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '2000' },
    frames: { type: 'string', default: '10000' },
    backend: { type: 'string', default: 'wasm' },
  },
});
const { status } = spawnSync(
  'npx',
  ['playwright', 'test', 'browser/soak', `--project=${values.backend}`, '--workers=1'],
  {
    stdio: 'inherit',
    env: { ...process.env, SOAK_CYCLES: values.cycles, SOAK_FRAMES: values.frames },
    shell: process.platform === 'win32',
  },
);
process.exitCode = status ?? 1;
