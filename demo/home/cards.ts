/**
 * The cards of the demos, each with an answer of its model: `scripts/gallery-results.mjs` asks the models, and writes
 * `results.json` and the pictures.
 */
import { el } from '../page/dom.js';
import { milliseconds, percent } from '../page/format.js';
import { address } from '../page/route.js';
import results from './results.json' with { type: 'json' };

const OBJECTS = new URL('./objects.avif', import.meta.url).href;
const FACE = new URL('./face.avif', import.meta.url).href;
const LINE = new URL('./line.avif', import.meta.url).href;
const DIGIT = new URL('./digit.webp', import.meta.url).href;
const HEAT = new URL('./heat.webp', import.meta.url).href;
const ENLARGED = new URL('./enlarged.avif', import.meta.url).href;
const ASTRONAUT = 'models/selfie/samples/astronaut.jpg';
const GRACE_HOPPER = 'models/selfie/samples/grace-hopper.jpg';

/** Returns the cards, by what a model does. */
export function cards(): HTMLElement {
  return el(
    'div',
    { class: 'groups' },
    group(
      'See',
      card('detection', 'Objects', 'Finds 80 kinds of objects in a photo or in the camera’s picture.', objects()),
      card('background', 'Background', 'Finds the person, and blurs or replaces what is behind.', background()),
      card(
        'people',
        'People',
        'Follows faces, hands and bodies in the camera’s picture.',
        el('div', { class: 'card-photo card-face' }, photo(FACE)),
      ),
      card('likeness', 'Likeness', 'Sorts pictures by how similar they are.', likeness()),
      card('upscaling', 'Upscaling', 'Doubles the size of a small photo.', upscaling()),
      ofTheHub({
        'Cut-out': address('cut-out'),
        Depth: anyFor('depth'),
        Click: anyFor('click'),
        Search: anyFor('search'),
      }),
    ),
    group(
      'Read',
      card('text', 'Text', 'Reads the text in a photo, also upside down.', text()),
      card('language', 'Language', 'Tells thirty languages apart while you type.', language()),
      card('digits', 'Digits', 'Reads a digit that you draw.', digits()),
      card('orientation', 'Orientation', 'Finds lines of text that are upside down.', orientation()),
      ofTheHub({ Entities: anyFor('entities'), Questions: anyFor('questions') }),
    ),
    group(
      'Hear',
      card('speech', 'Speech', 'Finds speech and transcribes it, in a recording or live.', voice()),
      ofTheHub({ Voices: address('voices') }),
    ),
    group(
      'Write',
      card('chat', 'Chat', 'Answers with tools.', chat()),
      card('writing', 'Writing', 'Goes on with your tale.', writing()),
    ),
    group(
      'Explain',
      card('reasons', 'Reasons', 'Shows which parts of a picture support the answer.', reasons()),
      card(
        'backends',
        'Backends',
        'A report card of your device: which backends run, how fast, and whether they compute correctly.',
        backends(),
      ),
    ),
    group(
      'Operate',
      card('any', 'Any model', 'Runs a repository of Hugging Face, or a folder of yours.', anyModel()),
      card('serving', 'Serving', 'Send more requests than a model can answer, and watch its queue.', serving()),
      card('fetch', 'Fetch', 'An app that calls fetch is answered by the device, or by its server.', fetched()),
      card(
        'docs/your-model',
        'Your model',
        'From PyTorch, Keras, TensorFlow or Hugging Face to a folder that the page loads.',
        yours(),
      ),
    ),
  );
}

function group(title: string, ...cards: readonly HTMLElement[]): HTMLElement {
  const element = el('section', {}, el('h3', {}, title), el('ul', { class: 'cards' }, ...cards));
  const count = cards.filter(({ className }) => className !== 'card-yours').length;
  element.style.setProperty('--cards', String(count));
  return element;
}

/** Returns what else a group has: the visitor downloads a model first. */
function ofTheHub(pages: Readonly<Record<string, string>>): HTMLElement {
  const links = Object.entries(pages).flatMap(([title, href]) => [' ', el('a', { href }, title)]);
  return el('li', { class: 'card-yours' }, 'With a model of the Hub:', ...links);
}

/** Returns the address of the page for any model, with those for a task first. */
function anyFor(task: string): string {
  return address('any', { for: task });
}

function card(page: string, title: string, says: string, shows: HTMLElement): HTMLElement {
  shows.classList.add('card-shows');
  return el('li', {}, el('a', { class: 'card', href: address(page) }, shows, el('h4', {}, title), el('p', {}, says)));
}

function objects(): HTMLElement {
  const { found } = results.objects;
  const boxes = found.map(({ label, score, box: [x, y, width, height] }) => {
    const box = el('span', { class: 'found-box' }, el('span', {}, `${label} ${percent(score)}`));
    for (const [name, share] of Object.entries({ left: x, top: y, width, height }))
      box.style.setProperty(name, `${share! * 100}%`);
    return box;
  });
  const picture = el('span', { class: 'found-picture' }, photo(OBJECTS), ...boxes);
  picture.style.aspectRatio = String(results.objects.ratio);
  return el('div', { class: 'card-photo' }, picture);
}

function background(): HTMLElement {
  return el('div', { class: 'card-person' }, photo(ASTRONAUT), photo(ASTRONAUT));
}

function text(): HTMLElement {
  const { text: read, score } = results.text;
  return el('div', { class: 'card-line' }, photo(LINE), answer(`“${read}”`, score));
}

function language(): HTMLElement {
  const { text, label, score } = results.language;
  return el('div', { class: 'card-text' }, el('p', {}, `“${text}”`), answer(label, score));
}

function chat(): HTMLElement {
  return el('div', { class: 'card-text' }, el('p', {}, '6 * 7? It is 42.'));
}

function writing(): HTMLElement {
  return el('div', { class: 'card-text' }, el('p', {}, `${results.writing}…`));
}

function digits(): HTMLElement {
  const { label, score } = results.digits;
  return el('div', { class: 'card-digit' }, photo(DIGIT), answer(label, score));
}

function orientation(): HTMLElement {
  const { label, score } = results.orientation;
  return el('div', { class: 'card-line' }, photo(LINE), answer(label, score));
}

function voice(): HTMLElement {
  const { duration, peaks, segments } = results.voice;
  const spoken = segments.map(([start, end]) =>
    shape('rect', { x: (100 * start!) / duration, width: (100 * (end! - start!)) / duration, y: 0, height: 100 }),
  );
  const wave = peaks.map((peak, at) => `M${((at + 0.5) * 100) / peaks.length} ${50 - peak / 2}v${Math.max(peak, 1)}`);
  const seconds = segments.reduce((sum, [start, end]) => sum + end! - start!, 0);
  return el(
    'div',
    { class: 'card-voice' },
    drawing(...spoken, shape('path', { d: wave.join('') })),
    el(
      'p',
      { class: 'card-answer' },
      el('strong', {}, `${seconds.toFixed(1)} s`),
      ` of ${duration.toFixed(1)} s is speech`,
    ),
  );
}

function reasons(): HTMLElement {
  const { label, score } = results.digits;
  const heated = el('span', { class: 'card-heat' }, photo(DIGIT), photo(HEAT));
  return el('div', { class: 'card-digit' }, heated, answer(`Why ${label}?`, score));
}

function likeness(): HTMLElement {
  const shown = [ASTRONAUT, GRACE_HOPPER, OBJECTS].map((url, at) => {
    const score = results.likeness[at - 1];
    return el('li', {}, photo(url), el('p', {}, score === undefined ? 'Chosen' : score.toFixed(2)));
  });
  return el('div', {}, el('ul', { class: 'card-alike' }, ...shown));
}

function upscaling(): HTMLElement {
  return el(
    'div',
    { class: 'card-photo card-enlarged' },
    photo(ENLARGED),
    el('ul', {}, el('li', {}, 'browser'), el('li', {}, 'model')),
  );
}

function backends(): HTMLElement {
  const { model, measured } = results.backends;
  const slowest = Math.max(...measured.map(({ took }) => took));
  const rows = measured.map(({ candidate, took }) => {
    const bar = el('span', { class: 'card-bar' });
    bar.style.width = `${(took / slowest) * 100}%`;
    return el('li', {}, el('span', {}, candidate), el('span', {}, milliseconds(took)), bar);
  });
  return el(
    'div',
    { class: 'card-bars' },
    el('p', {}, `${model}, on the machine that made this page`),
    el('ul', {}, ...rows),
  );
}

function serving(): HTMLElement {
  const { offered, answered, refused } = results.serving;
  const [done, rest] = [el('span', { class: 'card-done' }), el('span', { class: 'card-refused' })];
  done.style.flexGrow = String(answered);
  rest.style.flexGrow = String(refused);
  return el(
    'div',
    { class: 'card-load' },
    el('p', {}, el('strong', {}, offered.toLocaleString('en')), ' requests a second'),
    el('div', { class: 'card-flow' }, done, rest),
    el('p', {}, `${answered} answered, ${refused} refused at once`),
  );
}

function fetched(): HTMLElement {
  const { label, score } = results.digits;
  return code(`POST /predictions/digits\n200 { "${label}": ${score.toFixed(2)}, … }\nTabServe-Answered-By: device`);
}

function anyModel(): HTMLElement {
  return code('ORG/NAME/\n  config.json\n  tokenizer.json\n  onnx/model_q4.onnx');
}

function yours(): HTMLElement {
  return code('models/mine/\n  model.onnx\n  index_to_name.json\n  model-config.yaml');
}

function code(text: string): HTMLElement {
  return el('div', { class: 'card-files' }, el('pre', {}, text));
}

function answer(label: string, score: number): HTMLElement {
  return el('p', { class: 'card-answer' }, el('strong', {}, label), ` ${percent(score)}`);
}

/** Returns an SVG of 100 × 100 units, stretched to fill its place. */
function drawing(...shapes: readonly SVGElement[]): SVGElement {
  const svg = shape('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  svg.append(...shapes);
  return svg;
}

function shape(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** Creates the picture of a card, whose text says what the picture shows. */
function photo(url: string): HTMLImageElement {
  return el('img', { src: url, alt: '', loading: 'lazy', decoding: 'async' });
}
