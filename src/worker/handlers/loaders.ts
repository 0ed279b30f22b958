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
  image_classifier: async () => (await import('../tasks/pictures/image-classifier.js')).ImageClassifier,
  object_detector: async () => (await import('../tasks/detection/object-detector.js')).ObjectDetector,
  object_tracker: async () => (await import('../tasks/detection/object-tracker.js')).ObjectTracker,
  zero_shot_object_detector: async () =>
    (await import('../tasks/zero-shot/zero-shot-object-detector.js')).ZeroShotObjectDetector,
  text_handler: async (): Promise<new () => TextHandler> => (await import('./text-handler.js')).TextHandler,
  text_classifier: async () => (await import('../tasks/texts/text-classifier.js')).TextClassifier,
  zero_shot_text_classifier: async () =>
    (await import('../tasks/texts/zero-shot-text-classifier.js')).ZeroShotTextClassifier,
  text_reranker: async () => (await import('../tasks/texts/text-reranker.js')).TextReranker,
  token_classifier: async () => (await import('../tasks/texts/token-classifier.js')).TokenClassifier,
  question_answerer: async () => (await import('../tasks/texts/question-answerer.js')).QuestionAnswerer,
  fill_mask: async () => (await import('../tasks/texts/fill-mask.js')).FillMask,
  text_generator: async () => (await import('../tasks/writing/text-generator.js')).TextGenerator,
  text_to_text: async () => (await import('../tasks/writing/text-to-text.js')).TextToText,
  image_to_text: async () => (await import('../tasks/writing/image-to-text.js')).ImageToText,
  image_segmenter: async () => (await import('../tasks/segmentation/image-segmenter.js')).ImageSegmenter,
  instance_segmenter: async () => (await import('../tasks/instances/instance-segmenter.js')).InstanceSegmenter,
  promptable_segmenter: async () => (await import('../tasks/segmentation/promptable-segmenter.js')).PromptableSegmenter,
  depth_estimator: async () => (await import('../tasks/segmentation/depth-estimator.js')).DepthEstimator,
  background_remover: async () => (await import('../tasks/segmentation/background-remover.js')).BackgroundRemover,
  text_feature_extractor: async () => (await import('../tasks/texts/text-feature-extractor.js')).TextFeatureExtractor,
  image_feature_extractor: async () =>
    (await import('../tasks/pictures/image-feature-extractor.js')).ImageFeatureExtractor,
  zero_shot_image_classifier: async () =>
    (await import('../tasks/zero-shot/zero-shot-image-classifier.js')).ZeroShotImageClassifier,
  image_text_embedder: async () => (await import('../tasks/zero-shot/image-text-embedder.js')).ImageTextEmbedder,
  image_to_image: async () => (await import('../tasks/pictures/image-to-image.js')).ImageToImage,
  audio_handler: async (): Promise<new () => AudioHandler> => (await import('./audio-handler.js')).AudioHandler,
  voice_activity_detector: async () =>
    (await import('../tasks/speech/voice-activity-detector.js')).VoiceActivityDetector,
  speech_recognizer: async () => (await import('../tasks/speech/speech-recognizer.js')).SpeechRecognizer,
  speech_to_text: async () => (await import('../tasks/transcription/speech-to-text.js')).SpeechToText,
  text_reader: async () => (await import('../tasks/ocr/text-reader.js')).TextReader,
  graph_workflow: async () => (await import('./graph-workflow.js')).GraphWorkflow,
  text_detector: async () => (await import('../tasks/ocr/text-detector.js')).TextDetector,
  text_orienter: async () => (await import('../tasks/ocr/text-orienter.js')).TextOrienter,
  text_recognizer: async () => (await import('../tasks/ocr/text-recognizer.js')).TextRecognizer,
  face_detector: async () => (await import('../tasks/people/face-detector.js')).FaceDetector,
  face_landmarker: async () => (await import('../tasks/people/face-landmarker.js')).FaceLandmarker,
  hand_landmarker: async () => (await import('../tasks/people/hand-landmarker.js')).HandLandmarker,
  pose_landmarker: async () => (await import('../tasks/people/pose-landmarker.js')).PoseLandmarker,
} satisfies Readonly<Record<string, () => Promise<HandlerClass>>>;
