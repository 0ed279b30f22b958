/** The page that follows faces, hands or bodies in a camera's picture, and continues when its worker is killed. */
import '../styles/instruments.css';
import '../styles/people.css';
import type { Sample } from '../demo.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { camera, type Camera } from '../inputs/camera.js';
import { movingPicture } from '../inputs/moving-picture.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { milliseconds } from '../page/format.js';
import { replaceSettings, route } from '../page/route.js';
import { segments } from '../page/segments.js';
import { savesData, wantsStill } from '../page/wishes.js';
import { backendPanel } from '../panels/backend.js';
import { codePanel } from '../panels/code.js';
import { frame } from '../panels/frame.js';
import { aboutModel } from '../panels/model.js';
import { noteLine } from '../panels/note.js';
import { loadState } from '../panels/progress.js';
import { sampleList } from '../panels/samples.js';
import { timingsView } from '../panels/timings.js';
import { inWords } from '../panels/words.js';
import { openFollower, type Follower } from './follower.js';
import { codeOf, KINDS, type Kind, type KindName } from './kinds.js';
import { view } from './view.js';

const HINT = 'A sample clip is a photo that a camera moves over. Your pictures stay on this device.';
/** How far a clip turns to either side, in radians. */
const TURN = 0.1;

export const people: Exhibit = {
  id: 'people',
  title: 'People',
  summary:
    'Follows faces, hands or bodies through a video, and numbers them. Kill the worker: the numbers stay. It finds points, not who somebody is.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  let follower: Follower | undefined;
  /** Ends what runs: its opening, its frames; undefined if nothing runs. */
  let running: AbortController | undefined;
  /** What plays in the video. */
  let source: Camera | undefined;
  /** The sample that the clip is made of; undefined with the camera, or if nothing runs. */
  let clip: Sample | undefined;

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const shown = view();
  const answer = el('div', { class: 'answer' });
  const noteElement = el('div', { class: 'note', id: 'note' });
  const note = noteLine(noteElement, announce);
  const load = loadState(() => void again());
  const timings = timingsView(false);
  const backend = backendPanel(() => void again(), timings.element);
  const code = codePanel();
  const facts = el('p', { class: 'model-facts' });
  const picks = el('div', {});
  const starter = button('Start the camera', () => void start(undefined));
  const stopper = button('Stop', stop);
  const killer = button('Kill the worker', kill);
  const names = { face: 'Faces', hand: 'Hands', pose: 'Bodies' };
  const find = segments<KindName>('find', 'What is found', names, () => {
    const before = running && { clip };
    stop();
    choose();
    if (before) void start(before.clip && kind().samples[0]);
  });
  const kind = (): Kind => KINDS[find.value];
  let samples = sampleList([], () => {});

  answer.append(shown.list, load.element);
  const element = frame('people', 'wide', {
    well: el('div', { class: 'people-well' }, find.element, shown.stage),
    actions: [starter, stopper, killer],
    note: noteElement,
    samples: picks,
    resultActions: [],
    answer,
    backend: backend.element,
    model: facts,
    code: code.element,
  });

  /** Shows what belongs to the chosen kind. */
  function choose(): void {
    if (!running) shown.clear(kind().samples[0]!.url);
    samples = sampleList(kind().samples, (sample) => void start(sample));
    picks.replaceChildren(samples.element);
    facts.replaceChildren(...aboutModel(kind().model));
    backend.offer(kind().model);
    backend.idle();
    arrange();
  }

  /** Shows what can be done now, and writes the choices into the code and the address. */
  function arrange(): void {
    const focused = [stopper, killer].find((one) => one === document.activeElement);
    stopper.disabled = running === undefined;
    killer.disabled = follower === undefined;
    samples.select(clip);
    // A button that is disabled loses the focus.
    if (focused?.disabled) starter.focus();
    code.show(codeOf(kind(), backend.candidates));
    const chosen = { find: find.value, ...backend.settings };
    const changes = Object.entries(chosen).map(([name, value]) => [
      name,
      value === defaults[name as keyof typeof defaults] ? undefined : value,
    ]);
    replaceSettings(Object.fromEntries(changes) as Record<string, string | undefined>);
  }

  // ── The video, and the model that follows it ─────────────────────────────────────────────────

  /** Plays a clip of a sample, or the camera, and follows everybody in it. */
  async function start(sample: Sample | undefined): Promise<void> {
    stop();
    const own = (running = new AbortController());
    const { signal } = own;
    clip = sample;
    const playing = (source = sample
      ? movingPicture(shown.video, sample.url, () => {}, TURN)
      : camera(shown.video, 'user', { stopped: refused }));
    note.set(HINT);
    note.hint();
    arrange();
    try {
      await playing.start();
      if (signal.aborted) return;
      shown.start(sample === undefined);
    } catch (error) {
      if (!signal.aborted) refused(error);
      return;
    }
    await follow(own);
  }

  async function follow({ signal }: AbortController): Promise<void> {
    const { candidates, where } = backend;
    const of = kind();
    answer.dataset['state'] = 'loading';
    load.start(of.model.bytes, where);
    backend.opening();
    announce(`Loading the model ${where}.`);
    try {
      const opened = await openFollower(of, candidates, signal, {
        progress: load.progress,
        runs: (on) => signal.aborted || backend.runs(on),
        recovered,
        answered: (stages) => timings.show(stages, undefined),
        failed: (error) => signal.aborted || failed(error),
      });
      if (signal.aborted) return opened.dispose();
      follower = opened;
    } catch (error) {
      if (!signal.aborted) failed(error);
      return;
    }
    answer.dataset['state'] = 'ready';
    load.done();
    arrange();
    let said = '';
    try {
      for await (const { result, frame } of follower.follow(shown.video, signal)) {
        if (signal.aborted) return;
        const text = shown.show(of, result, frame);
        if (text !== said) announce((said = text));
      }
    } catch (error) {
      if (!signal.aborted) refused(error);
    }
  }

  /** Opens the model anew, with other backends or after a failure, if a video is followed. */
  async function again(): Promise<void> {
    if (running) await start(clip);
    else choose();
  }

  function kill(): void {
    say('The worker is gone. Another one is opened, and continues with the next frame.');
    follower?.kill();
  }

  function recovered(took: number): void {
    say(`Another worker continued after ${milliseconds(took)}. Whoever is still there has the same number.`);
  }

  function say(text: string): void {
    note.set(text);
    announce(text);
  }

  /** Ends the video, and disposes of the model. */
  function stop(): void {
    running?.abort();
    running = undefined;
    source?.stop();
    source = undefined;
    clip = undefined;
    follower?.dispose();
    follower = undefined;
    delete answer.dataset['state'];
    load.done();
    timings.clear();
    backend.idle();
    shown.clear(kind().samples[0]!.url);
    note.set(HINT);
    arrange();
  }

  /** Says that there is no picture: no camera, or no photo. */
  function refused(error: unknown): void {
    stop();
    note.refused(error);
  }

  function failed(error: unknown): void {
    follower?.dispose();
    follower = undefined;
    answer.dataset['state'] = 'failed';
    load.failed(error);
    backend.failed(described(error).code === 'no-backend');
    announce(`The model could not be opened. ${inWords(error).text}`);
    arrange();
  }

  const defaults = { find: find.value, ...backend.settings };
  const wanted = route().settings;
  find.select(wanted['find']);
  backend.offer(kind().model);
  backend.restore(wanted);
  note.set(HINT);
  choose();
  if (!savesData() && !wantsStill()) void start(kind().samples[0]);

  return {
    element,
    dispose() {
      running?.abort();
      source?.stop();
      follower?.dispose();
    },
  };
}
