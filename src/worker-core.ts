/**
 * The worker's public names. Engines are entries of their own (`tabserve/engines/…`): what is in the graph of an entry,
 * some bundlers emit.
 */
export { expose, type ExposeOptions } from './worker/host/expose.js';
export type { BatchContext } from './worker/host/context.js';
export {
  createTestContext,
  type SentPart,
  type TestAnswers,
  type TestContext,
  type TestContextOptions,
  type TestModelOptions,
  type TestNode,
} from './worker/host/test-context.js';
export {
  createTestHandler,
  type TestHandler,
  type TestHandlerOptions,
  type TestSequence,
  type TestRequestOptions,
} from './worker/host/testing.js';
export type { NestedList, TestModel, TestOutputs } from './worker/host/test-session.js';
export type { Engine, EngineEnvironment, EngineLoader, Engines } from './worker/engines/engine.js';
export * from './worker/handlers/index.js';
export * from './worker/tasks/exports.js';
export type { Placement } from './worker/handlers/placements.js';
export type { ReadText } from './worker/tasks/ocr/ctc.js';
export type { Point, Quad } from './worker/tasks/ocr/raster.js';
export { WorkflowHandler } from './worker/handlers/workflow-handler.js';
export type { VisionParams } from './worker/handlers/vision-params.js';
export type { ClassScores } from './worker/handlers/explain.js';
export type {
  AnswerExplainParams,
  ImageExplainParams,
  TextExplainParams,
  TokenExplainParams,
} from './worker/handlers/explain.js';
export type {
  AnswerExplanation,
  AnswerWordWeight,
  ExplainedClass,
  ExplainProgress,
  ImageExplanation,
  TextExplanation,
  TokenExplanation,
  WordWeight,
} from './worker/outputs/explanation.js';
export { unwrap, type Row } from './worker/handlers/row.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './contract/errors.js';
export type { ConfigSchema } from './shared/schema.js';
export * from './worker/transforms/index.js';
export type {
  Box,
  Detection,
  DetectionForms,
  Detections,
  TorchServeDetection,
} from './worker/outputs/boxes/detection.js';
export type { Decoder, DetectionDecoder, ModelFacts, Size, TensorView } from './worker/outputs/boxes/decoder.js';
export type { Proposals } from './worker/outputs/boxes/proposals.js';
export { iou, nms, type ScoredBox } from './worker/outputs/boxes/nms.js';
export type {
  Classification,
  ClassificationForms,
  LabelScore,
  TorchServeClassification,
} from './worker/outputs/classification.js';
export type {
  ClassMap,
  Segmentation,
  SegmentationForms,
  SoftMask,
  TorchServeMap,
} from './worker/tasks/segmentation/segment.js';
export type { SpeechEvent, SpeechSegment } from './worker/tasks/speech/speech.js';
export type { HearingProgress } from './contract/hearing-progress.js';
export type { SpokenAudio, SpokenPart, SpokenTurn } from './contract/spoken-text.js';
export type { Embedding, Pooling } from './worker/outputs/embedding.js';
export type { Picture } from './worker/outputs/picture.js';
export { type Ranked, sigmoid, softmax, topK } from './worker/outputs/scores.js';
export { labelOf, type Labels } from './worker/outputs/labels.js';
/** Helpers on tensors: `tensors.from`, `tensors.row`, `tensors.slice`, `tensors.stack`, … */
export * as tensors from './worker/tensors/tensors.js';
export { transferResult } from './worker/outputs/transfer.js';
export type { BlobFiles, EngineOptions, Files, Manifest, ModelConfig, NodeConfig } from './contract/archive.js';
export type {
  Context,
  Handler,
  HandlerClass,
  InputKind,
  MaybePromise,
  Medium,
  NodeHandler,
  Params,
  ResultKind,
} from './contract/handler.js';
export type { ExplainParamsOf, ExplanationOf, ParamsOf, PartOf, ResultOf } from './contract/handler-types.js';
export type { KeptMessage } from './contract/kept-message.js';
export type { KeptCost, KeptValues } from './contract/kept-values.js';
export type { HuggingFaceTask } from './contract/hugging-face-task.js';
export type { AudioInput, AudioSamples } from './contract/audio.js';
export type { DecodedImage, DecodeOptions, ImageInput, Pixels } from './contract/images.js';
export type {
  LabelOptions,
  MetricLabels,
  MetricOptions,
  Metrics,
  MetricType,
  Observation,
  SizeOptions,
  TimeOptions,
} from './contract/metrics.js';
export type { DType, OutputInfo, Session, Tensor, TensorInfo, Tensors, TypedArrayInput } from './contract/tensors.js';
