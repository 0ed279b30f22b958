/** `pipeline(task, model)`: the call shapes of transformers.js over `load`. */
export { pipeline, type Pipeline, type PipelineOptions, type PipelineProgress } from './page/pipeline/pipeline.js';
export { PipelineTensor } from './page/pipeline/tensor.js';
export type {
  DetectedObject,
  DocumentAnswer,
  EstimatedDepth,
  FilledToken,
  FoundAnswer,
  FoundEntity,
  ImageSegment,
  LabelScore,
  PipelineCalls,
  PipelineImage,
  PipelineTask,
  SpokenChunk,
  SpokenSamples,
  Transcript,
  ZeroShotLabels,
} from './page/pipeline/calls.js';
