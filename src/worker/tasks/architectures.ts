/** Architectures that are known by their whole names, made from the classes by `npm run generate` and `scripts/architectures`. */

/** Classes of one task, with one ending. */
export interface KnownArchitectures {
  /** Their task, in words. */
  readonly task: string;
  /** The handler that runs them; without it, none does. */
  readonly handler?: string;
  readonly ending: string;
  /** The names without the ending, separated by spaces. */
  readonly beginnings: string;
}

/** Of transformers 5.24.0: the classes whose endings say nothing, or the wrong task. */
const KNOWN: readonly KnownArchitectures[] = [
  { task: 'alignment of speech and text', ending: 'ForTokenClassification', beginnings: 'Qwen3ASR' },
  {
    task: 'audio classification',
    handler: 'audio_classifier',
    ending: 'ForSequenceClassification',
    beginnings: 'Data2VecAudio Hubert SEWD SEW UniSpeech UniSpeechSat Wav2Vec2Bert Wav2Vec2Conformer Wav2Vec2 WavLM',
  },
  {
    task: 'audio compression',
    ending: 'Model',
    beginnings:
      'Dac HiggsAudioV2Tokenizer NeuCodec PocketTTSAudioTokenizer VibeVoiceAcousticTokenizer WavTokenizer Xcodec2',
  },
  { task: 'document question answering', ending: 'ForQuestionAnswering', beginnings: 'LayoutLM LayoutLMv2 LayoutLMv3' },
  { task: 'document relations', ending: 'ForTokenClassification', beginnings: 'BrosSpadeEE BrosSpadeEL' },
  { task: 'fill-mask with an image', ending: 'ForMaskedLM', beginnings: 'BridgeTower Vilt' },
  { task: 'fill-mask', handler: 'fill_mask', ending: 'LMHeadModel', beginnings: 'FlaubertWith XLMWith' },
  { task: 'image classification by a prompt', ending: 'ForImageClassification', beginnings: 'ShieldGemma2' },
  {
    task: 'image classification',
    handler: 'image_classifier',
    ending: 'ForImageClassificationConvProcessing',
    beginnings: 'Perceiver',
  },
  {
    task: 'image classification',
    handler: 'image_classifier',
    ending: 'ForImageClassificationFourier',
    beginnings: 'Perceiver',
  },
  {
    task: 'image classification',
    handler: 'image_classifier',
    ending: 'ForImageClassificationLearned',
    beginnings: 'Perceiver',
  },
  { task: 'image features by queries', ending: 'VisionModelWithProjection', beginnings: 'Blip2' },
  { task: 'mask generation', ending: 'Model', beginnings: 'SamHQ' },
  { task: 'question answering by beam search', ending: 'ForQuestionAnswering', beginnings: 'Flaubert XLM XLNet' },
  {
    task: 'question answering',
    handler: 'question_answerer',
    ending: 'ForQuestionAnsweringSimple',
    beginnings: 'Flaubert XLM XLNet',
  },
  { task: 'segmentation by an example', ending: 'ForImageSegmentation', beginnings: 'SegGpt' },
  { task: 'segmentation by words', ending: 'ForImageSegmentation', beginnings: 'CLIPSeg' },
  {
    task: 'speech to text',
    ending: 'ForConditionalGeneration',
    beginnings:
      'Canary CohereAsr Dia FunAsrNano GraniteSpeechPlus KyutaiSpeechToText MoonshineStreaming OmniASR Pop2Piano Qwen3ASR Speech2Text VibeVoiceAsr VibeVoice VoxtralRealtime',
  },
  { task: 'speech to text', ending: 'Model', beginnings: 'SpeechEncoderDecoder' },
  { task: 'table question answering', ending: 'ForQuestionAnswering', beginnings: 'Tapas' },
  {
    task: 'text detection',
    ending: 'ForObjectDetection',
    beginnings: 'PPOCRV5MobileDet PPOCRV5ServerDet PPOCRV6MediumDet PPOCRV6SmallDet',
  },
  { task: 'text generation by permutations', ending: 'LMHeadModel', beginnings: 'XLNet' },
  {
    task: 'text generation from images or sound',
    handler: 'text_generator',
    ending: 'ForConditionalGeneration',
    beginnings: 'GlmAsr',
  },
  {
    task: 'text generation from images or sound',
    ending: 'ForConditionalGeneration',
    beginnings:
      'Ernie4_5_VL_Moe GlmImage Moshi MossTranscribeDiarize Nemotron3_5Transcribe Qwen2_5OmniPreTrainedModel Qwen2_5OmniTalker Qwen3OmniMoePreTrainedModel Qwen3OmniMoeTalkerCodePredictorModel Qwen3OmniMoeTalker',
  },
  {
    task: 'text generation from images',
    handler: 'text_generator',
    ending: 'ForConditionalGeneration',
    beginnings:
      'Apertus1p5 Aria AyaVision Cohere2Vision CohereCompass DeepseekOcr2 DeepseekVL DeepseekVLHybrid Dots3Note Ernie4_5_VLMoe Exaone4_5_ Gemma3n Gemma4Unified Glm46V Glm4v Glm4vMoe Glm5Next GotOcr2 Granite4Vision GraniteDocling HYV4VL HunYuanVL HyperCLOVAXVisionV2 Idefics2 Inkling2 Inkling2Loop Inkling InternVL Kimi_K25 Lfm3Vl Llama4 LlavaNext LlavaNextVideo LlavaOnevision MiniCPMOcr MiniCPMV4_6 MiniCPMV4_7 MiniMaxM3Sparse MistralLarge4 Mllama Molmo2 MuseGlimmer MuseSpark Ovis2 PaddleOCRVL PerceptionLM QianfanOCR Qwen2_5OmniThinker Qwen3OmniMoeThinker Qwen3VLMoe Qwen4Exp Step3p7 UnlimitedOcr VideoLlama3',
  },
  {
    task: 'text generation from images',
    handler: 'text_generator',
    ending: 'LlavaForConditionalGeneration',
    beginnings: 'Vip',
  },
  {
    task: 'text generation from images',
    ending: 'ForConditionalGeneration',
    beginnings:
      'Blip Chameleon Cosmos3Edge Cosmos3Omni Emu3 InstructBlip InstructBlipVideo Janus Kosmos2 Kosmos2_5 PI0 PPFormulaNet Pix2Struct T5Gemma2 Udop',
  },
  { task: 'text generation from images', ending: 'LMHeadModel', beginnings: 'BlipText' },
  { task: 'text generation from images', ending: 'ForCausalLM', beginnings: 'Git Phi3V' },
  { task: 'text generation from images', ending: 'LlavaForConditionalGeneration', beginnings: 'Video' },
  {
    task: 'text generation from sound',
    ending: 'ForConditionalGeneration',
    beginnings: 'AudioFlamingo3 MusicFlamingo',
  },
  {
    task: 'text generation',
    handler: 'text_generator',
    ending: '',
    beginnings: 'BertGenerationDecoder ReformerModelWithLMHead',
  },
  { task: 'text to audio', ending: 'Model', beginnings: 'Bark' },
  { task: 'text to audio', ending: 'ForCausalLM', beginnings: 'Clvp CsmDepthDecoder Moshi Musicgen MusicgenMelody' },
  {
    task: 'text to audio',
    ending: 'ForConditionalGeneration',
    beginnings:
      'ClvpModel Csm GradiumPhononTTS HiggsAudioV2 Musicgen MusicgenMelody PocketTTS Qwen2_5Omni Qwen3OmniMoe SeamlessM4TTextToUnit',
  },
  { task: 'text to speech', ending: 'Model', beginnings: 'FastSpeech2Conformer' },
  { task: 'text to text', ending: 'Model', beginnings: 'EncoderDecoder' },
  { task: 'token classification with an image', ending: 'ForTokenClassification', beginnings: 'Vilt' },
  { task: 'token classification with boxes', ending: 'ForTokenClassification', beginnings: 'Bros' },
  { task: 'video classification', ending: 'CLIPModel', beginnings: 'X' },
  { task: 'video segmentation', ending: 'ForUniversalSegmentation', beginnings: 'Videomt' },
  { task: 'visual question answering', ending: 'ForConditionalGeneration', beginnings: 'Blip2' },
  { task: 'visual question answering', ending: 'ForQuestionAnswering', beginnings: 'Blip Lxmert Vilt VisualBert' },
  {
    task: 'zero-shot image classification',
    ending: 'Model',
    beginnings: 'Align Blip CLIPSeg Siglip2 Tipsv2 VideoPrismClip',
  },
  { task: 'zero-shot object detection', ending: 'ForObjectDetection', beginnings: 'OmDetTurbo' },
];

/** Returns what is known of a class; undefined if its ending says its task. */
export function knownArchitecture(name: string): KnownArchitectures | undefined {
  return KNOWN.find(
    ({ ending, beginnings }) =>
      name.endsWith(ending) && beginnings.split(' ').includes(name.slice(0, name.length - ending.length)),
  );
}

/** Returns a class's task in words; undefined if its name does not say it. */
export function taskOfArchitecture(name: string): string | undefined {
  const [, task] = /For([A-Z]\w*)$/.exec(name) ?? [];
  return knownArchitecture(name)?.task ?? task?.replace(/\B(?=[A-Z][a-z])/g, ' ').toLowerCase();
}
