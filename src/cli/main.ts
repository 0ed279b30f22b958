#!/usr/bin/env node
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { describeThrown, isError, messageOf, TabServeError } from '../contract/errors.js';
import { createArchive } from './archive.js';
import { checkArchive } from './check.js';
import { inspect } from './inspect.js';
import { formatBytes } from './text.js';

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

  tabserve inspect FILE|URL
    Prints a model's inputs, outputs, operators, operator sets, precision and size, and what each backend lacks for it.
`;

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
  'model-file': TEXT,
  'requirements-file': { ...TEXT, short: 'r' },
  runtime: TEXT,
} as const;

async function archive(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse({ args: [...args], options: ARCHIVE_FLAGS, allowPositionals: true });
  for (const flag of ['model-file', 'requirements-file'] as const)
    if (values[flag] !== undefined)
      throw new TabServeError(
        'unsupported',
        `--${flag}: Python does not run in a browser. Export the model with torch.onnx.export, and pass the .onnx file as --serialized-file.`,
      );
  if (positionals.length > 0 && !(values.check && positionals.length === 1))
    throw new TabServeError('model-config', `${positionals[0]} belongs to no flag. Try: tabserve --help`);
  if (positionals[0] !== undefined) return console.log(await checkArchive(positionals[0]));
  const { path, files } = await createArchive(values);
  const width = Math.max(...files.map(([file]) => file.length));
  console.log([path, ...files.map(([file, bytes]) => `  ${file.padEnd(width)}  ${formatBytes(bytes)}`)].join('\n'));
  if (values.check) console.log(await checkArchive(path));
}

function parse<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (cause) {
    throw new TabServeError('model-config', `${messageOf(cause as Error)} Try: tabserve --help`, { cause });
  }
}

/** Runs one command. @returns the exit code */
async function main([command, ...args]: readonly string[]): Promise<number> {
  const helps = [command, ...args].some((one) => one === '--help' || one === '-h');
  if (!helps && command === 'archive') {
    await archive(args);
    return 0;
  }
  if (!helps && command === 'inspect' && args.length === 1) {
    console.log(await inspect(args[0]!));
    return 0;
  }
  console[helps ? 'log' : 'error'](HELP);
  return helps ? 0 : 2;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`tabserve: ${isError(error) ? messageOf(error) : describeThrown(error)}`);
  process.exitCode = 1;
}
