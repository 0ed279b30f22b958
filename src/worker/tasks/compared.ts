/** The classes of models whose answers tests compare with Python's, made from the classes by `npm run generate` and from `test/models`. */

/** By the ends of their names: how these begin, separated by spaces. */
const COMPARED: Readonly<Record<string, string>> = {
  ForAudioClassification: 'AST Whisper',
  ForCausalLM:
    'AXK1 AXK2 Afmoe Apertus1p5Text Apertus Arcee AriaText Bamba Bart Beam BigBird BigBirdPegasus BioGpt BitNet Blenderbot BlenderbotSmall Bloom Camembert CodeGen Cohere2 Cohere2Moe CohereCompass Cohere Cwm Data2VecText Dbrx DeepseekV2 DeepseekV32 DeepseekV3 DiffLlama Doge Dots1 Electra Emu3 Ernie4_5 Ernie4_5_Moe Ernie Exaone4 ExaoneMoe Falcon FalconH1 FlexOlmo Flint GPTBigCode GPTJ GPTNeo GPTNeoX GPTNeoXJapanese Gemma2 Gemma3 Gemma3n Gemma4 Gemma4Unified Gemma Glm4 Glm4Moe Glm4MoeLite Glm GlmMoeDsa GptOss Granite GraniteMoe GraniteMoeHybrid GraniteMoeSWA GraniteMoeShared GraniteSWA HYV3 Helium HrmText HunYuanDenseV1 HunYuanMoEV1 HyperCLOVAX Jais2 Kolibri1 Laguna LaraMini Lfm2 Lfm2Moe Lfm3 Llama4 Llama LlavaQwen2 LongcatFlash MBart Marian MegatronBert Mellum MiMoV2Flash MiniCPM3 MiniMaxM2 MiniMaxM3VL Ministral3 Ministral Mistral4 Mistral Mixtral Mllama ModernBertDecoder Mpt Mvp NanoChat Nemotron NemotronH OPT Olmo2 Olmo3 Olmo OlmoHybrid Olmoe PLBart Pegasus Persimmon Phi3 Phi Phimoe Qwen2 Qwen2Moe Qwen3 Qwen3Moe Qwen3Next Qwen3_5 Qwen3_5Moe RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SeedOss SmolLM3 SolarOpen StableLm Starcoder2 TrOCR VaultGemma Whisper XGLM XLMRoberta XLMRobertaXL Xmod Youtu Zamba2',
  ForSequenceClassification:
    'AXK1 AXK2 Albert Arcee Bart Bert BigBird BigBirdPegasus BioGpt Bloom CTRL Camembert CohereCompassText ConvBert Data2VecAudio Data2VecText Deberta DebertaV2 DeepseekV2 DeepseekV3 DiffLlama DistilBert Doge Electra Ernie Esm Esmc EuroBert Exaone4 FNet Falcon Flaubert Funnel GPT2 GPTBigCode GPTJ GPTNeo GPTNeoX Gemma2 Gemma3 Gemma3Text Gemma Glm4 Glm GptOss Gte Helium Hubert HunYuanDenseV1 HunYuanMoEV1 IBert JinaEmbeddingsV3 LayoutLM LayoutLMv3 Lilt Llama Luke MBart MPNet MT5 MarkupLM MegatronBert MiniCPM3 MiniMax Ministral3 Ministral Mistral4 Mistral Mixtral MobileBert ModernBertDecoder ModernBert ModernVBert Mpt Mvp Nemotron NomicBert Nystromformer OPT Olmo2 Olmo3 Olmo OpenAIGPT PLBart Persimmon Phi3 Phi Phimoe Qwen2 Qwen2Moe Qwen3 Qwen3Moe Qwen3Next Qwen3_5 Qwen3_5Text RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SEWD SEW SeedOss SmolLM3 SqueezeBert StableLm Starcoder2 T5 T5Gemma UMT5 UltraVBert Ultrabert UniSpeech UniSpeechSat Wav2Vec2Bert Wav2Vec2Conformer Wav2Vec2 WavLM XLM XLMRoberta XLMRobertaXL XLNet Xmod Yoso Zamba2',
  ForTokenClassification:
    'AXK1 AXK2 Albert Apertus Arcee Beam Bert BigBird BioGpt Bloom Camembert ConvBert Data2VecText Deberta DebertaV2 DeepseekV3 DiffLlama DistilBert Electra Ernie Esm Esmc EuroBert Exaone4 FNet Falcon Flaubert Funnel GPT2 GPTBigCode GPTNeo GPTNeoX Gemma2 Gemma Glm4 Glm GptOss Gte Helium IBert JinaEmbeddingsV3 LayoutLM LayoutLMv3 Lilt Llama Luke MPNet MT5 MarkupLM MegatronBert MiniMax Ministral3 Ministral Mistral4 Mistral Mixtral MobileBert ModernBert ModernVBert Mpt Nemotron NomicBert Nystromformer OpenAIPrivacyFilter Persimmon Phi3 Phi Qwen2 Qwen2Moe Qwen3 Qwen3Moe Qwen3Next Qwen3_5 RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SeedOss SmolLM3 SqueezeBert StableLm Starcoder2 T5 T5Gemma UMT5 UltraVBert Ultrabert XLM XLMRoberta XLMRobertaXL XLNet Xmod Yoso',
  Model:
    'AXK1 AXK2 Afmoe Aimv2Vision Albert AltCLIP Apertus1p5Text Apertus Arcee AriaText Bamba Beam Beit BertLMHead Bert BigBird BioGpt Bit BitNet Bloom CLIP CLIPText CLIPVision CTRLLMHead CTRL Camembert ChineseCLIP ChineseCLIPVision Clap CodeGen Cohere2 Cohere2Moe CohereCompassText Cohere ConvBert ConvNext ConvNextV2 Cvt Cwm DINOv3ConvNext DINOv3ViT DPT Data2VecText Data2VecVision Dbrx Deberta DebertaV2 DeepseekV2 DeepseekV32 DeepseekV3 DeiT DiffLlama Dinov2 Dinov2WithRegisters DistilBert Doge DonutSwin Dots1 EdgeTam Electra EmbeddingGemma2Text Emu3Text Ernie4_5 Ernie4_5_Moe Ernie Esm Esmc EuroBert Exaone4 ExaoneMoe FNet FalconH1 Falcon Flaubert FlaubertWithLMHead FlexOlmo Flint FocalNet Funnel GLPN GPT2LMHead GPT2 GPTBigCode GPTJ GPTNeo GPTNeoXJapanese GPTNeoX Gemma2 Gemma3Text Gemma3nText Gemma4Text Gemma4UnifiedText Gemma Glm4 Glm4MoeLite Glm4Moe Glm4vMoeText Glm4vText GlmImageText Glm GlmMoeDsa GlmOcrText GptOss GraniteDoclingText Granite GraniteMoeHybrid GraniteMoe GraniteMoeSWA GraniteMoeShared GraniteSWA Gte HYV3 Helium Hiera HrmText HunYuanDenseV1 HunYuanMoEV1 HyperCLOVAX IBert IJepa Jais2 JinaEmbeddingsV3 Kolibri1 Laguna LaraMini LayoutLM LayoutLMv3 Levit Lfm2 Lfm2Moe Lfm3 Lilt Llama4Text Llama LongcatFlash Luke MLCDVision MPNet MT5Encoder Mamba2 MarianMT MarkupLM MaskFormerSwin MegatronBert Mellum MetaClip2 MiMoV2Flash MiniCPM3 MiniMaxM2 MiniMaxM3VLText MiniMax Ministral3 Ministral Mistral4 Mistral Mixtral MllamaText MobileBert MobileNetV1 MobileNetV2 MobileViT MobileViTV2 ModernBertDecoder ModernBert Mpt NanoChat NemotronH Nemotron NomicBert Nystromformer OPT Olmo2 Olmo3 OlmoHybrid Olmo Olmoe OpenAIGPTLMHead OpenAIGPT OpenAIPrivacyFilter Persimmon Phi3 Phi Phimoe PoolFormer Pvt PvtV2 Qwen2 Qwen2Moe Qwen2VLText Qwen2_5_VLText Qwen3 Qwen3Moe Qwen3Next Qwen3VLMoeText Qwen3VLText Qwen3_5MoeText Qwen3_5Text RegNet RemBert ResNet RoCBert RoFormer Roberta RobertaPreLayerNorm Sam2 Sam3Tracker Sam SeedOss Segformer Siglip SiglipVision SmolLM3 SolarOpen Splinter SqueezeBert StableLm Starcoder2 StyleTextToSpeech2 SwiftFormer Swin Swinv2 T5Encoder TextNet UMT5Encoder Ultrabert Ultravox VaultGemma ViTMSN ViT VisionEncoderDecoder VitDet Vits WeSpeakerResNet XGLM XLM XLMRoberta XLMRobertaXL XLMWithLMHead XLNet Xmod Yolos Yoso Youtu Zamba2',
  ForMaskedLM:
    'Albert Bert BigBird Camembert ConvBert Data2VecText Deberta DebertaV2 DistilBert Electra Ernie Esm Esmc EuroBert FNet Funnel Gte IBert JinaEmbeddingsV3 LayoutLM Luke MPNet MegatronBert MobileBert ModernBert ModernVBert NeoMME NomicBert Nystromformer RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SqueezeBert UltraVBert Ultrabert XLMRoberta XLMRobertaXL Xmod Yoso',
  ForQuestionAnswering:
    'Albert Arcee Bart Bert BigBird BigBirdPegasus Bloom Camembert ConvBert Data2VecText Deberta DebertaV2 DiffLlama DistilBert Electra Ernie Exaone4 FNet Falcon Funnel GPT2 GPTJ GPTNeo GPTNeoX IBert Lilt Llama Luke MBart MPNet MT5 MarkupLM MegatronBert Ministral Mistral Mixtral MobileBert ModernBert Mpt Mvp Nemotron Nystromformer OPT Qwen2 Qwen2Moe Qwen3 Qwen3Moe RemBert RoCBert RoFormer Roberta RobertaPreLayerNorm SeedOss SmolLM3 Splinter SqueezeBert T5 UMT5 XLMRoberta XLMRobertaXL Xmod Yoso',
  ForConditionalGeneration:
    'Aria AyaVision Bart BigBirdPegasus Blenderbot BlenderbotSmall Cohere2Vision CohereCompass DeepseekVL DeepseekVLHybrid Exaone4_5_ Florence2 Gemma3 Gemma4 Glm46V Glm4v GlmOcr GotOcr2 GraniteSpeech Idefics2 Idefics3 InternVL LED Lfm2Vl LightOnOcr Llava LlavaNext LlavaNextVideo LlavaOnevision LongT5 M2M100 MBart MT5 Mistral3 Moonshine Mvp Ovis2 PLBart PaliGemma Pegasus PerceptionLM Qwen2Audio Qwen2VL Qwen2_5_VL Qwen3VL Qwen3_5 Qwen3_5Moe SmolVLM Supertonic T5 UMT5 VipLlava Voxtral Whisper',
  ForImageClassification:
    'Beit Bit CLIP ConvNext ConvNextV2 Cvt Data2VecVision DeiT Dinov2 Dinov2WithRegisters DonutSwin EfficientNet FocalNet HGNetV2 Hiera IJepa Levit MetaClip2 MobileNetV1 MobileNetV2 MobileViT MobileViTV2 PoolFormer Pvt PvtV2 RegNet ResNet Segformer Siglip SwiftFormer Swin Swinv2 TextNet TimmWrapper ViT ViTMSN',
  ForSemanticSegmentation: 'Beit DPT Data2VecVision MobileNetV2 MobileViT MobileViTV2 Segformer UperNet',
  '': 'BertGenerationDecoder BiRefNet BriaRMBG CLIPTextModelWithProjection CLIPVisionModelWithProjection ClapTextModelWithProjection EfficientSam MODNet MetaClip2TextModelWithProjection MetaClip2VisionModelWithProjection Piper Supertonic',
  ForObjectDetection:
    'ConditionalDetr DFine DabDetr DeformableDetr Deimv2 Detr GroundingDino LwDetr MMGroundingDino OwlViT Owlv2 RTDetr RTDetrV2 RfDetr TableTransformer Yolos',
  ForDepthEstimation: 'DPT DepthAnything DepthPro GLPN PromptDepthAnything ZoeDepth',
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
