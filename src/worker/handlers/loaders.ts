/** The built-in handlers' classes, each a chunk of its own: made from `index.ts` by `scripts/config-docs.mjs`. */
import type { HandlerClass } from '../../contract/handler.js';
import type { AudioHandler } from './audio-handler.js';
import type { BaseHandler } from './base-handler.js';
import type { TextHandler } from './text-handler.js';
import type { VisionHandler } from './vision-handler.js';

/** By the handler's name. */
export const HANDLERS = {
  base_handler: async (): Promise<new () => BaseHandler> => (await import('./base-handler.js')).BaseHandler,
  vision_handler: async (): Promise<new () => VisionHandler> => (await import('./vision-handler.js')).VisionHandler,
  image_classifier: async () => (await import('./image-classifier.js')).ImageClassifier,
  object_detector: async () => (await import('./object-detector.js')).ObjectDetector,
  object_tracker: async () => (await import('./object-tracker.js')).ObjectTracker,
  zero_shot_object_detector: async () => (await import('./zero-shot-object-detector.js')).ZeroShotObjectDetector,
  text_handler: async (): Promise<new () => TextHandler> => (await import('./text-handler.js')).TextHandler,
  text_classifier: async () => (await import('./text-classifier.js')).TextClassifier,
  zero_shot_text_classifier: async () => (await import('./zero-shot-text-classifier.js')).ZeroShotTextClassifier,
  text_reranker: async () => (await import('./text-reranker.js')).TextReranker,
  token_classifier: async () => (await import('./token-classifier.js')).TokenClassifier,
  question_answerer: async () => (await import('./question-answerer.js')).QuestionAnswerer,
  fill_mask: async () => (await import('./fill-mask.js')).FillMask,
  text_generator: async () => (await import('./text-generator.js')).TextGenerator,
  text_to_text: async () => (await import('./text-to-text.js')).TextToText,
  image_to_text: async () => (await import('./image-to-text.js')).ImageToText,
  image_segmenter: async () => (await import('./image-segmenter.js')).ImageSegmenter,
  instance_segmenter: async () => (await import('./instance-segmenter.js')).InstanceSegmenter,
  promptable_segmenter: async () => (await import('./promptable-segmenter.js')).PromptableSegmenter,
  depth_estimator: async () => (await import('./depth-estimator.js')).DepthEstimator,
  background_remover: async () => (await import('./background-remover.js')).BackgroundRemover,
  text_feature_extractor: async () => (await import('./text-feature-extractor.js')).TextFeatureExtractor,
  image_feature_extractor: async () => (await import('./image-feature-extractor.js')).ImageFeatureExtractor,
  zero_shot_image_classifier: async () => (await import('./zero-shot-image-classifier.js')).ZeroShotImageClassifier,
  image_text_embedder: async () => (await import('./image-text-embedder.js')).ImageTextEmbedder,
  image_to_image: async () => (await import('./image-to-image.js')).ImageToImage,
  audio_handler: async (): Promise<new () => AudioHandler> => (await import('./audio-handler.js')).AudioHandler,
  voice_activity_detector: async () => (await import('./voice-activity-detector.js')).VoiceActivityDetector,
  speech_recognizer: async () => (await import('./speech-recognizer.js')).SpeechRecognizer,
  speech_to_text: async () => (await import('./speech-to-text.js')).SpeechToText,
  text_reader: async () => (await import('./text-reader.js')).TextReader,
  graph_workflow: async () => (await import('./graph-workflow.js')).GraphWorkflow,
  text_detector: async () => (await import('./text-detector.js')).TextDetector,
  text_orienter: async () => (await import('./text-orienter.js')).TextOrienter,
  text_recognizer: async () => (await import('./text-recognizer.js')).TextRecognizer,
  face_detector: async () => (await import('./face-detector.js')).FaceDetector,
  face_landmarker: async () => (await import('./face-landmarker.js')).FaceLandmarker,
  hand_landmarker: async () => (await import('./hand-landmarker.js')).HandLandmarker,
  pose_landmarker: async () => (await import('./pose-landmarker.js')).PoseLandmarker,
} satisfies Readonly<Record<string, () => Promise<HandlerClass>>>;
