import type { Session } from '../../contract/tensors.js';
import { loadScript } from '../../shared/load-script.js';
import type { UltralyticsExport } from '../outputs/ultralytics.js';
import { TASKS } from '../tasks/index.js';

/** Returns what the model's file says of the model, if it has what Ultralytics' exporter writes; otherwise undefined. */
export async function exportOf({ metadata }: Pick<Session, 'metadata'>): Promise<UltralyticsExport | undefined> {
  if (!metadata || !('names' in metadata || 'task' in metadata)) return undefined;
  const Export = await loadScript(async () => (await import('../outputs/ultralytics.js')).UltralyticsExport);
  const handlers = Object.entries(TASKS).flatMap(([name, { ultralytics }]) =>
    ultralytics === undefined ? [] : [[ultralytics, name] as const],
  );
  return new Export(metadata, new Map(handlers));
}
