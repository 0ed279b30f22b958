/** `tabserve inspect --write`: the archive of a model's file, as `inspect` proposes it. */
import { readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { TabServeError } from '../../contract/errors.js';
import { HF_CONFIG } from '../../shared/model-url.js';
import { MANIFEST } from '../../worker/models/manifest.js';
import { readLocal, refuseUrl } from './archive-files.js';
import { checkArchiveName, createArchive, type CreatedArchive } from './archive.js';
import { wrongFlag } from './flags.js';
import { archiveName, configText, type Proposal } from './propose.js';
import { withTemporaryFolder } from './temporary-folder.js';

/** The flags of `tabserve inspect`. */
export interface InspectFlags {
  readonly write?: boolean | undefined;
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

/** The config's name in an archive. */
const CONFIG_FILE = 'model-config.yaml';

/** @throws `model-config` for flags without `--write`, and for what cannot be written */
export function checkWriteFlags(source: string, { write, output, force }: InspectFlags): void {
  if (output === '') throw wrongFlag('output', 'a path', output);
  const unused = output !== undefined ? 'output' : force ? 'force' : undefined;
  if (!write && unused !== undefined)
    throw new TabServeError('model-config', `--${unused} needs --write. Try: tabserve inspect --help`);
  if (write) refuseUrl(source, '--write');
}

/**
 * Returns the path of the only model in a folder that is neither an archive nor of Hugging Face's layout; otherwise the
 * path as it is.
 */
export async function soleModel(source: string): Promise<string> {
  const names: readonly string[] = await readdir(source).catch(() => []);
  if (names.includes(HF_CONFIG) || (await isFile(join(source, MANIFEST)))) return source;
  const models = names.filter((name) => /\.onnx$|^model\.json$/i.test(name));
  return models.length === 1 ? join(source, models[0]!) : source;
}

/**
 * Writes the archive of a model's file into a folder, and checks it.
 * @throws `unsupported` for a model that needs no archive; `model-config` if the folder exists; what keeps the archive
 *   from opening. Then nothing is written
 */
export async function writeProposal(source: string, proposal: Proposal, flags: InspectFlags): Promise<CreatedArchive> {
  if (proposal.opensAlone)
    throw new TabServeError(
      'unsupported',
      `${source} needs no archive: its metadata say what it is. Pass the file itself to load() or tabserve serve.`,
    );
  const config = await configText(proposal);
  let created: CreatedArchive | undefined;
  await withTemporaryFolder(tmpdir(), async (folder) => {
    const file = join(folder, CONFIG_FILE);
    await writeFile(file, config);
    // Copies, because commas separate the paths of the flag.
    const beside = proposal.beside.map((name) => join(folder, name));
    for (const copy of beside) await writeFile(copy, await readLocal(join(dirname(source), basename(copy)), '--write'));
    created = await createArchive({
      ...targetOf(source, flags),
      'serialized-file': source,
      handler: proposal.handler,
      ...(config !== '' && { 'config-file': file }),
      ...(beside.length > 0 && { 'extra-files': beside.join(',') }),
    });
  });
  return created!;
}

/** Writes the archive of a folder of Hugging Face's layout. @throws `model-config` for an archive */
export async function writeRepository(source: string, flags: InspectFlags): Promise<CreatedArchive> {
  if (!(await stat(source)).isDirectory() || (await isFile(join(source, MANIFEST))))
    throw new TabServeError('model-config', `--write: ${source} is an archive already.`);
  return await createArchive({ ...targetOf(source, flags), 'serialized-file': source });
}

/** Returns the flags of `tabserve archive` that say where the archive is written. */
function targetOf(source: string, { output, force }: InspectFlags): Parameters<typeof createArchive>[0] {
  const path = output ?? archiveName(resolve(source));
  const name = basename(resolve(path));
  checkArchiveName('output', name);
  return {
    'model-name': name,
    // Of `..`, the name is not the last part of the path.
    'export-path': basename(path) === name ? dirname(path) : dirname(resolve(path)),
    'archive-format': 'no-archive',
    force,
    check: true,
  };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
