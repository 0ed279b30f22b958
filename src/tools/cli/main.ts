#!/usr/bin/env node
import { messageOf, TabServeError } from '../../contract/errors.js';
import { VERSION } from '../../contract/version.js';
import { hubAddress } from '../../shared/hub.js';
import { createArchive, type CreatedArchive } from './archive.js';
import { checkArchive } from './check.js';
import { compareReports } from './compare-reports.js';
import { copyAssets } from './copy.js';
import { bench } from './bench.js';
import {
  ARCHIVE_FLAGS,
  BENCH_FLAGS,
  INSPECT_FLAGS,
  MIGRATE_FLAGS,
  only,
  OPTIMIZE_FLAGS,
  parse,
  SERVE_FLAGS,
  TEST_FLAGS,
  unknownName,
} from './flags.js';
import { helpOf } from './help.js';
import { inspect, isModelFile } from './inspect.js';
import { withToolAdvice } from './load-options.js';
import { inspectRepository } from './inspect-repository.js';
import { optimize } from './optimize/optimize.js';
import { readReport } from './read-report.js';
import { serve, type RunningServer } from './serve.js';
import { readEnvironment } from './serve-environment.js';
import { testArchive } from './test.js';
import { formatBytes, printable } from './text.js';
import { updateHashes } from './update-hashes.js';
import { checkWriteFlags, soleModel, writeProposal, writeRepository } from './write-proposal.js';
import { createWorkflowArchive } from './workflow-archive.js';

const COMMANDS = ['archive', 'inspect', 'optimize', 'test', 'serve', 'bench', 'copy', 'migrate', 'report'];

async function archive(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse({ args: [...args], options: ARCHIVE_FLAGS, allowPositionals: true });
  for (const flag of ['model-file', 'requirements-file'] as const)
    if (values[flag] !== undefined)
      throw new TabServeError(
        'unsupported',
        `--${flag}: Python does not run in a browser. Export the model with torch.onnx.export, and pass the .onnx file as --serialized-file.`,
      );
  const { check, 'update-hashes': updates, ...others } = values;
  const [existing] = positionals;
  if (positionals.length > 0 && !((check || updates) && positionals.length === 1))
    throw new TabServeError('model-config', `${existing} belongs to no flag. Try: tabserve --help`);
  if (updates && !existing)
    throw new TabServeError('model-config', '--update-hashes takes the folder of an archive. Try: tabserve --help');
  if (check && !existing && (existing === '' || Object.keys(others).length === 0))
    throw new TabServeError(
      'model-config',
      '--check takes an archive, or the flags of a new one. Try: tabserve --help',
    );
  const [unused] = Object.keys(others);
  if (existing && unused !== undefined)
    throw new TabServeError(
      'model-config',
      `--${unused} is a flag of a new archive, and ${existing} is there already. Leave one of them out. Try: tabserve --help`,
    );
  if (existing !== undefined) {
    if (updates) print(await updateHashes(existing));
    if (check) print(await checkArchive(existing));
    return;
  }
  checkWorkflowFlags(values);
  printCreated(await (values.workflow ? createWorkflowArchive : createArchive)(values));
}

/** Prints what has been written. */
function printCreated({ path, files, checked, warnings }: CreatedArchive): void {
  const width = Math.max(...files.map(([file]) => file.length));
  print([path, ...files.map(([file, bytes]) => `  ${file.padEnd(width)}  ${formatBytes(bytes)}`)].join('\n'));
  if (checked !== undefined) print(checked);
  for (const warning of warnings) console.error(printable(`tabserve: warning: ${warning}`));
}

const OF_WORKFLOWS = ['workflow-name', 'spec-file'] as const;
const OF_MODELS = [
  'model-name',
  'version',
  'serialized-file',
  'config-file',
  'archive-format',
  'golden',
  'check',
] as const;

/** @throws `model-config` for a flag of models with those of workflows, and the other way round */
function checkWorkflowFlags(values: Readonly<Record<string, unknown>>): void {
  const foreign = (values['workflow'] === true ? OF_MODELS : OF_WORKFLOWS).find((flag) => values[flag] !== undefined);
  if (foreign === undefined) return;
  const why = values['workflow'] === true ? 'is no flag of --workflow' : 'needs --workflow';
  throw new TabServeError('model-config', `--${foreign} ${why}. Try: tabserve archive --help`);
}

function print(text: string): void {
  console.log(printable(text));
}

/** Runs one command. */
async function main([command, ...args]: readonly string[]): Promise<void> {
  if ([command, ...args].some((one) => one === '--help' || one === '-h')) return console.log(helpOf(command));
  switch (command) {
    case 'archive':
      return await archive(args);
    case 'inspect': {
      const { values, positionals } = parse({ args, options: INSPECT_FLAGS, allowPositionals: true });
      const given = only(positionals, 'inspect', 'file, folder or URL');
      const source = await soleModel(hubAddress(given, 'source'));
      checkWriteFlags(source, values);
      if (!isModelFile(source)) {
        print(await inspectRepository(source));
        if (values.write) printCreated(await writeRepository(source, values));
        return;
      }
      const { text, proposal } = await inspect(source, values.write);
      print(text);
      if (values.write) printCreated(await writeProposal(source, proposal, values));
      return;
    }
    case 'optimize': {
      const { values, positionals } = parse({ args, options: OPTIMIZE_FLAGS, allowPositionals: true });
      return print(await optimize(only(positionals, 'optimize', 'archive: a file or a folder'), values, print));
    }
    case 'test': {
      const { values, positionals } = parse({ args, options: TEST_FLAGS, allowPositionals: true });
      const path = only(positionals, 'test', 'archive: a file or a folder');
      if (!(await testArchive(path, values, print))) process.exitCode = 1;
      return;
    }
    case 'serve': {
      const { values: given, positionals } = parse({ args, options: SERVE_FLAGS, allowPositionals: true });
      const environment = readEnvironment(process.env);
      for (const name of environment.unknown) print(`${name} has no counterpart here, and is left out.`);
      const values = { ...environment.flags, ...given };
      const archives = positionals.length === 0 ? environment.archives : positionals;
      const mayBeEmpty = values.management === true || values.snapshot !== undefined;
      if ((archives.length === 0 && !mayBeEmpty) || archives.includes(''))
        throw new TabServeError('model-config', 'serve takes archives: files, folders or URLs. Try: tabserve --help');
      let running: RunningServer | undefined;
      // Closing a terminal sends it, too; then the server ends. While models are loaded, nothing is reloaded.
      if (!process.stdin.isTTY) process.on('SIGHUP', () => void running?.reload());
      running = await serve(archives, values, print);
      print(`Listening on ${running.url}`);
      const signals = ['SIGINT', 'SIGTERM'] as const;
      const signal = await new Promise<string>((end) => {
        for (const name of signals) process.once(name, end);
      });
      // A second signal, of either kind, ends the process as usual.
      for (const name of signals) process.removeAllListeners(name);
      print(`${signal}: finishing the answers that are under way. A second signal ends at once.`);
      return await running.close();
    }
    case 'bench': {
      const { values, positionals } = parse({ args, options: BENCH_FLAGS, allowPositionals: true });
      if (!(await bench(only(positionals, 'bench', 'URL'), values, print))) process.exitCode = 1;
      return;
    }
    case 'copy': {
      const { positionals } = parse({ args, options: {}, allowPositionals: true });
      return print(await copyAssets(only(positionals, 'copy', 'folder')));
    }
    case 'migrate': {
      const { values, positionals } = parse({ args, options: MIGRATE_FLAGS, allowPositionals: true });
      if (positionals.length === 0)
        throw new TabServeError('model-config', 'migrate takes files and folders. Try: tabserve --help');
      const { migrate } = await import('./migrate/migrate.js');
      return await migrate(positionals, values, print);
    }
    case 'report': {
      const { positionals } = parse({ args, options: {}, allowPositionals: true });
      const [a, b, ...others] = positionals;
      if (!a || !b || others.length > 0)
        throw new TabServeError('model-config', 'report takes two files: tabserve report A B. Try: tabserve --help');
      return print(compareReports(await readReport(a), await readReport(b)));
    }
    case '--version':
      return console.log(VERSION);
    default: {
      const why = command === undefined ? 'A command is missing.' : unknownName(command, 'command', COMMANDS);
      throw new TabServeError('model-config', `${why} The commands are ${COMMANDS.join(', ')}. Try: tabserve --help`);
    }
  }
}

/** Says why the command has failed. */
function fail(why: string): void {
  console.error(printable(`tabserve: ${why}`));
  // `test` exits with 1 if the archive fails its test, and with 2 if it could not be tested.
  process.exitCode = process.argv[2] === 'test' ? 2 : 1;
}

// Without a listener, an error of stdout or stderr would end the process in the middle of its work. EPIPE says that the
// reader has read enough, as `head -1` does; other errors, such as a full disk, mean that output is lost.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') fail(`The output cannot be written: ${error.message}`);
});
process.stderr.on('error', () => {});

try {
  await main(process.argv.slice(2));
} catch (error) {
  fail(withToolAdvice(messageOf(error)));
}
