/** The first page: what TabServe is, a live sample, and the demos. */
import type { Exhibit, Exhibited } from '../exhibit.js';
import { copies } from '../page/copy.js';
import { el } from '../page/dom.js';
import { address } from '../page/route.js';
import { snippet } from '../panels/code.js';
// eslint-disable-next-line import/default -- Vite makes the text of the file its default export
import program from '../../test/readme/first.ts?raw';
import { cards } from './cards.js';
import { live } from './live.js';

/** The package is not on npm yet: this file is what `npm pack` makes. */
const INSTALL = `npm install ./tabserve-${VERSION}.tgz`;

/** What TabServe claims, and the page that proves it. */
const CLAIMS = [
  {
    title: 'Right, or not used',
    says: 'Before a backend serves, it answers examples whose answers are known. One that computes wrongly, as some GPUs do, is skipped, and the page says why.',
    proof: 'Test this device',
    at: address('backends'),
  },
  {
    title: 'A crash loses nothing',
    says: 'A worker that crashes, hangs or loses its GPU is replaced, and the requests that were in it run again.',
    proof: 'How it heals',
    at: address('docs/healing'),
  },
  {
    title: 'torchvision, bit for bit',
    says: 'Resize, crop, toTensor and normalize give the same float32 bits as torchvision does on the same pixels, so a model sees what it was trained on.',
    proof: 'What was compared',
    at: address('docs/handlers', { at: 'exactness' }),
  },
] as const;

export const home: Exhibit = {
  id: '',
  title: 'Run your models on your visitors’ devices',
  mount,
};

function mount(): Exhibited {
  const sample = live();
  const element = el(
    'div',
    { class: 'home' },
    el(
      'div',
      { class: 'hero' },
      el(
        'div',
        { class: 'pitch' },
        el('h1', {}, home.title),
        el(
          'p',
          { class: 'lead' },
          'TorchServe’s handlers, in the browser tab. Bring an ONNX or TensorFlow.js model: a Web Worker serves it on WebGPU, WebGL or WASM. No server sees the data.',
        ),
        code(),
        install(),
      ),
      el(
        'figure',
        { class: 'sample' },
        sample.element,
        el(
          'figcaption',
          {},
          'A moving picture made of two photos in the public domain: Eileen Collins, by NASA, and Grace Hopper, by the United States Navy. The model cuts the person out of every frame.',
        ),
      ),
    ),
    el(
      'section',
      { class: 'claims', 'aria-label': 'What TabServe claims' },
      ...CLAIMS.map(({ title, says, proof, at }) =>
        el('div', { class: 'claim' }, el('h2', {}, title), el('p', {}, says), el('a', { href: at }, proof)),
      ),
    ),
    el(
      'section',
      { class: 'tries', 'aria-labelledby': 'tries' },
      el('h2', { id: 'tries' }, 'Try it'),
      el('p', {}, 'Each answer below is the model’s own. A demo loads its model when you open it.'),
      cards(),
    ),
  );
  return { element, dispose: sample.dispose };
}

function code(): HTMLElement {
  const text = el('code');
  const copy = el('button', { type: 'button', class: 'copy' }, 'Copy');
  snippet(text, copy).show(program.trimEnd());
  return el('div', { class: 'program' }, el('pre', { tabindex: '0', 'aria-label': 'The whole program' }, text), copy);
}

function install(): HTMLElement {
  const copy = el('button', { type: 'button', class: 'copy' }, 'Copy');
  copies(copy, () => INSTALL);
  return el(
    'div',
    { class: 'get' },
    el('div', { class: 'install' }, el('code', {}, INSTALL), copy),
    el('a', { href: address('docs') }, 'Docs'),
    el('a', { href: address('docs/architecture') }, 'Source'),
    el('p', {}, 'Not on npm yet: ', el('code', {}, 'npm run build && npm pack'), ' in the repository makes this file.'),
  );
}
