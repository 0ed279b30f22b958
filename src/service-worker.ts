/** The entry `tabserve/service-worker`: `fetch`, answered by the visitor's device. */
export { answerPredictions, type AnswerOptions } from './service-worker/answer-predictions.js';
export { hostModels, type ModelHost } from './service-worker/host-models.js';
export type { ModelHttpServer } from './service-worker/hosting.js';
export { whenControlled, type ControlOptions } from './service-worker/when-controlled.js';
export type { AnsweredBy, Failure, Policy } from './service-worker/protocol.js';
