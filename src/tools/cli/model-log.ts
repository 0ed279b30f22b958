import type { NodeModelClient } from '../../server/node/connect.js';
import type { LogFormat } from '../../server/node/http/access-log.js';

/** The levels of the model log, the most serious one first. Each one has the lines of those before it, too. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Returns what logs the events of a client: failures are errors, lost workers and the handler's `context.warn`
 * warnings, a backend that was chosen is information, and each answered request is for debugging.
 * @param write gets a line without its end
 */
export function modelLog(
  level: LogLevel,
  format: LogFormat,
  write: (line: string) => void,
): (model: string, client: Pick<NodeModelClient, 'on'>) => void {
  const isLogged = (one: LogLevel): boolean => LOG_LEVELS.indexOf(one) <= LOG_LEVELS.indexOf(level);
  return (model, client) => {
    const add = (one: LogLevel, message: string): void => {
      if (!isLogged(one)) return;
      const time = new Date().toISOString();
      write(
        format === 'json'
          ? JSON.stringify({ time, level: one, model, message })
          : `${time} ${one.toUpperCase()} ${model}: ${message}`,
      );
    };
    client.on('fail', ({ message }) => add('error', `every request fails: ${message}`));
    client.on('warn', ({ message }) => add('warn', message));
    client.on('recover', ({ cause, replayed, failed, took }) =>
      add(
        'warn',
        `a worker was lost and replaced in ${Math.round(took)} ms: ${cause.message} ${replayed} requests ran again, ${failed} failed.`,
      ),
    );
    client.on('backendchange', ({ engine, name }) => add('info', `runs on ${engine}/${name}`));
    client.on('response', ({ rows, batchSize, queued, timings }) =>
      add(
        'debug',
        `answered ${rows} of a batch of ${batchSize}: queued ${queued.toFixed(1)} ms, ${Object.entries(timings)
          .map(([stage, milliseconds]) => `${stage} ${milliseconds.toFixed(1)} ms`)
          .join(', ')}`,
      ),
    );
  };
}
