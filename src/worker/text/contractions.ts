/**
 * The English contractions that TorchServe's text handlers expand (`ts/torch_handler/contractions.py`), with their
 * expansions. TorchServe has three mistakes, which are not copied: it replaces the first contraction of its list that
 * matches, not the longest ("can't've" becomes "cannotve"); it leaves the first letter of a contraction ("'cause"
 * becomes "ecause", "ain't" becomes "as not"); and its expansion of "he'll've" repeats "he". Here the longest match is
 * replaced as a whole.
 */
const REGULAR: readonly (readonly [suffix: string, expansion: string, stems: string])[] = [
  ["n't", ' not', 'are could did does do had has have is may might must need ought should was were would'],
  ["n't've", ' not have', 'could had might must need ought should would'],
  ["'ve", ' have', 'could i might must should so they to we what when where who why will would you'],
  ["'d", ' would', 'he i it she that there they we you'],
  ["'d've", ' would have', 'he i it she that there they we you'],
  ["'ll", ' will', 'he how i it she they we what who you'],
  ["'ll've", ' will have', 'he i it she they we what who you'],
  ["'re", ' are', 'they we what you'],
  ["'s", ' is', 'he how it she that there what when where who why'],
  ["'d", ' did', 'how where'],
];

const IRREGULAR: Readonly<Record<string, string>> = {
  "'cause": 'because',
  "ain't": 'is not',
  "can't": 'cannot',
  "can't've": 'cannot have',
  "how'd'y": 'how do you',
  "i'm": 'i am',
  "let's": 'let us',
  "ma'am": 'madam',
  "o'clock": 'of the clock',
  "sha'n't": 'shall not',
  "shan't": 'shall not',
  "shan't've": 'shall not have',
  "so's": 'so as',
  "won't": 'will not',
  "won't've": 'will not have',
  "y'all": 'you all',
  "y'all'd": 'you all would',
  "y'all'd've": 'you all would have',
  "y'all're": 'you all are',
  "y'all've": 'you all have',
};

const EXPANSIONS = new Map([
  ...REGULAR.flatMap(([suffix, expansion, stems]) =>
    stems.split(' ').map((stem) => [stem + suffix, stem + expansion] as const),
  ),
  ...Object.entries(IRREGULAR),
]);
const PATTERN = new RegExp([...EXPANSIONS.keys()].sort((a, b) => b.length - a.length).join('|'), 'g');

/** Expands the contractions of a lower-case text. */
export function expandContractions(text: string): string {
  return text.replace(PATTERN, (contraction) => EXPANSIONS.get(contraction)!);
}
