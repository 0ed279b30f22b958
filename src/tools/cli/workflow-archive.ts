import { basename, join } from 'node:path';
import { TabServeError } from '../../contract/errors.js';
import { VERSION } from '../../contract/version.js';
import { WORKFLOW_MANIFEST } from '../../worker/models/manifest.js';
import { readWar } from '../../worker/models/war.js';
import { localSource } from '../../worker/models/sources/packed.js';
import { addExtraFiles, addFile, readLocal, type ArchiveFiles } from './archive-files.js';
import { checkArchiveName, encode, formatDate, type CreatedArchive } from './archive.js';
import { asBlobs } from './local-archive.js';
import { checkTarget, writeArchive } from './write-archive.js';

/** The flags of `tabserve archive --workflow`: torch-workflow-archiver's. */
export interface WorkflowFlags {
  readonly 'workflow-name'?: string | undefined;
  readonly 'spec-file'?: string | undefined;
  readonly handler?: string | undefined;
  readonly 'extra-files'?: string | undefined;
  readonly 'export-path'?: string | undefined;
  readonly force?: boolean | undefined;
}

/**
 * Writes a workflow archive (`.war`) that both TorchServe and TabServe read: the YAML that describes the graph, and the
 * manifest as torch-workflow-archiver writes it.
 * @throws `model-config` for a wrong flag, and for a YAML that is not a workflow; `model-not-found` for a missing
 *   file. Then nothing is written
 */
export async function createWorkflowArchive(flags: WorkflowFlags): Promise<CreatedArchive> {
  const { handler, 'workflow-name': name, 'spec-file': spec, 'extra-files': extra, force } = flags;
  for (const [flag, value] of Object.entries({ 'workflow-name': name, 'spec-file': spec }))
    if (value === undefined || value === '')
      throw new TabServeError('model-config', `--${flag} is missing. Try: tabserve archive --help`);
  checkArchiveName('workflow-name', name!);
  const path = join(flags['export-path'] ?? '.', `${name}.war`);
  await checkTarget(path, 'default', force === true);
  const files: ArchiveFiles = new Map();
  addFile(files, basename(spec!), await readLocal(spec!, 'spec-file'));
  if (handler !== undefined) addFile(files, basename(handler), await readLocal(handler, 'handler'));
  if (extra !== undefined) await addExtraFiles(files, extra);
  const manifest = {
    createdOn: formatDate(new Date()),
    workflow: {
      workflowName: name,
      specFile: basename(spec!),
      ...(handler !== undefined && { handler: basename(handler) }),
    },
    archiverVersion: VERSION,
  };
  addFile(files, WORKFLOW_MANIFEST, encode(manifest));
  // A workflow that cannot be read is not written.
  await readWar(await localSource(path, asBlobs(files)), {});
  await writeArchive(path, 'default', files, () => Promise.resolve());
  return { path, files: [...files].map(([one, { length }]) => [one, length]), checked: undefined, warnings: [] };
}
