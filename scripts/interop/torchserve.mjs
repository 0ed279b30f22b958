/** Packs the archives for TorchServe, and starts it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { environment } from './environments.mjs';
import { freePorts, startServer } from './processes.mjs';

const GOLDENS = resolve('test/goldens/interop');

/**
 * Makes a model store with the archives of `test/goldens/interop`, packed by torch-model-archiver.
 * @returns the folder of the store
 */
export function packStore(bin, folder) {
  const [models, store] = [join(folder, 'models'), join(folder, 'store')];
  rmSync(store, { recursive: true, force: true });
  mkdirSync(store, { recursive: true });
  run(join(bin, 'python'), ['-W', 'ignore', join(GOLDENS, 'make.py'), models]);
  const pack = (name, handler, ...rest) =>
    run(join(bin, 'torch-model-archiver'), [
      '--model-name',
      name,
      '--version',
      '1.0',
      '--handler',
      handler,
      '--export-path',
      store,
      '--force',
      ...rest,
    ]);
  pack('echo', join(GOLDENS, 'echo.py'));
  const labels = join(models, 'index_to_name.json');
  pack('classifier', 'image_classifier', '--serialized-file', join(models, 'classifier.pt'), '--extra-files', labels);
  pack('segmenter', 'image_segmenter', '--serialized-file', join(models, 'segmenter.pt'), '--extra-files', labels);
  pack('detector', 'object_detector', '--serialized-file', join(models, 'detector.pt'), '--extra-files', labels);
  const words = `${labels},${join(models, 'source_vocab.pt')}`;
  pack('texts', 'text_classifier', '--serialized-file', join(models, 'texts.pt'), '--extra-files', words);
  const sequences = join(models, 'sequences.yaml');
  // A sequence that is open keeps one of as many threads as a batch has rows.
  writeFileSync(
    sequences,
    'sequenceBatching: true\nsequenceMaxIdleMSec: 600000\nmaxNumSequence: 100\nbatchSize: 16\nmaxBatchDelay: 10\n',
  );
  pack('summing', join(GOLDENS, 'summing.py'), '--config-file', sequences);
  const twoRows = join(models, 'model-config.yaml');
  writeFileSync(twoRows, 'batchSize: 2\nmaxBatchDelay: 2000\n');
  pack('batching', join(GOLDENS, 'echo.py'), '--config-file', twoRows);
  const weights = ['--serialized-file', join(models, 'classifier.pt'), '--extra-files', labels];
  pack('pair', 'image_classifier', ...weights, '--config-file', twoRows);
  const lists = resolve('test/remote/tensor_handler.py');
  pack('tensors', lists, '--serialized-file', join(models, 'classifier.pt'));
  return store;
}

/**
 * Starts TorchServe.
 * @param models the name of each model's archive
 * @param settings lines of its `config.properties`
 * @returns the URLs of its inference and its management API, and what `startServer` returns
 */
export async function startTorchServe(store, { folder, models, settings = [] }) {
  const bin = environment('torchserve');
  const [inference, management, metrics, grpc, grpcManagement] = await freePorts(5);
  const url = (port) => `http://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const temporary = join(folder, 'temporary');
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary);
  const config = join(folder, 'config.properties');
  writeFileSync(
    config,
    [
      `inference_address=${url(inference)}`,
      `management_address=${url(management)}`,
      `metrics_address=${url(metrics)}`,
      `grpc_inference_port=${grpc}`,
      `grpc_management_port=${grpcManagement}`,
      'disable_token_authorization=true',
      'enable_model_api=true',
      'default_workers_per_model=1',
      'number_of_netty_threads=2',
      'disable_system_metrics=true',
      ...settings,
      '',
    ].join('\n'),
  );
  const names = Object.entries(models).map(([name, archive]) => `${name}=${archive}.mar`);
  const running = await startServer(
    join(bin, 'torchserve'),
    ['--start', '--foreground', '--ncs', '--ts-config', config, '--model-store', store, '--models', ...names],
    {
      cwd: folder,
      env: {
        PATH: `${bin}${delimiter}${process.env.PATH}`,
        LOG_LOCATION: folder,
        METRICS_LOCATION: folder,
        // For its file with the number of its process: another TorchServe of this machine is none of ours.
        TMPDIR: temporary,
      },
      log: join(folder, 'torchserve.log'),
      readyUrl: `${url(inference)}/ping`,
      isReady: async (answer) => answer.ok && (await haveWorkers(url(management), Object.keys(models))),
    },
  );
  return { inference: url(inference), management: url(management), ...running };
}

/** Returns whether the models have workers: TorchServe calls itself healthy before that. */
async function haveWorkers(management, models) {
  const described = await Promise.all(models.map(async (name) => (await fetch(`${management}/models/${name}`)).json()));
  return described.every(([{ workers }]) => workers.length > 0 && workers.every(({ status }) => status === 'READY'));
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.`);
}
