/** The real servers that `npm run interop` has started to be killed. */
import type { Asked } from './question.ts';

/** A server, and the group of its processes. */
export interface Killable extends Asked {
  readonly group: number;
}

export const killable = JSON.parse(process.env['INTEROP_SERVERS'] ?? '{}') as Readonly<Record<string, Killable>>;

/**
 * Sends requests, four at a time, and kills the server without a warning when a third of them are answered.
 * @returns the answers, in the order of the requests
 */
export async function askAndKill<Answer>(
  { group }: Killable,
  requests: number,
  send: (index: number) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  let answered = 0;
  const sendAll = async (): Promise<void> => {
    while (next < requests) {
      const index = next++;
      answers[index] = await send(index);
      answered += 1;
      if (answered === Math.floor(requests / 3)) process.kill(-group, 'SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: 4 }, sendAll));
  return answers;
}
