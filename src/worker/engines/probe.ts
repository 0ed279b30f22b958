import type { PowerPreference, Probe } from '../../contract/backends.js';
import { messageOf } from '../../contract/errors.js';
import { canShareMemory } from '../../shared/threads.js';
import { createWebnnContext } from './webnn.js';

/** Renderers that emulate a GPU on the CPU. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|basic render|software|lavapipe/i;

/**
 * Probes the browser's capabilities. Call it in the worker that will use them, because a page may have capabilities
 * that its workers lack.
 * @param needsGpus whether to look for GPUs: starting them takes tens of milliseconds, during some of which the
 *   worker does nothing else
 * @param powerPreference which GPU to look for; undefined for the default of each backend
 */
export async function probeBackends(needsGpus: boolean, powerPreference?: PowerPreference): Promise<Probe> {
  const [webgpu, webnn] = needsGpus
    ? await Promise.all([probeWebgpu(powerPreference), probeWebnn(powerPreference)])
    : [UNPROBED, UNPROBED];
  const { deviceMemory } = (globalThis.navigator ?? {}) as { readonly deviceMemory?: number };
  return {
    webgpu,
    webgl: needsGpus ? probeWebgl(powerPreference) : UNPROBED,
    webnn,
    wasm: probeWasm(),
    crossOriginIsolated: globalThis.crossOriginIsolated === true,
    cores: globalThis.navigator?.hardwareConcurrency ?? 1,
    ...(deviceMemory !== undefined && { memory: deviceMemory }),
  };
}

const UNPROBED = { available: false, reason: 'It was not looked for: the option `backends` names no GPU.' } as const;

async function probeWebgpu(powerPreference: PowerPreference = 'high-performance'): Promise<Probe['webgpu']> {
  const gpu = globalThis.navigator?.gpu as GPU | undefined;
  if (!gpu)
    return {
      available: false,
      reason:
        globalThis.isSecureContext === false ? 'WebGPU needs a secure context (https).' : 'This browser has no WebGPU.',
    };
  try {
    const adapter = await gpu.requestAdapter({ powerPreference });
    if (!adapter) return { available: false, reason: 'WebGPU has no adapter here.' };
    const { vendor, architecture, description, isFallbackAdapter } = adapter.info;
    const name = [vendor, architecture, description].filter(Boolean).join(' ') || 'unknown adapter';
    const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize } = adapter.limits;
    return {
      available: true,
      vendor,
      architecture,
      description: name,
      software: isFallbackAdapter === true || SOFTWARE.test(name),
      fp16: adapter.features.has('shader-f16'),
      limits: { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize },
    };
  } catch (error) {
    return { available: false, reason: `WebGPU failed: ${messageOf(error)}` };
  }
}

function probeWebgl(powerPreference: PowerPreference | undefined): Probe['webgl'] {
  try {
    const gl =
      typeof OffscreenCanvas === 'undefined'
        ? null
        : new OffscreenCanvas(1, 1).getContext('webgl2', { powerPreference });
    if (!gl) return { available: false, reason: 'This browser has no WebGL 2 in workers.' };
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    const renderer = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    const facts = {
      renderer,
      software: SOFTWARE.test(renderer),
      floatRendering: gl.getExtension('EXT_color_buffer_float') !== null,
      maxTextureSize: gl.getParameter(gl.MAX_TEXTURE_SIZE) as number,
    };
    gl.getExtension('WEBGL_lose_context')?.loseContext();
    return { available: true, ...facts };
  } catch (error) {
    return { available: false, reason: `WebGL failed: ${messageOf(error)}` };
  }
}

async function probeWebnn(powerPreference: PowerPreference | undefined): Promise<Probe['webnn']> {
  try {
    (await createWebnnContext(powerPreference)).destroy();
    return { available: true };
  } catch (error) {
    return { available: false, reason: messageOf(error) };
  }
}

/** `(module (func (result v128) i32.const 0 i8x16.splat))`: valid if the browser has SIMD. */
const SIMD_MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11,
]);

function probeWasm(): Probe['wasm'] {
  if (typeof WebAssembly === 'undefined') return { available: false, reason: 'This browser has no WebAssembly.' };
  try {
    // A Content-Security-Policy without 'wasm-unsafe-eval' forbids compiling, but not `validate`.
    const compiled = new WebAssembly.Module(SIMD_MODULE);
    return {
      available: true,
      simd: compiled instanceof WebAssembly.Module,
      jspi: 'Suspending' in WebAssembly,
      threads: canShareMemory(),
    };
  } catch (error) {
    const reason = WebAssembly.validate(SIMD_MODULE)
      ? `WebAssembly is forbidden here; does the Content-Security-Policy lack 'wasm-unsafe-eval'? (${messageOf(error)})`
      : 'This browser has no WebAssembly SIMD, which the engines need.';
    return { available: false, reason };
  }
}
