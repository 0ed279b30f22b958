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
export * from '../tasks/pictures/image-classifier.js';
export * from '../tasks/detection/object-detector.js';
export * from '../tasks/detection/object-tracker.js';
export * from '../tasks/zero-shot/zero-shot-object-detector.js';
export * from './text-handler.js';
export * from '../tasks/texts/text-classifier.js';
export * from '../tasks/texts/zero-shot-text-classifier.js';
export * from '../tasks/texts/text-reranker.js';
export * from '../tasks/texts/token-classifier.js';
export * from '../tasks/texts/question-answerer.js';
export * from '../tasks/texts/fill-mask.js';
export * from '../tasks/writing/text-generator.js';
export * from '../tasks/writing/text-to-text.js';
export * from '../tasks/writing/image-to-text.js';
export * from '../tasks/segmentation/image-segmenter.js';
export * from '../tasks/instances/instance-segmenter.js';
export * from '../tasks/segmentation/promptable-segmenter.js';
export * from '../tasks/segmentation/depth-estimator.js';
export * from '../tasks/segmentation/background-remover.js';
export * from '../tasks/texts/text-feature-extractor.js';
export * from '../tasks/pictures/image-feature-extractor.js';
export * from '../tasks/zero-shot/zero-shot-image-classifier.js';
export * from '../tasks/zero-shot/image-text-embedder.js';
export * from '../tasks/pictures/image-to-image.js';
export * from './audio-handler.js';
export * from '../tasks/speech/voice-activity-detector.js';
export * from '../tasks/speech/speech-recognizer.js';
export * from '../tasks/transcription/speech-to-text.js';
export * from '../tasks/ocr/text-reader.js';
export * from './graph-workflow.js';
export * from '../tasks/ocr/text-detector.js';
export * from '../tasks/ocr/text-orienter.js';
export * from '../tasks/ocr/text-recognizer.js';
export * from '../tasks/people/face-detector.js';
export * from '../tasks/people/face-landmarker.js';
export * from '../tasks/people/hand-landmarker.js';
export * from '../tasks/people/pose-landmarker.js';
