/** The entry `tabserve/service-worker`: `fetch`, answered by the visitor's device. */
export { answerPredictions, type AnswerOptions } from './server/service-worker/answer-predictions.js';
export { hostModels, type ModelHost, type ModelHttpServer } from './server/service-worker/host-models.js';
export { whenControlled, type ControlOptions } from './server/service-worker/when-controlled.js';
export type { AnsweredBy, Failure, Policy } from './server/service-worker/protocol.js';
