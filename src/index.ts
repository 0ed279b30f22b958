/** The page's public names. */
export { connect } from './client/connect.js';
export { load, type LoadOptions } from './client/load.js';
export type { Client } from './client/client.js';
export type {
  ClientEvents,
  ClientInput,
  ClientOptions,
  Description,
  InitializeOptions,
  JobQueueStatus,
  RequestOptions,
} from './client/options.js';
export type { WorkerFactory } from './client/workers/connection.js';
export type { Recovery } from './client/workers/supervisor.js';
export type { ClientMetrics } from './client/metrics/client-metrics.js';
export { clearVerdicts } from './client/selection/browser-verdicts.js';
export type { Verdict, VerdictStore } from './client/selection/verdicts.js';
export { paintClasses, paintMask, vocPalette, type Color } from './client/painting.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './contract/errors.js';
export type { TextInput } from './handlers/text-handler.js';
export type { Classification, LabelScore, TorchServeClassification } from './outputs/classification.js';
export type { Serving } from './contract/settings.js';
export type { Box, Detection, Detections, TorchServeDetection } from './outputs/detection/detection.js';
export type { ClassMap, Segmentation, SoftMask, TorchServeMap } from './outputs/segmentation.js';
export type { EngineOptions, ModelConfig, Progress } from './contract/archive.js';
export type { Backend, BackendName, CandidateName, EngineName, Probe, Skipped } from './contract/backends.js';
export type { Context, Handler, InputOf, ModelCard, Params, ResultOf } from './contract/handler.js';
export type { ElementInput, ImageInput } from './contract/images.js';
export type { HistogramSeries, MetricLabels, MetricsSnapshot, ValueSeries } from './contract/metrics.js';
export type { Stage, Timings } from './contract/stages.js';
export type { DType, OutputInfo, Tensor, TensorInfo, Tensors, TypedArrayInput } from './contract/tensors.js';
