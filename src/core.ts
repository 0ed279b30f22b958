/**
 * The page's public names without the built-in worker: a bundler that finds no reference to it builds only the engines
 * of the app's own worker.
 */
export { connectWorker as connect } from './page/client/connect-worker.js';
export type { Client } from './page/client/client.js';
export type { ClientEvents, Description, Sharing } from './page/requests/sender.js';
export type { ClientFrames, FramesOptions } from './page/streams/frame-source.js';
export type {
  ClientInput,
  ExplainOptions,
  InitializeOptions,
  KeepableInput,
  RequestOptions,
  RequestParams,
} from './page/requests/request-options.js';
export type { ClientOptions, ConfigFor } from './page/options/client-options.js';
export type { FrameAnswer } from './page/streams/frame-reader.js';
export type { FrameSource } from './page/streams/frame-source.js';
export type { ModelLocation } from './page/options/model-location.js';
export { audioChunks, type AudioChunk, type AudioChunksOptions } from './page/sequences/audio-chunks.js';
export type { KeptInput } from './page/requests/retained-value.js';
export type { Sequence, SequenceOptions } from './page/sequences/sequence.js';
export type { JobQueueStatus } from './page/requests/queue.js';
export type { WorkerFactory } from './page/workers/worker-factory.js';
export type { Recovery, WorkerStatus } from './page/requests/sender.js';
export type { ClientMetrics } from './page/metrics/client-metrics.js';
export { clearVerdicts } from './page/selection/verdicts.js';
export type { CacheName } from './contract/downloads.js';
export { cache, type CachedFileInfo, type CacheEstimate } from './page/client/cache.js';
export type { ExcludedPrecision, Verdict, VerdictStore } from './page/selection/verdicts.js';
export { paintHeatMap, paintMask, type Color } from './page/results/opacity.js';
export { paintClasses, paintDepth, paintInstances, paintPicture, vocPalette } from './page/results/painting.js';
export {
  COCO_CONNECTIONS,
  FACE_CONNECTIONS,
  HAND_CONNECTIONS,
  POSE_CONNECTIONS,
  type Connection,
} from './page/results/connections.js';
export { faceMeasures, headPose, type FaceMeasures, type HeadPose } from './page/results/face-measures.js';
export { handGesture, type HandGesture } from './page/results/hand-gesture.js';
export { paintLandmarks } from './page/results/landmarks.js';
export { FACE_LANDMARKS } from './shared/face-points.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './contract/errors.js';
/** The handler classes, as types alone: they run in the worker. */
export type * from './worker/handlers/index.js';
export type * from './worker/tasks/exports.js';
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
export type { VisionParams } from './worker/handlers/vision-params.js';
export type {
  Classification,
  ClassificationForms,
  LabelScore,
  TorchServeClassification,
} from './worker/outputs/classification.js';
export type { SpeechEvent, SpeechSegment } from './worker/tasks/speech/speech.js';
export type { HearingProgress } from './contract/hearing-progress.js';
export type { SpokenAudio, SpokenPart, SpokenTurn } from './contract/spoken-text.js';
export type { Embedding, Pooling } from './worker/outputs/embedding.js';
export type { ReadText } from './worker/tasks/ocr/ctc.js';
export type { Point, Quad } from './worker/tasks/ocr/raster.js';
export type { Picture } from './worker/outputs/picture.js';
export { playSpeech, toAudioBuffer, type PlaySpeechOptions } from './page/results/sound.js';
export { joinSpeakers } from './shared/spoken-turns.js';
export { toWav, type Samples } from './shared/wav.js';
export { cosineSimilarity, nearest, type Neighbor } from './page/results/similarity.js';
export type {
  AssessedBackend,
  AssessedDevice,
  AssessedFile,
  AssessedHandler,
  Assessment,
  LeftOut,
} from './contract/assessment.js';
export type { Serving } from './contract/settings.js';
export type {
  Box,
  Detection,
  DetectionForms,
  Detections,
  TorchServeDetection,
} from './worker/outputs/boxes/detection.js';
export type {
  ClassMap,
  Segmentation,
  SegmentationForms,
  SoftMask,
  TorchServeMap,
} from './worker/tasks/segmentation/segment.js';
export type { EngineOptions, ModelConfig, Progress } from './contract/archive.js';
export type { RemoteModel, RemoteOptions, RemoteProtocol } from './contract/remote.js';
export type {
  Backend,
  BackendName,
  PowerPreference,
  CandidateName,
  EngineName,
  ModelFormat,
  Probe,
  Skipped,
} from './contract/backends.js';
export type { Context, Handler, InputKind, Medium, ModelInfo, Params, ResultKind } from './contract/handler.js';
export type {
  ExplainParamsOf,
  ExplanationOf,
  FormName,
  InputOf,
  ParamsOf,
  PartOf,
  ResultFor,
  ResultOf,
  SequenceResultOf,
} from './contract/handler-types.js';
export type { KeptMessage } from './contract/kept-message.js';
export type { KeptCost, KeptValues } from './contract/kept-values.js';
export type { AudioInput, AudioSamples, PageAudioInput } from './contract/audio.js';
export type { ElementInput, ImageInput } from './contract/images.js';
export type { HistogramSeries, MetricLabels, MetricsSnapshot, ValueSeries } from './contract/metrics.js';
export type { Stage, Timings } from './contract/stages.js';
export type { DType, OutputInfo, Tensor, TensorInfo, Tensors, TypedArrayInput } from './contract/tensors.js';
