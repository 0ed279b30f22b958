/** What a repository of Florence-2 says beside its models. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { describeValue } from '../../../contract/describe-value.js';
import { isRecord } from '../../../shared/schema.js';

export const [PREPROCESSOR, PROCESSOR] = ['preprocessor_config.json', 'processor_config.json'] as const;

/** The published models' own: 24 × 24 places of 768 × 768 pixels, and their mean. */
const TOKENS_OF_IMAGE = 577;

/** Phrases of captions that are no things: those of Florence-2's authors, where the repository lists none. */
const NO_THINGS = [
  'it, I, me, mine, you, your, yours, he, him, his, she, her, hers, they, them, their, theirs, one, oneself, we, us',
  'our, ours, its, myself, yourself, himself, herself, itself, ourselves, yourselves, themselves, this, that, these',
  'those, who, whom, whose, which, what, all, another, any, anybody, anyone, anything, each, everybody, everyone',
  'everything, few, many, nobody, none, several, some, somebody, someone, something, each other, one another',
  'the image, image, images, the, a, an, a group, other objects, lots, a set',
].flatMap((line) => line.split(', '));

/** Returns how many vectors an image becomes. @throws `model-config` if the file says no number of them */
export async function tokensOfImage(files: Files): Promise<number> {
  const { image_seq_length: count = TOKENS_OF_IMAGE } = await read(files, PREPROCESSOR);
  if (Number.isInteger(count) && (count as number) > 0) return count as number;
  throw new TabServeError(
    'model-config',
    `${PREPROCESSOR}: image_seq_length must be a number of tokens, not ${describeValue(count)}.`,
  );
}

/** Returns the phrases to which no box belongs. @throws `model-config` if the file has no list of texts for them */
export async function bannedPhrases(files: Files): Promise<ReadonlySet<string>> {
  const { post_processor_config: config } = await read(files, PROCESSOR);
  const grounding = isRecord(config) ? config['phrase_grounding'] : undefined;
  const banned: unknown = (isRecord(grounding) ? grounding['banned_grounding_tokens'] : undefined) ?? NO_THINGS;
  if (Array.isArray(banned) && banned.every((one) => typeof one === 'string')) return new Set(banned as string[]);
  throw new TabServeError(
    'model-config',
    `${PROCESSOR}: banned_grounding_tokens must be a list of texts, not ${describeValue(banned)}.`,
  );
}

async function read(files: Files, path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = files.has(path) ? await files.json(path) : {};
  if (isRecord(value)) return value;
  throw new TabServeError('model-config', `${path} must be a mapping, not ${describeValue(value)}.`);
}
