/** Starts the servers of the Open Inference Protocol: MLServer, and KServe's in Python. */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { environment } from './environments.mjs';
import { freePorts, startServer } from './processes.mjs';

const GOLDENS = resolve('test/goldens/interop');

const tensor = (name, datatype, shape) => ({ name, datatype, shape });

/** Starts MLServer with one model under two names. Returns its URL, and what `startServer` returns. */
export async function startMlServer(folder) {
  const bin = environment('mlserver');
  const [http, grpc, metrics] = await freePorts(3);
  // It serves whatever model it finds there.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));
  // Without workers of its own, the model runs in the server's process.
  write('settings.json', {
    host: '127.0.0.1',
    http_port: http,
    grpc_port: grpc,
    metrics_port: metrics,
    parallel_workers: 0,
    // An error is none of its tracebacks, whose paths differ.
    debug: false,
  });
  for (const name of ['numbers', 'backup']) {
    mkdirSync(join(folder, name), { recursive: true });
    write(join(name, 'model-settings.json'), {
      name,
      implementation: 'mlserver_runtime.Numbers',
      parameters: { version: '1.0' },
      platform: 'numpy',
      inputs: [tensor('x', 'FP32', [-1, 3]), tensor('count', 'INT64', [-1])],
      outputs: [tensor('sums', 'FP32', [-1]), tensor('twice', 'INT64', [-1])],
    });
  }
  copyFileSync(join(GOLDENS, 'mlserver_runtime.py'), join(folder, 'mlserver_runtime.py'));
  const url = `http://127.0.0.1:${http}`;
  const running = await startServer(join(bin, 'mlserver'), ['start', folder], {
    cwd: folder,
    env: { PYTHONPATH: folder },
    log: join(folder, 'mlserver.log'),
    readyUrl: `${url}/v2/models/numbers/ready`,
  });
  return { inference: url, management: url, ...running };
}

/**
 * Starts a KServe server. Returns its URL, and what `startServer` returns.
 * @param server its script
 * @param model one of its models
 */
export async function startKServe(folder, server = join(GOLDENS, 'kserve_server.py'), model = 'numbers') {
  const bin = environment('kserve');
  const [http] = await freePorts(1);
  mkdirSync(folder, { recursive: true });
  const url = `http://127.0.0.1:${http}`;
  const running = await startServer(join(bin, 'python'), [server, '--http_port', `${http}`, '--enable_grpc', 'false'], {
    cwd: resolve('.'),
    log: join(folder, 'kserve.log'),
    readyUrl: `${url}/v2/models/${model}/ready`,
  });
  return { inference: url, management: url, ...running };
}
