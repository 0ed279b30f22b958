import type { Client } from '../client/client.js';
import { candidateName, describeCandidate } from '../../contract/backends.js';
import { describeTime } from '../../contract/describe-value.js';
import type { Description } from '../requests/sender.js';
import { el, setRows, setText, table } from './dom.js';
import { ClientHistory } from './history.js';
import { timeline } from './timeline.js';
import { workersTable } from './workers-table.js';
import { describeOutcomes, describeProof } from './words.js';

/** What the panel asks a client. */
export type InspectedClient = Pick<
  Client,
  'backend' | 'describe' | 'diagnose' | 'jobQueueStatus' | 'metrics' | 'on' | 'probe' | 'workerStatus'
>;

export interface ClientView {
  readonly element: HTMLElement;
  /** Shows the present state. */
  update(): void;
  dispose(): void;
}

/**
 * Shows one client: its workers, its queue, what happened to it, and why it runs on its backend.
 * @param says called with what a visitor who cannot see the panel should hear
 */
export function clientView(client: InspectedClient, number: number, says: (text: string) => void): ClientView {
  let description: Description | undefined;
  const name = (): string => description?.modelName ?? `Client ${number}`;
  const history = new ClientHistory(client, ({ kind, text }) => {
    if (kind === 'recover' || kind === 'fail') says(`${name()}: ${text}`);
    if (kind === 'backendchange') void describe();
    update();
  });
  const workers = workersTable(`Workers of client ${number}`, (worker) =>
    history.add('ended', `You ended worker ${worker}.`),
  );
  const requests = timeline(`Timeline of client ${number}`);
  const backends = table(`Backends of client ${number}`, ['Candidate', 'Verdict, and why']);
  const title = el('h3');
  const status = el('p', { class: 'quiet' });
  const lost = el('p', { class: 'quiet' });
  const meter = el('meter', { 'aria-label': `Requests of client ${number} that wait`, min: '0' });
  const queue = el('p');
  const outcomes = el('p');
  const element = el(
    'section',
    { class: 'client', 'aria-label': `Client ${number}` },
    title,
    status,
    el('div', {}, el('h4', {}, 'Workers'), workers.element, lost),
    el('div', {}, el('h4', {}, 'Queue'), el('div', { class: 'queue' }, meter, queue), outcomes),
    el('div', {}, el('h4', {}, 'Timeline'), requests.element),
    el('div', {}, el('h4', {}, 'Backends'), backends.element),
  );

  /** Asks a worker for the model's name and settings. A client that is not open has none. */
  async function describe(): Promise<void> {
    description = await client.describe().catch(() => description);
    update();
  }

  function update(): void {
    setText(title, name());
    setText(status, statusOf(client, description));
    workers.show(client.workerStatus);
    setText(lost, `Recoveries since this panel opened: ${history.recoveries}. ${history.lastRecovery ?? ''}`.trim());
    const { pendingRequests, remainingCapacity } = client.jobQueueStatus;
    meter.max = pendingRequests + remainingCapacity;
    meter.value = pendingRequests;
    const metrics = client.metrics.snapshot();
    const [waited] = metrics.histograms['QueueTime'] ?? [];
    const times = waited ? ` Waited ${describeTime(waited.p50)} (p50), ${describeTime(waited.p95)} (p95).` : '';
    setText(queue, `${pendingRequests} waiting, room for ${remainingCapacity} more.${times}`);
    setText(outcomes, `Outcomes: ${describeOutcomes(metrics)}.`);
    history.countFailures(metrics);
    requests.show(history.entries);
    const { backend } = client;
    setRows(
      backends,
      backend
        ? [
            [candidateName(backend), describeProof(backend)],
            ...backend.skipped.map((one) => [
              `${describeCandidate(one)}${one.precision ? ` (${one.precision})` : ''}`,
              one.reason,
            ]),
          ]
        : [],
    );
  }

  if (client.backend) void describe();
  update();
  return { element, update, dispose: () => history.close() };
}

/** Says what a client serves, and how it is set. */
function statusOf({ backend, workerStatus }: InspectedClient, description: Description | undefined): string {
  if (!backend) return 'Not open yet.';
  const { config, sharing } = description ?? {};
  const parts = [
    config ? `batches of ${config.batchSize} at most, which wait for ${config.maxBatchDelay} ms` : '',
    config ? `${config.minWorkers} to ${config.maxWorkers} workers`.replace(/^1 to 1 workers/, '1 worker') : '',
    sharing?.role === 'guest' ? 'its workers are in another tab' : '',
    workerStatus.length === 0 && sharing?.role !== 'guest' ? 'it has no worker: it failed, or was disposed of' : '',
  ];
  const text = parts.filter((part) => part !== '').join('; ');
  return text && `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
