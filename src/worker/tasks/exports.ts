/**
 * The public names of the tasks: made from the classes by `npm run generate`.
 *
 * `sideEffects` of `package.json` names this file. Otherwise Vite without any config, which puts a worker into one
 * script, never runs the modules that it exports.
 */
export * from './detection/object-detector.js';
export * from './instances/instance-segmenter.js';
export * from './ocr/text-detector.js';
export * from './ocr/text-orienter.js';
export * from './ocr/text-reader.js';
export * from './ocr/text-recognizer.js';
export * from './people/face-detector.js';
export * from './people/face-landmarker.js';
export * from './people/hand-landmarker.js';
export * from './people/pose-landmarker.js';
export * from './pictures/image-classifier.js';
export * from './pictures/image-feature-extractor.js';
export * from './pictures/image-to-image.js';
export * from './prompted/prompted-image-to-text.js';
export * from './segmentation/background-remover.js';
export * from './segmentation/depth-estimator.js';
export * from './segmentation/image-segmenter.js';
export * from './segmentation/promptable-segmenter.js';
export * from './sounds/audio-classifier.js';
export * from './sounds/audio-text-embedder.js';
export * from './sounds/keyword-spotter.js';
export * from './sounds/speaker-embedder.js';
export * from './sounds/zero-shot-audio-classifier.js';
export * from './speakers/conversation-transcriber.js';
export * from './speakers/speaker-diarizer.js';
export * from './speech/speech-recognizer.js';
export * from './speech/voice-activity-detector.js';
export * from './texts/fill-mask.js';
export * from './texts/question-answerer.js';
export * from './texts/text-classifier.js';
export * from './texts/text-feature-extractor.js';
export * from './texts/text-reranker.js';
export * from './texts/token-classifier.js';
export * from './texts/zero-shot-text-classifier.js';
export * from './tracking/object-tracker.js';
export * from './transcription/speech-to-text.js';
export * from './voices/text-to-speech.js';
export * from './writing/audio-text-to-text.js';
export * from './writing/document-question-answerer.js';
export * from './writing/image-text-to-text.js';
export * from './writing/image-to-text.js';
export * from './writing/text-generator.js';
export * from './writing/text-to-text.js';
export * from './zero-shot/image-text-embedder.js';
export * from './zero-shot/zero-shot-image-classifier.js';
export * from './zero-shot/zero-shot-object-detector.js';
