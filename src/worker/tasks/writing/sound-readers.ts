/** Which reader a repository's model has for sound. */
import type { Files } from '../../../contract/archive.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { isRecord } from '../../../shared/schema.js';
import { wrong } from '../../handlers/log-mel-config.js';
import { isSampleRate, PREPROCESSOR, readJson } from '../../handlers/speech-files.js';
import { gemma4SoundReader } from './gemma4-sound.js';
import { graniteReader } from './granite-speech.js';
import { PROCESSOR } from './picture-readers.js';
import { qwen2AudioReader } from './qwen2-audio.js';
import type { SoundReader } from './sound-reader.js';
import { ultravoxReader } from './ultravox.js';
import { voxtralReader } from './voxtral.js';

/**
 * Reads how the repository's model hears.
 * @param warn called with what its files say and what has no effect here
 * @throws `model-config`, `model-format`
 */
export async function soundReaderOf(files: Files, warn: (message: string) => void): Promise<SoundReader> {
  const json = files.has(PROCESSOR) ? await files.json(PROCESSOR) : {};
  const processor = isRecord(json) ? json : {};
  // Transformers 5 writes one file, and reads it first.
  const { feature_extractor: own } = processor;
  const extractor = isRecord(own) ? own : await readJson(files, PREPROCESSOR, 'audio_text_to_text');
  const { feature_extractor_type: type, sampling_rate: rate = 16_000 } = extractor;
  if (!isSampleRate(rate)) throw wrong('sampling_rate', rate, 'samples per second');
  if (type === 'GraniteSpeechFeatureExtractor') return graniteReader(extractor, rate);
  if (type === 'Gemma4AudioFeatureExtractor') return gemma4SoundReader(extractor, rate, warn);
  if (type !== 'WhisperFeatureExtractor')
    throw wrong(
      'feature_extractor_type',
      type,
      '"WhisperFeatureExtractor", as of Voxtral and Ultravox, "GraniteSpeechFeatureExtractor", or "Gemma4AudioFeatureExtractor"',
    );
  const config = files.has(HF_CONFIG) ? await files.json(HF_CONFIG) : {};
  const model = isRecord(config) ? config['model_type'] : undefined;
  if (model === 'qwen2_audio') return qwen2AudioReader(extractor, rate, warn);
  if (model !== 'ultravox') return voxtralReader(extractor, rate, warn);
  return ultravoxReader(extractor, processor, rate, warn);
}
