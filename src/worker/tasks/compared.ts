/** The classes of models whose answers tests compare with Python's, made from the classes by `npm run generate` and from `test/models`. */

/** By the ends of their names: how these begin, separated by spaces. */
const COMPARED: Readonly<Record<string, string>> = {
  ForAudioClassification: 'AST Whisper',
  ForCausalLM:
    'AXK1 Afmoe Apertus Arcee AriaText Bart BigBird BigBirdPegasus BioGpt BitNet Blenderbot BlenderbotSmall Bloom Camembert CodeGen Cohere2 Cohere2Moe Cohere Cwm Data2VecText Dbrx DeepseekV2 DeepseekV3 DiffLlama Doge Dots1 Electra Emu3 Ernie4_5 Ernie4_5_Moe Ernie Exaone4 ExaoneMoe Falcon FalconH1 FlexOlmo GPTBigCode GPTJ GPTNeo GPTNeoX GPTNeoXJapanese Gemma2 Gemma3 Gemma3n Gemma4 Gemma4Unified Gemma Glm4 Glm4Moe Glm4MoeLite Glm GlmMoeDsa GptOss Granite GraniteMoe GraniteMoeHybrid GraniteMoeSWA GraniteMoeShared GraniteSWA HYV3 Helium HrmText HunYuanDenseV1 HunYuanMoEV1 HyperCLOVAX Jais2 Laguna Lfm2 Lfm2Moe Llama4 Llama LlavaQwen2 LongcatFlash MBart Marian MegatronBert Mellum MiMoV2Flash MiniCPM3 MiniMaxM2 Ministral3 Ministral Mistral4 Mistral Mixtral Mllama ModernBertDecoder Mpt Mvp NanoChat Nemotron NemotronH OPT Olmo2 Olmo3 Olmo OlmoHybrid Olmoe PLBart Pegasus Persimmon Phi3 Phi Phimoe Qwen2 Qwen2Moe Qwen3 Qwen3Moe Qwen3Next Qwen3_5 Qwen3_5Moe RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SeedOss SmolLM3 SolarOpen StableLm Starcoder2 TrOCR VaultGemma Whisper XGLM XLMRoberta XLMRobertaXL Youtu',
  Model:
    'Aimv2Vision Albert Apertus Arcee Beit BertLMHead Bert BigBird BioGpt Bit Bloom CLIP CLIPText CLIPVision CTRLLMHead CTRL Camembert ChineseCLIP ChineseCLIPVision Clap ConvBert ConvNext ConvNextV2 Cvt DINOv3ConvNext DINOv3ViT Data2VecText Deberta DebertaV2 DeepseekV3 DeiT DiffLlama Dinov2 Dinov2WithRegisters DistilBert Doge DonutSwin EdgeTam Electra Ernie Esm Esmc EuroBert Exaone4 Falcon Flaubert FlaubertWithLMHead FocalNet GPT2LMHead GPT2 GPTBigCode GPTJ GPTNeo GPTNeoX Gemma2 Gemma3Text Gemma Glm4 Glm Granite Gte Helium Hiera HunYuanDenseV1 IBert IJepa JinaEmbeddingsV3 LayoutLM LayoutLMv3 Levit Lilt Llama Luke MLCDVision MPNet MT5Encoder MarianMT MarkupLM MegatronBert MetaClip2 MiniCPM3 Ministral3 Ministral Mistral4 Mistral Mixtral MobileBert MobileNetV1 MobileNetV2 MobileViT ModernBertDecoder ModernBert Mpt Nemotron NomicBert Nystromformer OPT Olmo2 Olmo OpenAIGPTLMHead OpenAIGPT OpenAIPrivacyFilter Persimmon Phi3 Phi Phimoe PoolFormer Pvt PvtV2 Qwen2 Qwen2Moe Qwen3 Qwen3Moe RegNet RemBert ResNet RoCBert RoFormer Roberta RobertaPreLayerNorm Sam2 Sam3Tracker Sam SeedOss Segformer Siglip SiglipVision SmolLM3 Splinter SqueezeBert StableLm Starcoder2 StyleTextToSpeech2 SwiftFormer Swin Swinv2 T5Encoder TextNet UMT5Encoder Ultravox ViTMSN ViT VisionEncoderDecoder Vits WeSpeakerResNet XLM XLMRoberta XLMRobertaXL XLMWithLMHead XLNet Yoso',
  ForMaskedLM:
    'Albert Bert BigBird Camembert ConvBert Data2VecText Deberta DebertaV2 DistilBert Electra Ernie Esm Esmc EuroBert Gte IBert JinaEmbeddingsV3 LayoutLM Luke MPNet MegatronBert MobileBert ModernBert NomicBert Nystromformer RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SqueezeBert XLMRoberta XLMRobertaXL Yoso',
  ForQuestionAnswering:
    'Albert Arcee Bart Bert BigBird BigBirdPegasus Bloom Camembert ConvBert Data2VecText Deberta DebertaV2 DiffLlama DistilBert Electra Ernie Exaone4 Falcon GPT2 GPTJ GPTNeo GPTNeoX IBert Lilt Llama Luke MBart MPNet MT5 MarkupLM MegatronBert Ministral Mistral Mixtral MobileBert ModernBert Mpt Mvp Nemotron Nystromformer OPT Qwen2 Qwen2Moe Qwen3 Qwen3Moe RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SeedOss SmolLM3 Splinter SqueezeBert T5 UMT5 XLMRoberta XLMRobertaXL Yoso',
  ForSequenceClassification:
    'Albert Arcee Bart Bert BigBird BigBirdPegasus BioGpt Bloom CTRL Camembert ConvBert Data2VecAudio Data2VecText Deberta DebertaV2 DeepseekV3 DiffLlama DistilBert Doge Electra Ernie Esm Esmc EuroBert Exaone4 Falcon Flaubert GPT2 GPTBigCode GPTJ GPTNeo Gemma2 Gemma3Text Gemma Glm4 Glm GptOss Gte Helium Hubert HunYuanDenseV1 IBert LayoutLM LayoutLMv3 Lilt Llama Luke MBart MPNet MT5 MarkupLM MegatronBert MiniCPM3 Ministral3 Ministral Mistral4 Mistral Mixtral MobileBert ModernBertDecoder ModernBert Mpt Mvp Nemotron NomicBert Nystromformer OPT OpenAIGPT PLBart Persimmon Phi3 Phi Phimoe Qwen2 Qwen2Moe Qwen3 Qwen3Moe RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SEWD SEW SeedOss SmolLM3 SqueezeBert StableLm Starcoder2 T5 UMT5 UniSpeech UniSpeechSat Wav2Vec2Bert Wav2Vec2Conformer Wav2Vec2 WavLM XLM XLMRoberta XLMRobertaXL XLNet Yoso',
  ForTokenClassification:
    'Albert Apertus Arcee Bert BigBird BioGpt Bloom Camembert ConvBert Data2VecText Deberta DebertaV2 DeepseekV3 DiffLlama DistilBert Electra Ernie Esm Esmc EuroBert Exaone4 Falcon Flaubert GPT2 GPTBigCode GPTNeo GPTNeoX Gemma2 Gemma Glm4 Glm GptOss Gte Helium IBert JinaEmbeddingsV3 LayoutLM LayoutLMv3 Lilt Llama Luke MPNet MT5 MarkupLM MegatronBert Ministral3 Ministral Mistral4 Mistral Mixtral MobileBert ModernBert Mpt Nemotron NomicBert Nystromformer OpenAIPrivacyFilter Persimmon Phi3 Phi Qwen2 Qwen2Moe Qwen3 Qwen3Moe RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SeedOss SmolLM3 SqueezeBert StableLm Starcoder2 T5 UMT5 XLM XLMRoberta XLMRobertaXL XLNet Yoso',
  ForConditionalGeneration:
    'AyaVision Bart BigBirdPegasus Blenderbot BlenderbotSmall Cohere2Vision DeepseekVL Florence2 Gemma3 Gemma4 GlmOcr GotOcr2 GraniteSpeech Idefics2 Idefics3 InternVL Lfm2Vl LightOnOcr Llava LlavaNext LlavaNextVideo LlavaOnevision LongT5 M2M100 MBart MT5 Mistral3 Moonshine Mvp Ovis2 PLBart PaliGemma Pegasus PerceptionLM Qwen2Audio Qwen2VL Qwen2_5_VL Qwen3VL Qwen3_5 Qwen3_5Moe SmolVLM Supertonic T5 UMT5 VipLlava Voxtral Whisper',
  ForImageClassification:
    'Beit Bit CLIP ConvNext ConvNextV2 Cvt Data2VecVision DeiT Dinov2 Dinov2WithRegisters DonutSwin EfficientNet FocalNet HGNetV2 Hiera IJepa Levit MetaClip2 MobileNetV1 MobileNetV2 MobileViT PoolFormer Pvt PvtV2 RegNet ResNet Segformer Siglip SwiftFormer Swin Swinv2 TextNet TimmWrapper ViT ViTMSN',
  ForSemanticSegmentation: 'Beit DPT Data2VecVision MobileViT Segformer UperNet',
  '': 'BertGenerationDecoder BiRefNet BriaRMBG CLIPTextModelWithProjection CLIPVisionModelWithProjection EfficientSam MODNet MetaClip2TextModelWithProjection MetaClip2VisionModelWithProjection Piper Supertonic',
  ForObjectDetection:
    'ConditionalDetr DFine DabDetr DeformableDetr Deimv2 Detr GroundingDino LwDetr MMGroundingDino OwlViT Owlv2 RTDetr RTDetrV2 RfDetr TableTransformer Yolos',
  ForDepthEstimation: 'DPT DepthAnything DepthPro GLPN ZoeDepth',
  ForCTC: 'Data2VecAudio Hubert Parakeet SEWD SEW UniSpeech UniSpeechSat Wav2Vec2Bert Wav2Vec2Conformer Wav2Vec2 WavLM',
  ForXVector: 'Data2VecAudio UniSpeechSat Wav2Vec2Bert Wav2Vec2Conformer Wav2Vec2 WavLM',
  ForImageClassificationWithTeacher: 'DeiT Levit',
  ForSegmentation: 'Detr',
  ForQuestionAnsweringSimple: 'Flaubert XLM XLNet',
  ForUniversalSegmentation: 'Mask2Former OneFormer',
  ForInstanceSegmentation: 'MaskFormer',
  ForAudioFrameClassification: 'PyAnnote',
  ForTextToSpeech: 'SpeechT5',
  ForImageSuperResolution: 'Swin2SR',
  ForPoseEstimation: 'VitPose',
};

/** Returns whether a test compares the answers of a class with Python's. @param name of the class, as in config.json */
export function isCompared(name: string): boolean {
  return Object.entries(COMPARED).some(
    ([ending, beginnings]) =>
      name.endsWith(ending) && beginnings.split(' ').includes(name.slice(0, name.length - ending.length)),
  );
}
