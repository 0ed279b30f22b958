/** The page's public names. */
export { connect } from './client/connect.js';
export { load, type LoadOptions } from './client/load.js';
export type { Client } from './client/client.js';
export type { ClientEvents, ClientInput, ClientOptions, Description, InitializeOptions, JobQueueStatus, RequestOptions } from './client/options.js';
export type { WorkerFactory } from './client/connection.js';
export type { Recovery } from './client/supervisor.js';
export type { ClientMetrics } from './metrics/serving.js';
export { clearVerdicts, type Verdict, type VerdictStore } from './client/verdicts.js';
export { paintClasses, paintMask, vocPalette, type Color } from './overlay.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './errors.js';
export type { TextInput } from './handlers/text-handler.js';
export type { Classification } from './outputs/classification.js';
export type { Serving } from './serving.js';
export type { Box, Detection, Detections, TorchServeDetection } from './outputs/detection/detection.js';
export type { ClassMap, Segmentation, SoftMask, TorchServeMap } from './outputs/segmentation.js';
export type {
  Backend, BackendName, CandidateName, Context, DType, ElementInput, EngineName, EngineOptions, Handler, HistogramSeries, ImageInput, InputOf, MetricLabels, MetricsSnapshot, ModelCard, ModelConfig, OutputInfo, Params, Probe, Progress, ResultOf, Skipped, Stage, Tensor, TensorInfo, Tensors, Timings, TypedArrayInput, ValueSeries,
} from './contract.js'; // prettier-ignore
