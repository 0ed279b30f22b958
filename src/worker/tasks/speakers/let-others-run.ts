import type { Context } from '../../../contract/handler.js';
import { nextTask } from '../../../shared/next-task.js';

/** Lets other work of the worker run. @throws the signal's reason */
export async function letOthersRun({ signal, heartbeat }: Context): Promise<void> {
  signal.throwIfAborted();
  heartbeat();
  await nextTask();
}
