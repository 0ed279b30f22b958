import { TabServeError, type CandidateName, type Probe } from '../../src/index.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { onSettings, replaceSettings, route } from '../page/route.js';
import { isRun, type Card, type Row } from './card.js';
import { cardView } from './card-view.js';
import { candidatesOf, contest } from './contest.js';
import { describeDevice } from './device.js';
import { facts } from './facts.js';
import { logView } from './log-view.js';
import { modelChoice } from './model-choice.js';
import type { LabModel } from './models.js';
import { openFile, type Opened } from './open-file.js';
import { shareButton } from './share-button.js';
import { decodeCard } from './share.js';

export interface ReportCard {
  readonly element: HTMLElement;
  /** Takes the visitor's own model. */
  take(file: File): void;
  refused(error: unknown): void;
  dispose(): void;
}

/**
 * Measures every backend of this device at the press of a button, and shows the result; or the result of another
 * device, which a link holds.
 */
export function reportCard(announce: (text: string) => void): ReportCard {
  let busy: AbortController | undefined;
  let probe: Probe | undefined;
  /** What the model's file says, once it was read. */
  let opened: Opened | undefined;
  /** The card of a link, until this device is measured. */
  let shared: Card | undefined;
  let rows: readonly Row[] = [];
  /** When the measurement ended. */
  let at: number | undefined;

  const choice = modelChoice(choose, take);
  const go = button('Run', () => (busy ? busy.abort() : void run()));
  go.classList.add('primary');
  const share = shareButton(() => current());
  const view = cardView();
  const file = facts();
  const log = logView();
  const element = el(
    'div',
    { class: 'report' },
    el('div', { class: 'report-bar' }, choice.element, share.element, go),
    view.element,
    file.element,
    log.element,
  );

  const device = () => describeDevice(navigator.userAgent, navigator.hardwareConcurrency, probe);
  const current = (): Card | undefined =>
    shared ?? (at && rows.every(isRun) ? { model: choice.model.name, device: device(), at, rows } : undefined);
  const show = (): void => {
    go.textContent = busy ? 'Cancel' : shared ? 'Run on this device' : at ? 'Run again' : 'Run';
    view.show({
      model: choice.model.name,
      device: device(),
      isProbed: probe !== undefined,
      rows,
      shared,
      notes: opened?.notes ?? {},
    });
    share.offer(current() !== undefined && !busy);
  };
  const say = (text: string, state: 'quiet' | 'failed' = 'quiet'): void => {
    view.say(text, state);
    if (state === 'failed') announce(text);
  };

  /** Forgets the results: another model is chosen. */
  function reset(): void {
    busy?.abort();
    busy = at = shared = opened = undefined;
    rows = candidatesOf(choice.model).map((candidate) => ({ candidate, state: 'waiting' }));
    file.show(undefined);
    log.clear();
    share.hide();
    say('');
    show();
  }

  function choose(model: LabModel): void {
    reset();
    replaceSettings({ model: choice.isOwn ? undefined : model.id, card: undefined });
    if (choice.isOwn) void read().catch(() => undefined);
  }

  function take(given: File): void {
    if (/\.onnx$/i.test(given.name)) return choice.offer(given);
    refused(new TabServeError('invalid-input', `${given.name} is not an .onnx file. Choose a model in ONNX format.`));
  }

  function refused(error: unknown): void {
    say(described(error).message, 'failed');
  }

  /** Downloads the model's file if it is a sample, and reads it. @throws what is wrong with it */
  async function read(signal?: AbortSignal): Promise<Opened> {
    if (opened) return opened;
    const { model } = choice;
    try {
      const found = await openFile(model, signal);
      if (model !== choice.model) throw new DOMException('Another model was chosen.', 'AbortError');
      opened = found;
      file.show(found.read, model.sizes);
      show();
      return found;
    } catch (error) {
      if (model === choice.model && !signal?.aborted) refused(error);
      throw error;
    }
  }

  async function run(): Promise<void> {
    const own = (busy = new AbortController());
    const { signal } = own;
    const logs = new Map<CandidateName, string>();
    shared = at = undefined;
    replaceSettings({ card: undefined });
    rows = candidatesOf(choice.model).map((candidate) => ({ candidate, state: 'waiting' }));
    share.hide();
    show();
    say('Reading the model…');
    try {
      const { model, read: found } = await read(signal);
      const known = {
        inputs: found.inputs,
        half: found.weights.some(({ dtype }) => dtype === 'float16'),
        sizes: { ...model.sizes, ...file.sizes },
      };
      await contest(model, known, {
        signal,
        changed: (next) => {
          if (busy !== own) return;
          rows = next;
          show();
        },
        says: say,
        probed: (found) => (probe ??= found),
        logged: (candidate, diagnosis) => logs.set(candidate, diagnosis),
      });
      at = Date.now();
      say('');
    } catch (error) {
      // The visitor chose another model, or left the page.
      if (busy !== own) return;
      if (signal.aborted) say('Canceled.');
      else if (opened) refused(error);
    }
    busy = undefined;
    log.show(logs);
    show();
    if (at) announce(view.conclusion);
  }

  function address(): void {
    const { model = '', card } = route().settings;
    choice.select(model);
    reset();
    if (card === undefined) return;
    try {
      shared = decodeCard(card);
      rows = shared.rows;
      show();
    } catch (error) {
      refused(error);
    }
  }

  const unlisten = onSettings(address);
  address();
  return {
    element,
    take,
    refused,
    dispose() {
      unlisten();
      busy?.abort();
      busy = undefined;
    },
  };
}
