import type { Probe } from '../../src/index.js';
import { el } from '../page/dom.js';

export interface ProbeView {
  readonly element: HTMLElement;
  show(probe: Probe): void;
}

/** Shows what this browser offers. */
export function probeView(): ProbeView {
  const element = el(
    'div',
    { class: 'probe', 'aria-busy': 'true' },
    el('p', { class: 'quiet' }, 'A worker is checking the browser…'),
  );
  return {
    element,
    show(probe) {
      element.removeAttribute('aria-busy');
      element.replaceChildren(...[webgpu(probe), webgl(probe), wasm(probe)].map(card));
    },
  };
}

interface Facts {
  readonly title: string;
  readonly state: 'runs' | 'software' | 'missing';
  readonly headline: string;
  readonly rows: readonly (readonly [name: string, value: string])[];
}

function card({ title, state, headline, rows }: Facts): HTMLElement {
  const facts = rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]);
  return el('section', { class: 'has', 'data-has': state, 'aria-label': title }, el('h3', {}, el('span', { class: 'dot', 'aria-hidden': 'true' }), title), el('p', {}, headline), el('dl', {}, ...facts)); // prettier-ignore
}

function webgpu({ webgpu: gpu }: Probe): Facts {
  if (!gpu.available) return missing('WebGPU', gpu.reason);
  const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize } = gpu.limits;
  return there('WebGPU', gpu.software, [
    ['Adapter', gpu.description],
    ['Vendor', gpu.vendor || 'unknown'],
    ['Half precision (fp16)', yes(gpu.fp16)],
    ['Largest buffer', binary(maxBufferSize)],
    ['Largest binding', binary(maxStorageBufferBindingSize)],
    ['Workgroup memory', binary(maxComputeWorkgroupStorageSize)],
  ]);
}

function webgl({ webgl: gl }: Probe): Facts {
  if (!gl.available) return missing('WebGL 2', gl.reason);
  return there('WebGL 2', gl.software, [
    ['Renderer', gl.renderer],
    ['Float render targets', yes(gl.floatRendering)],
    ['Largest texture', `${gl.maxTextureSize.toLocaleString('en')} pixels`],
  ]);
}

function wasm({ wasm: found, crossOriginIsolated, cores }: Probe): Facts {
  const around = [
    ['Cross-origin isolated', yes(crossOriginIsolated)],
    ['Cores', String(cores)],
  ] as const;
  if (!found.available) return { ...missing('WebAssembly', found.reason), rows: around };
  return there('WebAssembly', false, [
    ['SIMD', yes(found.simd)],
    ['JSPI', yes(found.jspi)],
    ['Threads', found.threads ? 'yes' : 'no, one thread'],
    ...around,
  ]);
}

function there(title: string, software: boolean, rows: Facts['rows']): Facts {
  return software
    ? { title, state: 'software', headline: 'Available, but in software: tried after WASM', rows }
    : { title, state: 'runs', headline: 'Available', rows };
}

function missing(title: string, reason: string): Facts {
  return { title, state: 'missing', headline: reason, rows: [] };
}

function yes(is: boolean): string {
  return is ? 'yes' : 'no';
}

/** Limits are powers of two: `1 GiB`, `32 KiB`. */
function binary(value: number): string {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, value)) / 10));
  return `${(value / 1024 ** power).toLocaleString('en', { maximumFractionDigits: 1 })} ${['B', 'KiB', 'MiB', 'GiB'][power]}`;
}
