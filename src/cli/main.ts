#!/usr/bin/env node
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { messageOf, TabServeError } from '../contract/errors.js';
import { VERSION } from '../contract/version.js';
import { nearestName } from '../shared/nearest-name.js';
import { createArchive } from './archive.js';
import { checkArchive } from './check.js';
import { copyAssets } from './copy.js';
import { inspect } from './inspect.js';
import { optimize } from './optimize/optimize.js';
import { serve } from './serve.js';
import { testArchive } from './test.js';
import { formatBytes, printable } from './text.js';
import { updateHashes } from './update-hashes.js';

const HELP = `Usage:

  tabserve archive --model-name NAME --serialized-file MODEL --handler HANDLER [flags]
    Writes a model archive that TorchServe and TabServe read. The flags are torch-model-archiver's:
      --model-name NAME        The model's name, and the archive's
      --version, -v VERSION    The model's version; 1.0 if it is not given
      --serialized-file FILE   The .onnx file, TensorFlow.js's model.json with its weights beside it, or a folder of Hugging Face's layout
      --handler HANDLER        A built-in handler, such as image_classifier; a folder of Hugging Face's layout names its own
      --extra-files LIST       Labels, tokenizer and others: files, folders or wildcards, separated by commas
      --config-file, -c FILE   model-config.yaml
      --export-path FOLDER     Where the archive is written; here, if it is not given
      --archive-format FORMAT  default (.mar, deflated), zip-store (.mar), tgz, or no-archive (a folder)
      --force, -f              Overwrites an archive that is there
    and these:
      --golden LIST            Runs the model on these inputs, and stores inputs and outputs as golden examples: images
                               (needs the package sharp), .txt, .json, .safetensors files, or seed:N for generated numbers
      --check                  Checks the archive when it is written

  tabserve archive --check ARCHIVE
    Checks an archive: layout, config, sizes, hashes; opens the model, and runs the golden examples.

  tabserve archive --update-hashes FOLDER
    Brings the sizes and hashes in an archive's tabserve.json up to date, after files in its folder were edited. With --check, checks the archive then.

  tabserve inspect FILE|URL
    Prints a model's inputs, outputs, operators, operator sets, precision and size, and what each backend lacks for it.

  tabserve optimize ARCHIVE [flags]
    Writes an archive with smaller weights, if it still reproduces its golden examples: the model's inputs and outputs stay the same. Prints the sizes, and
    the largest difference on the golden examples. Out of tolerance, it writes nothing and exits with 1.
      --output, -o PATH        The new archive, a .mar, .zip or .tar.gz file or a folder; without it ARCHIVE's name with the kind of the weights, beside it
      --weights KIND           float16, half the bytes, if it is not given; or int8, a quarter
      --keep                   Keeps the larger models beside the new ones: each device runs the smallest that is right there
      --agreement labels       With int8: the best label must be the same, and the outputs need not be within the tolerance
      --force, -f              Overwrites an archive that is there

  tabserve test ARCHIVE [flags]
    Runs an archive on every backend of an installed Chromium, with Playwright: prints for each its verdict (right, wrong, skipped or failed), its largest
    error, its median and the reason. Exits with 1 if a backend is wrong or has failed, with 2 if nothing could be tested.
      --backend LIST           The backends that must run it, such as webgpu,wasm; without it all of them, and one may be skipped
      --junit FILE             Writes the results as JUnit XML
      --browser PATH           The Chromium; without it the environment variable CHROMIUM_PATH, Playwright's, or an installed one
      --timeout SECONDS        What each backend may take; 120 if it is not given

  tabserve serve ARCHIVE… [flags]
    Serves archives over HTTP with onnxruntime-node: TorchServe's inference and metrics API (/predictions/NAME, /ping, /models, /metrics), and the Open Inference
    Protocol (/v2). Web pages may not ask it unless their origin is allowed. Ends on Ctrl+C, when the answers that are under way are sent.
      --port PORT              8080 if it is not given; 0 takes any that is free
      --host HOST              The address to listen on; 127.0.0.1, which only this machine reaches, if it is not given
      --management             Lets requests register archives of the working directory, change and remove models: TorchServe's management API
      --cors ORIGIN            Lets web pages of this origin ask, such as http://localhost:5173, or * for all; may be given several times
      --allowed-host NAME      A host name by which clients name this server, beside localhost and IP addresses; may be given several times
      --backend LIST           The backends to try, such as wasm; without it onnx/cpu, or TensorFlow.js in plain JavaScript
      --workers NUMBER         The worker threads of each model; without it as the archive says, or 1
      --timeout SECONDS        What each request may take; 120 if it is not given
      --max-request-size BYTES The largest body; 6553500 if it is not given

  tabserve copy FOLDER
    Copies the built-in worker and the engines' files, for esbuild, Rollup, Parcel and pages without a bundler. The option assets names the folder's URL.
`;

const COMMANDS = ['archive', 'inspect', 'optimize', 'test', 'serve', 'copy'];

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const ARCHIVE_FLAGS = {
  'model-name': TEXT,
  version: { ...TEXT, short: 'v' },
  'serialized-file': TEXT,
  handler: TEXT,
  'extra-files': TEXT,
  'config-file': { ...TEXT, short: 'c' },
  'export-path': TEXT,
  'archive-format': TEXT,
  force: { ...FLAG, short: 'f' },
  golden: TEXT,
  check: FLAG,
  'update-hashes': FLAG,
  'model-file': TEXT,
  'requirements-file': { ...TEXT, short: 'r' },
  runtime: TEXT,
} as const;
const OPTIMIZE_FLAGS = {
  output: { ...TEXT, short: 'o' },
  weights: TEXT,
  keep: FLAG,
  agreement: TEXT,
  force: { ...FLAG, short: 'f' },
} as const;
const TEST_FLAGS = { backend: TEXT, junit: TEXT, browser: TEXT, timeout: TEXT } as const;

const LIST = { ...TEXT, multiple: true } as const;
const SERVE_FLAGS = {
  port: TEXT,
  host: TEXT,
  management: FLAG,
  cors: LIST,
  'allowed-host': LIST,
  backend: TEXT,
  workers: TEXT,
  timeout: TEXT,
  'max-request-size': TEXT,
} as const;

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
  const { path, files, checked, warnings } = await createArchive(values);
  const width = Math.max(...files.map(([file]) => file.length));
  print([path, ...files.map(([file, bytes]) => `  ${file.padEnd(width)}  ${formatBytes(bytes)}`)].join('\n'));
  if (checked !== undefined) print(checked);
  for (const warning of warnings) console.error(printable(`tabserve: warning: ${warning}`));
}

function print(text: string): void {
  console.log(printable(text));
}

function parse<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (cause) {
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(messageOf(cause as Error)) ?? [];
    const flags = Object.keys(config.options ?? {}).map((flag) => `--${flag}`);
    const why =
      unknown === undefined ? messageOf(cause as Error).replace(/\.?$/, '.') : unknownName(unknown, 'flag', flags);
    throw new TabServeError('model-config', `${why} Try: tabserve --help`, { cause });
  }
}

function unknownName(name: string, noun: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  return `${name} is no ${noun}${meant === undefined ? '' : `; probably ${meant} is meant`}.`;
}

/** Returns the one file, folder or URL that a command takes. @throws `model-config` for none, an empty one, or several */
function only([path, ...others]: readonly string[], command: string, what: string): string {
  if (path && others.length === 0) return path;
  throw new TabServeError('model-config', `${command} takes one ${what}. Try: tabserve --help`);
}

/** Returns the help of one command, or of all if there is no such command. */
function helpOf(command: string | undefined): string {
  const own = HELP.split(/\n\n(?=  tabserve )/).filter((section) => section.startsWith(`  tabserve ${command} `));
  return own.length > 0 ? `Usage:\n\n${own.join('\n\n').trimEnd()}\n` : HELP;
}

/** Runs one command. */
async function main([command, ...args]: readonly string[]): Promise<void> {
  if ([command, ...args].some((one) => one === '--help' || one === '-h')) return console.log(helpOf(command));
  switch (command) {
    case 'archive':
      return await archive(args);
    case 'inspect': {
      const { positionals } = parse({ args, options: {}, allowPositionals: true });
      return print(await inspect(only(positionals, 'inspect', 'file or URL')));
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
      const { values, positionals } = parse({ args, options: SERVE_FLAGS, allowPositionals: true });
      if (positionals.length === 0 || positionals.includes(''))
        throw new TabServeError('model-config', 'serve takes archives: files, folders or URLs. Try: tabserve --help');
      const running = await serve(positionals, values, print);
      print(`Listening on ${running.url}`);
      const signals = ['SIGINT', 'SIGTERM'] as const;
      const signal = await new Promise<string>((end) => {
        for (const name of signals) process.once(name, end);
      });
      // The next one, of either kind, does what it does to any process: it ends it.
      for (const name of signals) process.removeAllListeners(name);
      print(`${signal}: finishing the answers that are under way. A second signal ends at once.`);
      return await running.close();
    }
    case 'copy': {
      const { positionals } = parse({ args, options: {}, allowPositionals: true });
      return print(await copyAssets(only(positionals, 'copy', 'folder')));
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

// Without a listener, an error of stdout or stderr would end the process in the middle of its work. EPIPE says that the reader has read enough, as `head -1` does;
// other errors, such as a full disk, mean that output is lost.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') fail(`The output cannot be written: ${error.message}`);
});
process.stderr.on('error', () => {});

try {
  await main(process.argv.slice(2));
} catch (error) {
  fail(messageOf(error));
}
