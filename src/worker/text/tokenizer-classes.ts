/** Made by test/goldens/tokenizer-classes/make.py. */

/** The names of the tokens of each row, in their order. */
const NAMES = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'] as const;

/** Classes of tokenizers, without `TokenizerFast`, and their special tokens; `-` for none. */
const CLASSES: readonly (readonly [classes: string, tokens: string])[] = [
  ['Albert RemBert', '[CLS] [SEP] <unk> [SEP] <pad> [CLS] [MASK]'],
  [
    'Bart Barthez Blenderbot Camembert LED LayoutLMv3 LayoutXLM Longformer MBart Mvp Nllb Roberta XLMRoberta',
    '<s> </s> <unk> </s> <pad> <s> <mask>',
  ],
  [
    'Bert ConvBert DPRQuestionEncoder DistilBert Electra LayoutLM LayoutLMv2 Lxmert MobileBert Realm RetriBert RoFormer Splinter SqueezeBert',
    '- - [UNK] [SEP] [PAD] [CLS] [MASK]',
  ],
  ['BigBird', '<s> </s> <unk> [SEP] <pad> [CLS] [MASK]'],
  ['Bloom', '<s> </s> <unk> - <pad> - -'],
  ['CLIP', '<|startoftext|> <|endoftext|> <|endoftext|> - <|endoftext|> - -'],
  ['CodeGen GPT2 GPTNeoX Whisper', '<|endoftext|> <|endoftext|> <|endoftext|> - - - -'],
  ['CodeLlama Llama', '<s> </s> <unk> - - - -'],
  ['Cohere', '<BOS_TOKEN> <|END_OF_TURN_TOKEN|> <UNK> - - - -'],
  ['Cpm Funnel XLNet', '<s> </s> <unk> <sep> <pad> <cls> <mask>'],
  ['Deberta DebertaV2', '[CLS] [SEP] [UNK] [SEP] [PAD] [CLS] [MASK]'],
  ['FNet', '- - <unk> [SEP] <pad> [CLS] [MASK]'],
  ['Gemma', '<bos> <eos> <unk> - <pad> - -'],
  ['Herbert', '- - <unk> </s> <pad> <s> <mask>'],
  ['MBart50', '- </s> <unk> </s> <pad> <s> <mask>'],
  ['MPNet', '<s> </s> [UNK] </s> <pad> <s> <mask>'],
  ['MT5 T5', '- </s> <unk> - <pad> - -'],
  ['OpenAIGPT', '- - <unk> - - - -'],
  ['Pegasus', '- </s> <unk> - <pad> - <mask_2>'],
  ['Qwen2', '- <|endoftext|> <|endoftext|> - <|endoftext|> - -'],
  ['Reformer', '- </s> <unk> - - - -'],
  ['SeamlessM4T XGLM', '<s> </s> <unk> </s> <pad> <s> -'],
  ['Udop', '- </s> <unk> </s> <pad> - -'],
];

/**
 * Returns the special tokens of a tokenizer class of transformers, which count where `tokenizer_config.json` says nothing.
 */
export function defaultTokens(tokenizerClass: string): Readonly<Record<string, string>> {
  const name = tokenizerClass.replace(/Tokenizer(Fast)?$/, '');
  const [, tokens = ''] = CLASSES.find(([classes]) => classes.split(' ').includes(name)) ?? [];
  const named = tokens.split(' ').map((token, at) => [NAMES[at]!, token] as const);
  return Object.fromEntries(named.filter(([, token]) => token !== '-' && token !== ''));
}
