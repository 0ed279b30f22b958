/** The page's public names without the built-in worker: a bundler that finds no reference to it builds only the engines of the app's own worker. */
export { connectWorker as connect } from './client/connect-worker.js';
export type { Client } from './client/client.js';
export type {
  ClientEvents,
  ClientFrames,
  ClientInput,
  ClientOptions,
  ConfigFor,
  Description,
  ExplainOptions,
  FramesOptions,
  InitializeOptions,
  RequestOptions,
  RequestParams,
  Sharing,
} from './client/options.js';
export type { FrameAnswer } from './client/streams/frame-reader.js';
export type { FrameSource } from './client/streams/frame-source.js';
export type { ModelLocation } from './client/model-location.js';
export { audioChunks, type AudioChunk, type AudioChunksOptions } from './client/sequences/audio-chunks.js';
export type { Sequence, SequenceOptions } from './client/sequences/sequence.js';
export type { JobQueueStatus } from './client/requests/backlog.js';
export type { WorkerFactory } from './client/workers/early-worker.js';
export type { Recovery } from './client/workers/recovery.js';
export type { ClientMetrics } from './client/metrics/client-metrics.js';
export { clearVerdicts } from './client/selection/browser-verdicts.js';
export type { CacheName } from './contract/downloads.js';
export { cache, type CachedFileInfo, type CacheEstimate } from './client/cache.js';
export type { UnfitVerdict, Verdict, VerdictStore } from './client/selection/verdicts.js';
export { paintClasses, paintHeatMap, paintMask, paintPicture, vocPalette, type Color } from './client/painting.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './contract/errors.js';
/** The handler classes, as types alone: they run in the worker. */
export type { BaseHandler, TensorInput } from './handlers/base-handler.js';
export type { ImageClassifier, ImageClassifierParams } from './handlers/image-classifier.js';
export type { ImageExplainParams, TextExplainParams } from './handlers/explain/options.js';
export type {
  ExplainedClass,
  ExplainProgress,
  ImageExplanation,
  TextExplanation,
  WordWeight,
} from './outputs/explanation.js';
export type { ImageToImage, ImageToImageParams } from './handlers/image-to-image.js';
export type { TextDetector, TextDetectorParams } from './handlers/text-detector.js';
export type { LineOrientation, TextOrienter } from './handlers/text-orienter.js';
export type { TextLine, TextReader, TextReaderParams } from './handlers/text-reader.js';
export type { TextRecognizer } from './handlers/text-recognizer.js';
export type { ImageSegmenter, ImageSegmenterParams } from './handlers/image-segmenter.js';
export type { ObjectDetector, ObjectDetectorParams } from './handlers/object-detector.js';
export type { TextClassifier, TextClassifierParams } from './handlers/text-classifier.js';
export type { TextFeatureExtractor, TextFeatureExtractorParams } from './handlers/text-feature-extractor.js';
export type { ImageFeatureExtractor, ImageFeatureExtractorParams } from './handlers/image-feature-extractor.js';
export type { TextHandler, TextInput, TextParams } from './handlers/text-handler.js';
export type { AudioHandler } from './handlers/audio-handler.js';
export type {
  VoiceActivity,
  VoiceActivityDetector,
  VoiceActivityParams,
  VoiceActivityUpdate,
} from './handlers/voice-activity-detector.js';
export type { VisionHandler } from './handlers/vision-handler.js';
export type { VisionParams } from './handlers/vision-params.js';
export type {
  Classification,
  ClassificationForms,
  LabelScore,
  TorchServeClassification,
} from './outputs/classification.js';
export type { SpeechEvent, SpeechSegment } from './outputs/speech.js';
export type { Embedding, Pooling } from './outputs/embedding.js';
export type { ReadText } from './outputs/ocr/ctc.js';
export type { Point, Quad } from './outputs/ocr/raster.js';
export type { Picture } from './outputs/picture.js';
export { cosineSimilarity, nearest, type Neighbor } from './client/similarity.js';
export type { Serving } from './contract/settings.js';
export type { Box, Detection, DetectionForms, Detections, TorchServeDetection } from './outputs/detection/detection.js';
export type { ClassMap, Segmentation, SegmentationForms, SoftMask, TorchServeMap } from './outputs/segmentation.js';
export type { EngineOptions, ModelConfig, Progress } from './contract/archive.js';
export type { RemoteModel, RemoteOptions, RemoteProtocol } from './contract/remote.js';
export type {
  Backend,
  BackendName,
  CandidateName,
  EngineName,
  ModelFormat,
  Probe,
  Skipped,
} from './contract/backends.js';
export type {
  Context,
  ExplainParamsOf,
  ExplanationOf,
  FormName,
  Handler,
  InputOf,
  ModelInfo,
  Params,
  ParamsOf,
  PartOf,
  ResultFor,
  ResultOf,
  SequenceResultOf,
} from './contract/handler.js';
export type { AudioInput, AudioSamples, PageAudioInput } from './contract/audio.js';
export type { ElementInput, ImageInput } from './contract/images.js';
export type { HistogramSeries, MetricLabels, MetricsSnapshot, ValueSeries } from './contract/metrics.js';
export type { Stage, Timings } from './contract/stages.js';
export type { DType, OutputInfo, Tensor, TensorInfo, Tensors, TypedArrayInput } from './contract/tensors.js';
