import { load } from '../../src/index.js';
import type { Demo } from '../demo.js';
import { textField } from '../inputs/text-field.js';
import { bars } from '../outputs/bars.js';
import { classifying } from './classifying.js';

export const language: Demo = {
  id: 'language',
  title: 'Language',
  summary: 'Which language is this? Classified at every key, among thirty.',
  layout: 'wide',
  models: [{ url: 'models/languages/', short: 'languages', name: 'languages 1.0', licence: 'MIT', bytes: 1_000_000, engines: ['onnx'] }],
  samples: [
    { shows: 'Portuguese', text: 'Amanhã de manhã vamos à praia, se não chover outra vez.' },
    { shows: 'Turkish', text: 'Yarın sabah yağmur yağmazsa hep birlikte denize gideceğiz.' },
    { shows: 'Japanese', text: '明日の朝、雨が降らなければ海へ行きましょう。' },
    { shows: 'Greek', text: 'Αύριο το πρωί θα πάμε στη θάλασσα, αν δεν βρέξει πάλι.' },
    { shows: 'Hebrew', text: 'מחר בבוקר נלך לים, אם לא ירד שוב גשם.' },
    { shows: 'Swahili', text: 'Kesho asubuhi tutaenda pwani, kama mvua haitanyesha tena.' },
  ],
  startsWithSample: true,
  takesFiles: false,
  hint: 'Type or paste a sentence. What you write never leaves this page.',
  snippet: classifying('text_classifier', "'Amanhã vamos à praia.'", '{ Portuguese: 0.98, Spanish: 0.01, … }'),
  load: ({ url }, options) => load(url, { handler: 'text_classifier', ...options }),
  mount: (events) => ({ input: textField(events, 'A sentence in any language'), output: bars(5) }),
};
