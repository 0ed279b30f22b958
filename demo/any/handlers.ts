/** What the gallery knows of each handler: made from the classes by `npm run generate`. */
import type { HandlerName } from '../../src/worker/handlers/registry.js';
import type { KnownHandler } from './task.js';

export const HANDLERS: { readonly [Name in HandlerName]: KnownHandler } = {
  audio_handler: { takes: 'audio' },
  base_handler: { takes: 'tensors' },
  graph_workflow: { takes: 'tensors' },
  text_handler: { takes: 'text' },
  vision_handler: { takes: 'image' },
  object_detector: { takes: 'image' },
  instance_segmenter: { takes: 'image' },
  text_detector: { takes: 'image' },
  text_orienter: { takes: 'image' },
  text_reader: { takes: 'image' },
  text_recognizer: { takes: 'image' },
  face_detector: { takes: 'image' },
  face_landmarker: { takes: 'image' },
  hand_landmarker: { takes: 'image' },
  pose_landmarker: { takes: 'image' },
  image_classifier: { takes: 'image' },
  image_feature_extractor: { takes: 'image' },
  image_to_image: { takes: 'image' },
  background_remover: { takes: 'image' },
  depth_estimator: { takes: 'image' },
  image_segmenter: { takes: 'image' },
  promptable_segmenter: { takes: 'image', parts: ['vision_encoder', 'prompt_encoder_mask_decoder'] },
  audio_classifier: { takes: 'audio' },
  speaker_embedder: { takes: 'audio' },
  speaker_diarizer: { takes: 'audio' },
  speech_recognizer: { takes: 'audio', params: { timestamps: 'word' } },
  voice_activity_detector: { takes: 'audio' },
  fill_mask: { takes: 'text', input: 'Paris is the [MASK] of France.', params: { topK: 5 } },
  question_answerer: {
    takes: 'text',
    input: {
      question: 'Where did Ada Lovelace live?',
      context:
        'Ada Lovelace lived in London, and wrote the first program for a machine of Charles Babbage. Grace Hopper was born in New York, and wrote one of the first compilers.',
    },
    params: { topK: 3 },
  },
  text_classifier: {
    takes: 'text',
    input: 'The team has won in the last minute, and its fans sang in the streets all night.',
  },
  text_feature_extractor: { takes: 'text' },
  text_reranker: {
    takes: 'text',
    input: {
      query: 'How do I get a new password?',
      texts: [
        'You can return an article within 30 days.',
        'Your password is reset by a link in an e-mail.',
        'We deliver to all countries of the EU.',
      ],
    },
  },
  token_classifier: {
    takes: 'text',
    input: 'Ada Lovelace lived in London, and wrote the first program for a machine of Charles Babbage.',
    params: { aggregationStrategy: 'simple' },
  },
  zero_shot_text_classifier: {
    takes: 'text',
    input: 'The team has won in the last minute, and its fans sang in the streets all night.',
    params: { labels: ['sports', 'science', 'politics'] },
  },
  object_tracker: { takes: 'image' },
  speech_to_text: { takes: 'audio', parts: ['encoder_model', 'decoder_model_merged'] },
  text_to_speech: { takes: 'text', input: 'Hello there. How are you?' },
  image_text_to_text: { takes: 'image-or-text', params: { maxNewTokens: 40 } },
  image_to_text: { takes: 'image', parts: ['encoder_model', 'decoder_model_merged'], params: { maxNewTokens: 40 } },
  text_generator: { takes: 'text', input: 'Once upon a time', params: { maxNewTokens: 40 } },
  text_to_text: {
    takes: 'text',
    parts: ['encoder_model', 'decoder_model_merged'],
    input: 'Ada Lovelace lived in London, and wrote the first program for a machine of Charles Babbage.',
    params: { maxNewTokens: 40 },
  },
  image_text_embedder: { takes: 'image-or-text', parts: ['vision_model', 'text_model'] },
  zero_shot_image_classifier: { takes: 'image', params: { labels: ['a person', 'a cat', 'a street'] } },
  zero_shot_object_detector: { takes: 'image', params: { labels: ['a person', 'a cat', 'a cup'] } },
};
