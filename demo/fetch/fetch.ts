import '../styles/instruments.css';
import '../styles/lab.css';
import '../styles/fetch.css';
import { FAILURES } from '../../src/server/service-worker/protocol.js';
import { whenControlled, type Failure } from '../../src/service-worker.js';
import { digits } from '../demos/digits.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { eventLog } from '../lab/event-log.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { milliseconds, percent } from '../page/format.js';
import { part } from '../page/part.js';
import { replaceSettings, route } from '../page/route.js';
import { segments } from '../page/segments.js';
import { snippet } from '../panels/code.js';
import { loadState } from '../panels/progress.js';
import { fetchSample } from '../panels/samples.js';
import { fold } from '../serving/fold.js';
import { codeOf } from './code.js';
import { Hosting } from './hosting.js';
import { MODELS, TAB, type ModelName } from './models.js';
import { plug, serverPlug, tabPlug } from './plugs.js';
import { runningClient, type Reply, type RunningClient } from './running-client.js';
import { strip, WHO, type Who } from './strip.js';

/** Milliseconds for the first visit to install the gallery's service worker, which downloads the gallery. */
const INSTALL = 120_000;

/** The page about `fetch`: a running client, and everything that may answer it with a switch. */
export const fetchPage: Exhibit = {
  id: 'fetch',
  title: 'Fetch',
  summary:
    'A running client that knows only fetch. Pull the plug: switch the server off, close the tab that hosts the model, swap the model, and see who answers.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  const end = new AbortController();
  const { signal } = end;
  const hosting = new Hosting();
  let client: RunningClient | undefined;
  let lastWho = '';

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const log = eventLog('Events');
  const told = (text: string): void => {
    log.add('you', text);
    announce(text);
  };
  const answers = strip();
  const last = el('p', { class: 'strip-last' }, 'The client has not sent anything yet.');
  const pauser = button('Start the client', () => run(!client?.running));
  const names = Object.keys(MODELS) as ModelName[];
  const policy = segments(
    'policy',
    'Policy',
    Object.fromEntries(names.map((name) => [name, MODELS[name]])) as Record<ModelName, string>,
    (name) => choose(name),
  );
  const progress = loadState(() => void start());
  const turn = button('Stop hosting', () => void (hosting.hosted ? stop() : start()));
  const swap = button('Swap the model', () => void swapped());
  const here = plug('This tab', turn, swap);
  const server = serverPlug(told);
  const tab = tabPlug(told);
  const code = el('code');
  const copy = button('Copy', () => {});
  const shown = snippet(code, copy);
  pauser.disabled = true;

  const element = el(
    'div',
    { class: 'lab fetching' },
    part(
      'The client',
      'It sends an image of a digit every half second, with fetch and nothing else. Choose the policy of the model that it asks for.',
      policy.element,
      answers.element,
      last,
      el('div', { class: 'actions' }, pauser),
    ),
    part(
      'Who may answer',
      'Pull any of these plugs while the client runs.',
      el('ul', { class: 'plugs' }, server.element, here.element, tab.element),
      progress.element,
      log.element,
    ),
    fold(
      'Code',
      'The client, the service worker of its app, and the page that hosts.',
      el('pre', { tabindex: '0', 'aria-label': 'Code' }, code),
      el('div', { class: 'actions' }, copy),
    ),
  );

  // ── The client ───────────────────────────────────────────────────────────────────────────────

  function choose(name: ModelName): void {
    if (client) client.path = `predictions/${name}`;
    shown.show(codeOf(name));
    replaceSettings({ model: name === names[0] ? undefined : name });
  }

  function run(is: boolean): void {
    if (!client) return;
    client.running = is;
    pauser.textContent = is ? 'Pause the client' : 'Start the client';
  }

  function answered({ status, headers, scores, milliseconds: time }: Reply): void {
    const by = headers.get('TabServe-Answered-By');
    const who = whoOf(scores !== undefined, by, headers.get(TAB));
    answers.add(who, time);
    const [top] = Object.entries(scores ?? {}).toSorted(([, a], [, b]) => b - a);
    const what = top ? `${top[0]}, ${percent(top[1])}` : `No answer${status ? ` (status ${status})` : ''}`;
    last.textContent = `${what} · ${WHO[who]} · ${milliseconds(time)}`;
    const changed = `${WHO[who]} answers. ${reasonOf(headers.get('TabServe-Reason'))}`;
    if (changed !== lastWho) log.add(by ?? 'none', changed);
    lastWho = changed;
  }

  function reasonOf(reason: string | null): string {
    if (reason === null) return 'The service worker of an older gallery is active: close all tabs of the gallery.';
    return Object.hasOwn(FAILURES, reason) ? FAILURES[reason as Failure] : `The policy is ${reason}.`;
  }

  function whoOf(isAnswered: boolean, by: string | null, tab: string | null): Who {
    if (!isAnswered) return 'nobody';
    if (by !== 'device') return 'server';
    return tab === hosting.tab ? 'here' : 'tab';
  }

  // ── The model in this tab ────────────────────────────────────────────────────────────────────

  function show(): void {
    const { hosted } = hosting;
    turn.textContent = hosted ? 'Stop hosting' : 'Host the model here';
    turn.disabled = false;
    swap.disabled = !hosted;
    here.say(
      hosted ? `It hosts version ${hosted.version} of the model, on ${hosted.where}.` : 'It does not host the model.',
    );
  }

  function busy(text: string): void {
    turn.disabled = swap.disabled = true;
    here.say(text);
  }

  async function start(): Promise<void> {
    busy('It loads the model.');
    progress.start(digits.models[0].bytes, 'in this tab');
    try {
      await hosting.start(signal, progress.progress);
      progress.done();
      told('This tab hosts the model.');
    } catch (error) {
      if (signal.aborted) return void hosting.stop();
      progress.failed(error);
    }
    show();
  }

  async function stop(): Promise<void> {
    busy('It stops.');
    await hosting.stop();
    told('This tab no longer hosts the model.');
    show();
  }

  async function swapped(): Promise<void> {
    busy('It loads the other version.');
    try {
      await hosting.swap(signal);
      told(`The model was swapped: ${hosting.hosted!.where} runs version ${hosting.hosted!.version}.`);
    } catch (error) {
      if (!signal.aborted) told(`The model was not swapped. ${described(error).message}`);
    }
    show();
  }

  // ── The page ─────────────────────────────────────────────────────────────────────────────────

  async function open(): Promise<void> {
    const { settings } = route();
    policy.select(settings['model']);
    busy('The service worker is being installed.');
    try {
      const script = import.meta.env.PROD ? 'sw.js' : 'predictions.sw.js';
      await navigator.serviceWorker.register(script, { scope: './' });
      await whenControlled({ signal, timeout: INSTALL });
      const images = await Promise.all(digits.samples.map(fetchSample));
      client = runningClient(images, `predictions/${policy.value}`, answered);
      pauser.disabled = false;
      signal.addEventListener('abort', () => client!.dispose());
      const wanted = settings['client'] !== 'off';
      // Without a server nobody can answer before the model is ready.
      if (wanted && (await server.opened)) run(true);
      await start();
      if (wanted && hosting.hosted) run(true);
    } catch (error) {
      if (signal.aborted) return;
      busy(`No service worker: ${described(error).message}`);
      announce('This browser cannot show this page.');
    }
  }

  shown.show(codeOf(policy.value));
  void open();
  return {
    element,
    dispose() {
      end.abort();
      tab.dispose();
      void hosting.stop();
    },
  };
}
