import type { Probe } from '../../src/index.js';
import type { Device } from './card.js';

/** Browsers by what their user agent holds; the first match counts, because each one names others as well. */
const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ['Edge', /Edg\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Samsung Internet', /SamsungBrowser\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari\//],
];
const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['ChromeOS', /CrOS/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
];

/** Describes the device by the browser's user agent and, once a worker has run, by what it found. */
export function describeDevice(userAgent: string, cores: number, probe: Probe | undefined): Device {
  const gpu = [probe?.webgl, probe?.webgpu].find((one) => one?.available === true);
  return {
    browser: browserOf(userAgent),
    gpu: gpu?.available ? gpuOf('renderer' in gpu ? gpu.renderer : gpu.description || gpu.vendor) : '',
    software: gpu?.available === true && gpu.software,
    cores: probe?.cores ?? cores,
    threads: probe?.wasm.available === true && probe.wasm.threads,
  };
}

function browserOf(userAgent: string): string {
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? 'an unknown system';
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version) return `${name} ${version} on ${system}`;
  }
  return `A browser on ${system}`;
}

/**
 * Returns the GPU's name without what Chromium puts around it:
 * `ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 (0x2504) Direct3D11 vs_5_0 ps_5_0, D3D11)`.
 */
function gpuOf(renderer: string): string {
  const inner = /^ANGLE \([^,]*, (.*), [^,]*\)$/.exec(renderer)?.[1] ?? renderer;
  const bare = inner
    .replace(/^ANGLE \w+ Renderer: /, '')
    .replace(/^Vulkan [\d.]+ \((.*)\)$/, '$1')
    .replace(/ (Direct3D|OpenGL|Metal|Vulkan).*$/, '')
    .replaceAll(/ ?\(0x[\dA-Fa-f]+\)/g, '');
  return bare.trim() || renderer;
}

/** Returns the facts of a device, each in a few words. */
export function deviceFacts({ browser, gpu, software, cores, threads }: Device, isProbed: boolean): readonly string[] {
  const graphics = gpu ? `${gpu}${software ? ', in software' : ''}` : 'no GPU in the browser';
  return [
    browser,
    `${cores} ${cores === 1 ? 'core' : 'cores'}`,
    ...(isProbed ? [graphics, threads ? 'WebAssembly with threads' : 'WebAssembly with one thread'] : []),
  ];
}
