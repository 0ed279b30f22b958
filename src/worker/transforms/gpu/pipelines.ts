/** Compiles the shaders that passes need. */
import type { Pass } from './passes.js';
import { BINDINGS, shaderOf, type PixelSource } from './shaders.js';

/** The compiled form of a program's passes, in their order. */
export type Pipelines = readonly GPUComputePipeline[];

/**
 * Returns a function that compiles passes, each of its shaders once. `source` is what the first pass reads.
 * @throws `GPUPipelineError`
 */
export function pipelineCompiler(
  device: GPUDevice,
): (source: PixelSource, passes: readonly Pass[]) => Promise<Pipelines> {
  const modules = new Map<PixelSource, { readonly module: GPUShaderModule; readonly layout: GPUPipelineLayout }>();
  const pipelines = new Map<string, Promise<GPUComputePipeline>>();

  const moduleOf = (source: PixelSource) => {
    const known = modules.get(source);
    if (known) return known;
    const module = device.createShaderModule({ code: shaderOf(source) });
    const layout = device.createPipelineLayout({ bindGroupLayouts: [device.createBindGroupLayout(entriesOf(source))] });
    const made = { module, layout };
    modules.set(source, made);
    return made;
  };

  const pipelineOf = (source: PixelSource, entryPoint: string): Promise<GPUComputePipeline> => {
    const key = `${source} ${entryPoint}`;
    const known = pipelines.get(key);
    if (known) return known;
    const { module, layout } = moduleOf(source);
    const pipeline = device.createComputePipelineAsync({ layout, compute: { module, entryPoint } });
    pipelines.set(key, pipeline);
    return pipeline;
  };

  return (source, passes) =>
    Promise.all(passes.map(({ entry }, index) => pipelineOf(index === 0 ? source : 'RGBX', entry)));
}

function entriesOf(source: PixelSource): GPUBindGroupLayoutDescriptor {
  const at = (binding: number, entry: Omit<GPUBindGroupLayoutEntry, 'binding' | 'visibility'>) => ({
    binding,
    visibility: GPUShaderStage.COMPUTE,
    ...entry,
  });
  return {
    entries: [
      at(BINDINGS.params, { buffer: { type: 'uniform' } }),
      at(BINDINGS.lookedUp, { buffer: { type: 'read-only-storage' } }),
      at(BINDINGS.result, { buffer: { type: 'storage' } }),
      ...(source === 'texture'
        ? [
            at(BINDINGS.source, { texture: { sampleType: 'unfilterable-float' } }),
            at(BINDINGS.transparent, { buffer: { type: 'storage' } }),
          ]
        : [at(BINDINGS.source, { buffer: { type: 'read-only-storage' } })]),
    ],
  };
}
