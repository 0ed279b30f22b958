import { expect, test } from '@playwright/test';
import { Chunks } from '../../../../src/page/requests/chunks.ts';
import { Job } from '../../../../src/page/requests/job.ts';
import { CoreBudget } from '../../../../src/page/workers/budget.ts';
import { MAX_BATCHES } from '../../../../src/page/workers/slot.ts';
import type { Backend } from '../../../../src/contract/backends.ts';
import { TabServeError, type ErrorCode } from '../../../../src/contract/errors.ts';
import { random } from '../../../random.ts';
import { settle, wasm, webgpu, World, type FakeWorker } from '../../support/pool-world.ts';

const SEEDS = Number(process.env['SEEDS'] ?? 2000);

/** One request, and what has become of it. */
interface Asked {
  readonly job: Job;
  readonly controller: AbortController;
  /** The workers that have got it. */
  readonly sentTo: Set<FakeWorker>;
  outcome: string | undefined;
  /** What the caller has read of a streamed answer. Each run numbers its chunks from 1, or continues after those of a lost one. */
  readonly read: number[];
  /** The chunks that the run which answered has sent. */
  sent: number;
  /** Whether its worker ever had to wait for the caller, so that others may run beside it. */
  wasPaused: boolean;
}

/** Counts the cores that the pool has reserved. */
class CountedCores extends CoreBudget {
  reserved = 0;

  override reserve(threads: number, options: { readonly must: boolean }): (() => void) | undefined {
    const release = super.reserve(threads, options);
    if (!release) return undefined;
    this.reserved += threads;
    let released = false;
    return () => {
      if (!released) this.reserved -= threads;
      released = true;
      release();
    };
  }
}

/** A pool to which random things happen. After each of them it looks at what must hold at any moment. */
class Story {
  /** What has happened, to be read when something did not hold. */
  readonly events: string[] = [];
  readonly violations = new Set<string>();
  readonly #next: () => number;
  readonly #backend: Backend;
  readonly #cores: number;
  readonly #budget: CountedCores;
  readonly #wears: boolean;
  readonly #mostWorkers: number;
  readonly #waitsForOthers: boolean;
  readonly #world: World;
  readonly #asked: Asked[] = [];
  /** Chunks that each run of a streamed request has sent. */
  readonly #sent = new Map<FakeWorker['requests'][number], number>();
  #questions = 0;
  /** Whether a batch may have been divided because one of its requests could not be sent. */
  #hadTooLarge = false;
  #closed = false;
  /** Whether the last worker was lost, and no recovery has been announced since. */
  #owesRecovery = false;

  constructor(seed: number) {
    this.#next = random(seed);
    this.#backend = this.#chance(0.25) ? webgpu : wasm;
    this.#cores = this.#pick([1, 2, 3, 8]);
    this.#budget = new CountedCores(this.#cores);
    this.#wears = this.#chance(0.3);
    const minWorkers = this.#pick([1, 1, 2, 3]);
    const settings = {
      minWorkers,
      maxWorkers: minWorkers + this.#pick([0, 1, 3]),
      batchSize: this.#pick([1, 2, 3]),
      maxBatchDelay: this.#pick([0, 0, 50]),
      maxRetryTimeoutInSec: this.#pick([0, 5, 300]),
      maxRuns: this.#wears ? this.#pick([1, 2, 4]) : undefined,
    };
    this.#mostWorkers = this.#backend === webgpu ? 1 : settings.maxWorkers;
    this.#waitsForOthers = settings.maxBatchDelay > 0;
    this.#world = new World({ ...settings, cores: this.#budget });
    this.events.push(`${this.#backend.name}, ${this.#cores} cores, ${JSON.stringify(settings)}`);
  }

  async run(): Promise<void> {
    await this.#world.start(this.#backend);
    const steps = 5 + Math.floor(this.#next() * 40);
    for (let step = 0; step < steps && !this.#closed; step++) {
      await this.#step();
      this.#check();
    }
    if (!this.#closed) await this.#calm();
    await this.#end();
  }

  // ── What happens ───────────────────────────────────────────────────────────────────────────────────────────────────

  async #step(): Promise<void> {
    const world = this.#world;
    const busy = this.#alive.filter(({ requests }) => requests.length > 0);
    const kind = this.#next();
    if (kind < 0.28) {
      for (let left = this.#pick([1, 1, 12]); left > 0; left--) this.#ask();
    } else if (kind < 0.36) this.#sendChunk();
    else if (kind < 0.4) this.#readPart();
    else if (kind < 0.58 && busy.length > 0) this.#answer(this.#pick(busy));
    else if (kind < 0.61 && busy.length > 0) this.#failBatch(this.#pick(busy));
    else if (kind < 0.65 && this.#alive.length > 0) this.#die(this.#pick(this.#alive));
    else if (kind < 0.76 && world.attempts.length > 0) await this.#opened();
    else if (kind < 0.8 && world.attempts.length > 0) await this.#notOpened();
    else if (kind < 0.86) this.#abort();
    else if (kind < 0.88) this.#question();
    else if (kind < 0.895 && world.pool.failure) await this.#startAgain();
    else if (kind < 0.995) await this.#pass(this.#pick([1, 50, 1000, 10_000, 61_000]));
    else this.#close();
    await settle();
  }

  #ask(): void {
    const world = this.#world;
    const order = this.#asked.length + 1;
    const controller = new AbortController();
    const [onlyOnce, tooLarge, isPair] = [this.#chance(0.2), this.#chance(0.06), this.#chance(0.2)];
    this.#hadTooLarge ||= tooLarge;
    const exclusive = isPair || this.#chance(0.15);
    const chunks = !isPair && this.#chance(0.2) ? new Chunks() : undefined;
    let isSent = false;
    const row = (index: number): ConstructorParameters<typeof Job>[0][number] => ({
      message: () => {
        if (job.settled) this.#violated(`request ${order} is sent after it has settled`);
        if (tooLarge) throw new Error('no memory');
        isSent = true;
        return { value: index, transferables: [] };
      },
      get replayable() {
        return !(onlyOnce && isSent);
      },
      snapshot: () => {},
      rollback: () => void (isSent = false),
      release: () => {},
    });
    const job: Job = new Job(isPair ? [row(0), row(1)] : [row(0)], {
      order,
      request: 'predict',
      params: {},
      priority: this.#pick([0, 0, 0, 1]),
      exclusive,
      signal: controller.signal,
      arrivedAt: world.now,
      timeout: undefined,
      chunks,
    });
    const asked: Asked = {
      job,
      controller,
      sentTo: new Set(),
      outcome: undefined,
      read: [],
      sent: 0,
      wasPaused: false,
    };
    this.#asked.push(asked);
    job.answer.then(
      ({ rows }) => {
        asked.outcome = rows.map((one) => (one.ok ? String(one.value) : 'failed')).join();
        if (asked.outcome !== (isPair ? `${order}/0,${order}/1` : `${order}`))
          this.#violated(`request ${order} gets the answer ${asked.outcome}`);
      },
      ({ code }: TabServeError) => void (asked.outcome = code),
    );
    this.#tell(
      `ask ${order}${onlyOnce ? ', only once' : ''}${exclusive ? ', exclusive' : ''}${chunks ? ', streamed' : ''}${tooLarge ? ', too large' : ''}`,
    );
    world.pool.add(job);
  }

  /** Answers a batch: not always the oldest, because others pass a stream that is held back. */
  #answer(worker: FakeWorker): void {
    const request = this.#pick(worker.requests);
    this.#tell(`${this.#name(worker)} answers ${request.ids.join('+')}`);
    this.#askedOf(request).sent = this.#sent.get(request) ?? (request.resumed as number | undefined) ?? 0;
    worker.answerOf(request, { memory: 1 });
  }

  /** A worker sends a part of a streamed answer, if the page has room for one. */
  #sendChunk(): void {
    const requests = this.#alive.flatMap((worker) => worker.requests.map((request) => ({ worker, request })));
    const able = requests.filter(({ request }) => (request.room ?? 0) > 0);
    if (able.length === 0) return;
    const { worker, request } = this.#pick(able);
    // The answers to every other request can go on.
    const goesOn = Number(request.ids[0]) % 2 === 0;
    const number = (this.#sent.get(request) ?? (request.resumed as number | undefined) ?? 0) + 1;
    this.#sent.set(request, number);
    this.#tell(`${this.#name(worker)} sends chunk ${number} of ${request.ids[0]}`);
    worker.sendChunk(request, number, goesOn ? number : undefined);
    const asked = this.#askedOf(request);
    if (asked.job.isPaused) asked.wasPaused = true;
    if (asked.job.isPaused !== worker.paused.has(asked.job.id))
      this.#violated(`the watchdog of ${this.#name(worker)} does not know whether ${asked.job.id} is held back`);
  }

  #readPart(): void {
    const able = this.#asked.filter(({ job }) => job.chunks?.hasUnread);
    if (able.length === 0) return;
    const asked = this.#pick(able);
    this.#tell(`chunk of ${asked.job.id} is read`);
    this.#readOf(asked);
  }

  #readOf({ job, read }: Asked): void {
    const chunk = job.chunks!.take().chunk as number;
    if (chunk !== read.length + 1) this.#violated(`chunk ${chunk} of ${job.id} is read after ${read.length} chunks`);
    read.push(chunk);
  }

  #failBatch(worker: FakeWorker): void {
    const code = this.#pick<ErrorCode>(['handler-failed', 'device-lost', 'out-of-memory']);
    this.#tell(`${this.#name(worker)} fails ${worker.batches[0]}: ${code}`);
    if (code !== 'handler-failed') this.#expectRecovery();
    worker.answer({ failure: { name: 'TabServeError', message: 'It failed.', code } });
  }

  #die(worker: FakeWorker): void {
    this.#tell(`${this.#name(worker)} dies`);
    this.#expectRecovery();
    worker.die();
  }

  async #opened(): Promise<void> {
    this.#tell('a worker is opened');
    await this.#world.opened(this.#backend);
  }

  async #notOpened(): Promise<void> {
    const code = this.#pick<ErrorCode>(['backend-failed', 'network', 'model-format']);
    this.#tell(`a worker cannot be opened: ${code}`);
    await this.#world.notOpened(code);
  }

  #abort(): void {
    const open = this.#asked.filter(({ job }) => !job.settled);
    if (open.length === 0) return;
    const { job, controller } = this.#pick(open);
    this.#tell(`abort ${job.id}`);
    controller.abort();
  }

  /** Something that does not wait in the queue. */
  #question(): void {
    this.#tell('ping');
    this.#questions += 1;
    const answered = (): void => void (this.#questions -= 1);
    this.#world.pool.ask(({ ping }) => ping()).then(answered, answered);
  }

  async #startAgain(): Promise<void> {
    this.#tell('start again');
    // Whoever was opening a worker when the pool failed is late.
    while (this.#world.attempts.length > 0) await this.#world.opened(this.#backend);
    await this.#world.start(this.#backend);
  }

  async #pass(milliseconds: number): Promise<void> {
    this.#tell(`${milliseconds} ms pass`);
    await this.#world.pass(milliseconds);
  }

  #close(): void {
    this.#tell('close');
    this.#closed = true;
    this.#world.pool.close(new TabServeError('disposed', 'It was closed.'));
  }

  // ── What must hold ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** At any moment. */
  #check(): void {
    const { pool, attempts, recoveries } = this.#world;
    if (recoveries.splice(0).length > 0 || pool.failure) this.#owesRecovery = false;
    if (!pool.failure) this.#checkNumbers(pool.workers, attempts.length);
    for (const worker of this.#alive) {
      this.#checkReplays(worker);
      const batches = worker.requests.filter((request) => !this.#askedOf(request).wasPaused).length;
      if (batches > MAX_BATCHES && !this.#hadTooLarge) this.#violated(`${this.#name(worker)} has ${batches} batches`);
    }
    const idle = this.#alive.filter(({ requests }) =>
      requests.every((request) => this.#askedOf(request).job.isPaused),
    ).length;
    const draining = this.#alive.length - pool.workers;
    const { pendingRequests } = pool.queueStatus;
    if (!this.#waitsForOthers && pendingRequests > 0 && idle > draining)
      this.#violated(`${pendingRequests} requests wait although a worker is idle`);
  }

  /** A worn worker counts beside its replacement: how many there are then is not looked at here. */
  #checkNumbers(ready: number, opening: number): void {
    if (opening > 1) this.#violated(`${opening} workers are opened at once`);
    if (this.#wears) return;
    if (ready + opening > this.#mostWorkers)
      this.#violated(`${ready} workers are ready, ${opening} opening; ${this.#mostWorkers} are allowed`);
    const { reserved } = this.#budget;
    if (reserved > this.#cores && this.#alive.length > 1)
      this.#violated(`${reserved} cores are reserved; there are ${this.#cores}`);
  }

  /** A request goes to three workers at most, and to all but the first one alone. */
  #checkReplays(worker: FakeWorker): void {
    for (const { ids } of worker.requests)
      for (const id of ids) {
        const { sentTo, job, wasPaused } = this.#asked[Number.parseInt(id, 10) - 1]!;
        sentTo.add(worker);
        if (sentTo.size > 3) this.#violated(`request ${job.id} is sent to ${sentTo.size} workers`);
        const others = worker.requests.filter(
          (request) => !request.ids.includes(id) && !this.#askedOf(request).wasPaused,
        );
        const together = ids.filter((other) => Number.parseInt(other, 10) !== job.order);
        if (sentTo.size > 1 && !wasPaused && (others.length > 0 || together.length > 0))
          this.#violated(`request ${job.id} is replayed beside others: ${worker.batches.join(' and ')}`);
      }
  }

  /** From now on every worker opens and answers: everything ends well. */
  async #calm(): Promise<void> {
    const world = this.#world;
    this.#tell('from now on everything works');
    for (let turn = 0; turn < 500 && !world.pool.failure; turn++) {
      if (world.attempts.length > 0) await world.opened(this.#backend);
      for (const asked of this.#asked) while (asked.job.chunks?.hasUnread) this.#readOf(asked);
      for (const worker of this.#alive) if (worker.requests.length > 0) this.#answer(worker);
      await settle();
      this.#check();
      if (this.#waiting.length === 0 && world.attempts.length === 0 && world.pool.workers > 0) break;
      await world.pass(1000);
    }
    const ids = this.#waiting.map(({ job }) => job.id);
    if (ids.length > 0) this.#violated(`requests ${ids.join()} wait for ever`);
    if (this.#owesRecovery) this.#violated('a loss is healed, and no recovery announced');
    for (const asked of this.#asked) {
      while (asked.job.chunks?.hasUnread) this.#readOf(asked);
      const isAnswered = asked.job.chunks && asked.outcome === asked.job.id;
      if (isAnswered && asked.read.length !== asked.sent)
        this.#violated(`${asked.read.length} of ${asked.sent} chunks of ${asked.job.id} are read`);
    }
  }

  /** After the end nothing is left. */
  async #end(): Promise<void> {
    const world = this.#world;
    if (!this.#closed) this.#close();
    while (world.attempts.length > 0) await world.opened(this.#backend);
    await settle();
    const ids = this.#waiting.map(({ job }) => job.id);
    if (ids.length > 0) this.#violated(`requests ${ids.join()} never settle`);
    if (this.#questions > 0) this.#violated(`${this.#questions} questions never settle`);
    if (world.timers > 0) this.#violated(`${world.timers} timers are left`);
    if (this.#budget.reserved !== 0) this.#violated(`${this.#budget.reserved} cores stay reserved`);
    if (this.#alive.length > 0) this.#violated(`${this.#alive.length} workers are left`);
  }

  #askedOf({ ids }: FakeWorker['requests'][number]): Asked {
    return this.#asked[Number.parseInt(ids[0]!, 10) - 1]!;
  }

  get #alive(): readonly FakeWorker[] {
    return this.#world.workers.filter(({ error }) => !error);
  }

  get #waiting(): readonly Asked[] {
    return this.#asked.filter(({ outcome }) => outcome === undefined);
  }

  /** To be called before a worker is lost. */
  #expectRecovery(): void {
    if (this.#world.pool.workers === 1 && this.#alive.length === 1) this.#owesRecovery = true;
  }

  #chance(share: number): boolean {
    return this.#next() < share;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#next() * from.length)]!;
  }

  #name(worker: FakeWorker): string {
    return `worker ${this.#world.workers.indexOf(worker)}`;
  }

  #tell(event: string): void {
    this.events.push(event);
  }

  #violated(what: string): void {
    this.violations.add(what);
  }
}

test('whatever happens to a pool, in whatever order: every request settles, no limit is passed, and nothing is left', async () => {
  test.setTimeout(300_000);
  const broken: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const story = new Story(seed);
    await story.run();
    if (story.violations.size > 0)
      broken.push(`seed ${seed}: ${[...story.violations].join('; ')}, after ${story.events.join('; ')}`);
  }
  expect(broken).toEqual([]);
});
