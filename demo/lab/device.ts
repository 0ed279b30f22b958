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
  const gpu = [probe?.webgpu, probe?.webgl].find((one) => one?.available === true);
  return {
    browser: browserOf(userAgent),
    gpu: gpu?.available ? ('renderer' in gpu ? gpu.renderer : gpu.description || gpu.vendor) : '',
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

/** Returns the facts of a device, each in a few words. */
export function deviceFacts({ browser, gpu, software, cores, threads }: Device, isProbed: boolean): readonly string[] {
  const graphics = gpu ? `${gpu}${software && !/software/i.test(gpu) ? ' (in software)' : ''}` : 'no GPU in the browser';
  return [
    browser,
    `${cores} ${cores === 1 ? 'core' : 'cores'}`,
    ...(isProbed ? [graphics, threads ? 'WebAssembly with threads' : 'WebAssembly with one thread'] : []),
  ];
}
