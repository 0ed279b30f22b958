import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A process that serves models. */
export interface RunningServer {
  /** With a slash at its end. */
  readonly url: string;
  /** Ends the process, as if it had crashed. */
  kill(): Promise<void>;
}

/** Starts a process that serves the digits by onnxruntime-node. */
export async function startServer(): Promise<RunningServer> {
  const models = `digits=${file('../../public/models/digits/digits.onnx')}`;
  const child = spawn(process.execPath, [file('server.mjs'), models], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return {
    url: `http://127.0.0.1:${port.trim()}/`,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
