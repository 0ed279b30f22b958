/** The worker's public names. Engines are entries of their own (`tabserve/engines/…`): what is in the graph of an entry, some bundlers emit. */
export { expose, type ExposeOptions } from './worker/expose.js';
export type { HandlerClass } from './worker/parts.js';
export type { BatchContext } from './worker/context.js';
export {
  createTestContext,
  type SentPart,
  type TestAnswers,
  type TestContext,
  type TestContextOptions,
  type TestModelOptions,
  type TestNode,
} from './worker/test-context.js';
export {
  createTestHandler,
  type TestHandler,
  type TestHandlerOptions,
  type TestSequence,
  type TestRequestOptions,
} from './worker/testing.js';
export type { NestedList, TestModel, TestOutputs } from './worker/test-session.js';
export type { Engine, EngineEnvironment, EngineLoader, Engines } from './engines/engine.js';
export { BaseHandler, type TensorInput } from './handlers/base-handler.js';
export type { Placement } from './handlers/placements.js';
export { TextReader, type TextLine, type TextReaderParams } from './handlers/text-reader.js';
export { TextDetector, type TextDetectorParams } from './handlers/text-detector.js';
export { TextOrienter, type LineOrientation } from './handlers/text-orienter.js';
export { TextRecognizer } from './handlers/text-recognizer.js';
export type { ReadText } from './outputs/ocr/ctc.js';
export type { Point, Quad } from './outputs/ocr/raster.js';
export { WorkflowHandler } from './handlers/workflow-handler.js';
export { VisionHandler } from './handlers/vision-handler.js';
export type { VisionParams } from './handlers/vision-params.js';
export { ObjectDetector, type ObjectDetectorParams } from './handlers/object-detector.js';
export { ImageClassifier, type ImageClassifierParams } from './handlers/image-classifier.js';
export { ImageSegmenter, type ImageSegmenterParams } from './handlers/image-segmenter.js';
export type { ClassScores } from './handlers/explain/images.js';
export type { ImageExplainParams, TextExplainParams } from './handlers/explain/options.js';
export type {
  ExplainedClass,
  ExplainProgress,
  ImageExplanation,
  TextExplanation,
  WordWeight,
} from './outputs/explanation.js';
export { TextHandler, type TextInput, type TextParams } from './handlers/text-handler.js';
export { TextClassifier, type TextClassifierParams } from './handlers/text-classifier.js';
export { TextFeatureExtractor, type TextFeatureExtractorParams } from './handlers/text-feature-extractor.js';
export { ImageFeatureExtractor, type ImageFeatureExtractorParams } from './handlers/image-feature-extractor.js';
export { ImageToImage, type ImageToImageParams } from './handlers/image-to-image.js';
export { AudioHandler } from './handlers/audio-handler.js';
export {
  VoiceActivityDetector,
  type VoiceActivity,
  type VoiceActivityParams,
  type VoiceActivityUpdate,
} from './handlers/voice-activity-detector.js';
export { unwrap, type Row } from './handlers/row.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './contract/errors.js';
export type { ConfigSchema } from './shared/schema.js';
export * from './transforms/index.js';
export type { Box, Detection, DetectionForms, Detections, TorchServeDetection } from './outputs/detection/detection.js';
export type { Decoder, DetectionDecoder, ModelFacts, Size, TensorView } from './outputs/detection/decoder.js';
export type { Proposals } from './outputs/detection/proposals.js';
export { iou, nms, type ScoredBox } from './outputs/nms.js';
export type {
  Classification,
  ClassificationForms,
  LabelScore,
  TorchServeClassification,
} from './outputs/classification.js';
export type { ClassMap, Segmentation, SegmentationForms, SoftMask, TorchServeMap } from './outputs/segmentation.js';
export type { SpeechEvent, SpeechSegment } from './outputs/speech.js';
export type { Embedding, Pooling } from './outputs/embedding.js';
export type { Picture } from './outputs/picture.js';
export { sigmoid } from './outputs/sigmoid.js';
export { softmax } from './outputs/softmax.js';
export { topK, type Ranked } from './outputs/top-k.js';
export { labelOf, type Labels } from './outputs/labels.js';
/** Helpers on tensors: `tensors.from`, `tensors.row`, `tensors.slice`, `tensors.stack`, … */
export * as tensors from './tensors/tensors.js';
export { transferResult } from './outputs/transfer.js';
export type { BlobFiles, EngineOptions, Files, Manifest, ModelConfig, NodeConfig } from './contract/archive.js';
export type {
  Context,
  ExplainParamsOf,
  ExplanationOf,
  Handler,
  MaybePromise,
  NodeHandler,
  Params,
  ParamsOf,
  PartOf,
  ResultOf,
} from './contract/handler.js';
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
