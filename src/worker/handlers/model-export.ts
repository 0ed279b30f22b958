import type { Session } from '../../contract/tensors.js';
import { loadScript } from '../../shared/load-script.js';
import type { UltralyticsExport } from '../outputs/ultralytics.js';

/** Returns what the model's file says of the model, if it has what Ultralytics' exporter writes; otherwise undefined. */
export async function exportOf({ metadata }: Session): Promise<UltralyticsExport | undefined> {
  if (!metadata || !('names' in metadata || 'task' in metadata)) return undefined;
  const Export = await loadScript(async () => (await import('../outputs/ultralytics.js')).UltralyticsExport);
  return new Export(metadata);
}
