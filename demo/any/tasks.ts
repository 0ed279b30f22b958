/** The handlers, as the pages show them: a line for each. */
import { nearest, type Classification, type Client, type Detections, type Embedding } from '../../src/index.js';
import type { HandlerName } from '../../src/worker/handlers/registry.js';
import { bars } from '../outputs/bars.js';
import { detections } from '../outputs/detections.js';
import type { PictureStage } from '../inputs/picture-stage.js';
import { imageFields, SMALL_PHOTOS } from './fields/image.js';
import { audioFields, tensorFields } from './fields/others.js';
import { questionFields, rankedFields, textFields } from './fields/text.js';
import { CLICK, clickSegments, segmentClicked } from './click-segmenter.js';
import { findPhotos, photoSearch, SEARCH } from './photo-search.js';
import type { AnswerView, AskOptions, Fields, Sample, Task, TaskEvents } from './task.js';
import { depthView } from './views/depth.js';
import { masksView, plainView, rankingView, spokenView, writtenView } from './views/listed.js';
import { answersView, entitiesView } from './views/marked.js';
import { cutOutView, pictureView } from './views/picture.js';
import { regionsView } from './views/regions.js';

const SENTENCE = 'Ada Lovelace lived in London, and wrote the first program for a machine of Charles Babbage.';
const QUESTION = {
  question: 'Where did Ada Lovelace live?',
  context: `${SENTENCE} Grace Hopper was born in New York, and wrote one of the first compilers.`,
};
const NEWS = 'The team has won in the last minute, and its fans sang in the streets all night.';
const TEXTS = {
  query: 'How do I get a new password?',
  texts: [
    'You can return an article within 30 days.',
    'Your password is reset by a link in an e-mail.',
    'We deliver to all countries of the EU.',
  ],
};

/** What a developer writes to see a picture. @param paint the function of `tabserve` that makes its pixels */
function drawing(paint: string): Sample {
  return {
    imports: [paint],
    lines: (options) => `const image = ${paint}(await model.predict(document.querySelector('img')!${options}));
const { width, height } = image;
const canvas = Object.assign(document.createElement('canvas'), { width, height });
canvas.getContext('2d')!.putImageData(image, 0, 0);
document.body.append(canvas);`,
  };
}

/** A task whose answer is shown over or beside a photo. */
function ofImage<Answer>(
  view: (stage: PictureStage, events: TaskEvents) => AnswerView<Answer>,
  options?: Parameters<typeof imageFields>[1],
): Task<Blob, Answer> {
  return {
    mount(events) {
      const fields = imageFields(events, options);
      return { fields, view: view(fields.stage, events) };
    },
  };
}

/** A task whose answer is shown beside its fields. */
function of<Input, Answer>(
  fields: (events: TaskEvents) => Fields<Input>,
  view: () => AnswerView<Answer, Input>,
): Task<Input, Answer> {
  return { mount: (events) => ({ fields: fields(events), view: view() }) };
}

const CLASSES = (): AnswerView<Classification> => bars(5, { longLabels: true });
const OBJECTS = (stage: PictureStage, { chosen }: TaskEvents): AnswerView<Detections> => detections(stage, chosen);

/** Ranks texts by how near their vectors are to that of the query. */
async function nearestTexts(
  model: Client,
  { query, texts }: { readonly query: string; readonly texts: readonly string[] },
  { params, signal }: AskOptions,
): Promise<readonly { readonly index: number; readonly score: number }[]> {
  const embed = async (text: string): Promise<Embedding> =>
    (await model.predict(text as never, { params: params as never, signal })) as Embedding;
  const [first, ...others] = await Promise.all([query, ...texts].map(embed));
  return nearest(first!, others, others.length);
}

export const TASKS: { readonly [Name in HandlerName]: Task } = {
  image_classifier: ofImage(CLASSES),
  zero_shot_image_classifier: ofImage(CLASSES, { labels: 'a person, a cat, a street' }),
  object_detector: ofImage(OBJECTS),
  object_tracker: ofImage(OBJECTS),
  face_detector: ofImage(plainView),
  face_landmarker: ofImage(plainView),
  hand_landmarker: ofImage(plainView),
  pose_landmarker: ofImage(plainView),
  zero_shot_object_detector: ofImage(OBJECTS, { labels: 'a person, a cat, a cup' }),
  image_segmenter: ofImage(regionsView),
  instance_segmenter: { ...ofImage(regionsView), sample: drawing('paintInstances') },
  promptable_segmenter: { mount: clickSegments, ask: segmentClicked, sample: CLICK },
  depth_estimator: { ...ofImage(depthView), sample: drawing('paintDepth') },
  background_remover: { ...ofImage(cutOutView), sample: drawing('paintPicture') },
  image_to_image: { ...ofImage(pictureView, { photos: SMALL_PHOTOS }), sample: drawing('paintPicture') },
  image_to_text: { ...ofImage(writtenView), params: { maxNewTokens: 40 } },
  image_feature_extractor: ofImage(plainView),
  image_text_embedder: {
    mount: photoSearch,
    ask: findPhotos,
    sample: { imports: ['nearest'], lines: () => SEARCH },
  },
  text_classifier: of(() => textFields(NEWS), CLASSES),
  zero_shot_text_classifier: of(() => textFields(NEWS, 'sports, science, politics'), CLASSES),
  token_classifier: {
    ...of(() => textFields(SENTENCE), entitiesView),
    params: { aggregationStrategy: 'simple' },
  },
  question_answerer: { ...of(() => questionFields(QUESTION), answersView), params: { topK: 3 } },
  text_reranker: of(() => rankedFields(TEXTS), rankingView),
  text_feature_extractor: {
    ...of(() => rankedFields(TEXTS), rankingView),
    ask: nearestTexts,
    sample: {
      imports: ['nearest'],
      lines: (options) => `const texts = ['You can return an article.', 'Your password is reset by a link.'];
const vectors = await Promise.all(texts.map((text) => model.predict(text${options})));
const query = await model.predict('How do I get a new password?'${options});
for (const { index, score } of nearest(query, vectors, 3)) console.log(texts[index], score);`,
    },
  },
  fill_mask: { ...of(() => textFields('Paris is the [MASK] of France.'), masksView), params: { topK: 5 } },
  text_generator: { ...of(() => textFields('Once upon a time'), writtenView), params: { maxNewTokens: 40 } },
  text_to_text: { ...of(() => textFields(SENTENCE), writtenView), params: { maxNewTokens: 40 } },
  text_reader: ofImage(plainView),
  text_detector: ofImage(plainView),
  text_orienter: ofImage(plainView),
  text_recognizer: ofImage(plainView),
  vision_handler: ofImage(plainView),
  text_handler: of(() => textFields(SENTENCE), plainView),
  audio_handler: of(audioFields, plainView),
  voice_activity_detector: of(audioFields, plainView),
  speech_recognizer: { ...of(audioFields, spokenView), params: { timestamps: 'word' } },
  speech_to_text: of(audioFields, spokenView),
  graph_workflow: of(tensorFields, plainView),
  base_handler: of(tensorFields, plainView),
};
