/** What must be known of a handler's class before it is loaded: made from the classes by `scripts/config-docs.mjs`. */
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';

/** By the handler's name. */
export const TASKS: Readonly<Record<string, Omit<HuggingFaceTask, 'handlerConfig'>>> = {
  vision_handler: { processor: 'image' },
  image_classifier: {
    architectures: ['ForImageClassification', 'ForImageClassificationWithTeacher'],
    processor: 'image',
    hasClasses: true,
  },
  object_detector: { architectures: ['ForObjectDetection'], processor: 'image', hasClasses: true },
  zero_shot_object_detector: {
    architectures: ['OwlViTForObjectDetection', 'Owlv2ForObjectDetection', 'GroundingDinoForObjectDetection'],
    processor: 'both',
  },
  text_handler: { processor: 'tokenizer' },
  text_classifier: { architectures: ['ForSequenceClassification'], processor: 'tokenizer', hasClasses: true },
  zero_shot_text_classifier: {
    architectures: ['ForSequenceClassification'],
    label: 'entail',
    processor: 'tokenizer',
    hasClasses: true,
  },
  text_reranker: {
    architectures: ['ForSequenceClassification'],
    keys: ['sentence_transformers', 'sbert_ce_default_activation_function'],
    processor: 'tokenizer',
  },
  token_classifier: { architectures: ['ForTokenClassification'], processor: 'tokenizer', hasClasses: true },
  question_answerer: { architectures: ['ForQuestionAnswering'], processor: 'tokenizer' },
  fill_mask: { architectures: ['ForMaskedLM'], processor: 'tokenizer' },
  text_generator: {
    architectures: ['ForCausalLM', 'LMHeadModel'],
    processor: 'tokenizer',
    models: ['model', 'decoder_model_merged'],
    generates: true,
    files: ['generation_config.json', 'chat_template.jinja', 'config.json'],
  },
  text_to_text: {
    architectures: ['ForConditionalGeneration', 'MarianMTModel'],
    processor: 'tokenizer',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: ['generation_config.json', 'config.json'],
  },
  image_to_text: {
    architectures: ['VisionEncoderDecoderModel'],
    processor: 'both',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: ['generation_config.json', 'config.json'],
  },
  image_segmenter: { architectures: ['ForSemanticSegmentation'], processor: 'image', hasClasses: true },
  instance_segmenter: {
    architectures: ['ForUniversalSegmentation', 'ForInstanceSegmentation', 'DetrForSegmentation'],
    processor: 'image',
    readsTexts: ['OneFormerForUniversalSegmentation'],
    hasClasses: true,
  },
  promptable_segmenter: {
    architectures: ['SamModel', 'Sam2Model'],
    processor: 'image',
    nodes: { vision: ['vision_encoder'], decoder: ['prompt_encoder_mask_decoder'] },
    nodeProcessors: { vision: 'image' },
  },
  depth_estimator: { architectures: ['ForDepthEstimation'], processor: 'image' },
  background_remover: {
    architectures: ['BriaRMBG', 'BiRefNet', 'MODNet', 'ISNet', 'ISNetDIS', 'U2NET', 'U2Net', 'ForImageSegmentation'],
    modelTypes: ['modnet', 'birefnet', 'isnet', 'u2net'],
    processor: 'image',
  },
  text_feature_extractor: {
    architectures: ['TextModelWithProjection'],
    processor: 'tokenizer',
    sentenceTransformers: true,
    files: ['config.json'],
  },
  image_feature_extractor: { architectures: ['VisionModelWithProjection'], processor: 'image' },
  zero_shot_image_classifier: { architectures: ['CLIPModel', 'MetaClip2Model', 'SiglipModel'], processor: 'both' },
  image_text_embedder: {
    processor: 'both',
    nodes: { vision: ['vision_model'], text: ['text_model'] },
    nodeProcessors: { vision: 'image', text: 'tokenizer' },
  },
  image_to_image: { architectures: ['ForImageSuperResolution'], processor: 'image' },
  speech_recognizer: {
    architectures: ['ForCTC'],
    files: ['vocab.json', 'tokenizer_config.json', 'preprocessor_config.json', 'config.json'],
  },
  speech_to_text: {
    architectures: ['WhisperForConditionalGeneration', 'MoonshineForConditionalGeneration'],
    processor: 'tokenizer',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: ['generation_config.json', 'preprocessor_config.json', 'config.json'],
  },
  face_detector: { processor: 'image' },
  pose_landmarker: {
    architectures: ['ForPoseEstimation'],
    processor: 'image',
    nodes: { landmarks: ['model'] },
    nodeProcessors: { landmarks: 'image' },
  },
};
