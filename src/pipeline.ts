/** `pipeline(task, model)`: the call shapes of transformers.js over `load`. */
export { pipeline, type Pipeline, type PipelineOptions, type PipelineProgress } from './page/pipeline/pipeline.js';
export { PipelineTensor } from './page/pipeline/tensor.js';
export type {
  DetectedObject,
  EstimatedDepth,
  FilledToken,
  FoundAnswer,
  FoundEntity,
  LabelScore,
  PipelineCalls,
  PipelineImage,
  PipelineTask,
  SpokenChunk,
  SpokenSamples,
  Transcript,
  ZeroShotLabels,
} from './page/pipeline/calls.js';
