/**
 * The built-in handlers, one file each: a line here makes a handler known. Its name in an archive's manifest is the
 * file's, with `_` for `-`. From these lines `scripts/config-docs.mjs` makes `loaders.ts`, and all that says which
 * handlers there are.
 *
 * `sideEffects` of `package.json` names this file. Otherwise Vite without any config, which puts a worker into one
 * script, never runs the modules that it exports.
 */
export * from './base-handler.js';
export * from './vision-handler.js';
export * from './image-classifier.js';
export * from './object-detector.js';
export * from './object-tracker.js';
export * from './zero-shot-object-detector.js';
export * from './text-handler.js';
export * from './text-classifier.js';
export * from './zero-shot-text-classifier.js';
export * from './text-reranker.js';
export * from './token-classifier.js';
export * from './question-answerer.js';
export * from './fill-mask.js';
export * from './text-generator.js';
export * from './text-to-text.js';
export * from './image-to-text.js';
export * from './image-segmenter.js';
export * from './instance-segmenter.js';
export * from './promptable-segmenter.js';
export * from './depth-estimator.js';
export * from './background-remover.js';
export * from './text-feature-extractor.js';
export * from './image-feature-extractor.js';
export * from './zero-shot-image-classifier.js';
export * from './image-text-embedder.js';
export * from './image-to-image.js';
export * from './audio-handler.js';
export * from './voice-activity-detector.js';
export * from './speech-recognizer.js';
export * from './speech-to-text.js';
export * from './text-reader.js';
export * from './graph-workflow.js';
export * from './text-detector.js';
export * from './text-orienter.js';
export * from './text-recognizer.js';
export * from './face-detector.js';
export * from './face-landmarker.js';
export * from './hand-landmarker.js';
export * from './pose-landmarker.js';
