/** The handlers, as the pages show them: a line for each. */
import {
  nearest,
  type Classification,
  type Client,
  type Detections,
  type Embedding,
  type QuestionInput,
  type RankingInput,
} from '../../src/index.js';
import type { HandlerName } from '../../src/worker/handlers/registry.js';
import { bars } from '../outputs/bars.js';
import { detections } from '../outputs/detections.js';
import type { PictureStage } from '../inputs/picture-stage.js';
import { askedImageFields } from './fields/asked-image.js';
import { imageFields, SMALL_PHOTOS } from './fields/image.js';
import { audioFields, tensorFields } from './fields/others.js';
import { questionFields, rankedFields, textFields } from './fields/text.js';
import { HANDLERS } from './handlers.js';
import { CLICK, clickSegments, segmentClicked } from './click-segmenter.js';
import { findPhotos, photoSearch, SEARCH } from './photo-search.js';
import type { AnswerView, AskOptions, Fields, Sample, Task, TaskEvents } from './task.js';
import { depthView } from './views/depth.js';
import { masksView, plainView, rankingView, spokenView, writtenView } from './views/listed.js';
import { answersView, entitiesView } from './views/marked.js';
import { cutOutView, pictureView } from './views/picture.js';
import { regionsView } from './views/regions.js';

/** For a handler that has no text of its own. */
const SENTENCE = 'Ada Lovelace lived in London, and wrote the first program for a machine of Charles Babbage.';
const TEXTS = HANDLERS.text_reranker.input as RankingInput;

/** Returns what a developer writes to see a picture. @param paint the function of `tabserve` that makes its pixels */
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

/** Makes a task whose answer is shown over or beside a photo. */
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

/** Makes a task whose answer is shown beside its fields. */
function of<Input, Answer>(
  fields: (events: TaskEvents) => Fields<Input>,
  view: () => AnswerView<Answer, Input>,
): Task<Input, Answer> {
  return { mount: (events) => ({ fields: fields(events), view: view() }) };
}

/** Returns the labels of a handler's sample, as they stand in their field. */
function labelsOf(name: HandlerName): { readonly labels?: string } {
  const labels = HANDLERS[name].params?.['labels'] as readonly string[] | undefined;
  return labels ? { labels: labels.join(', ') } : {};
}

/** Makes a task of a text, which begins with the handler's sample. */
function ofText<Answer>(name: HandlerName, view: () => AnswerView<Answer, string>): Task<string, Answer> {
  const { input = SENTENCE } = HANDLERS[name];
  return of(() => textFields(input as string, labelsOf(name).labels), view);
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

/** The pages of the handlers whose answers are shown in a way of their own, or that take several steps. */
const OWN: { readonly [Name in HandlerName]?: Task } = {
  image_classifier: ofImage(CLASSES),
  zero_shot_image_classifier: ofImage(CLASSES, labelsOf('zero_shot_image_classifier')),
  object_detector: ofImage(OBJECTS),
  object_tracker: ofImage(OBJECTS),
  zero_shot_object_detector: ofImage(OBJECTS, labelsOf('zero_shot_object_detector')),
  image_segmenter: ofImage(regionsView),
  instance_segmenter: { ...ofImage(regionsView), sample: drawing('paintInstances') },
  promptable_segmenter: { mount: clickSegments, ask: segmentClicked, sample: CLICK },
  depth_estimator: { ...ofImage(depthView), sample: drawing('paintDepth') },
  background_remover: { ...ofImage(cutOutView), sample: drawing('paintPicture') },
  image_to_image: { ...ofImage(pictureView, { photos: SMALL_PHOTOS }), sample: drawing('paintPicture') },
  image_to_text: ofImage(writtenView),
  image_text_to_text: of((events) => askedImageFields(events, 'What is in this picture?'), writtenView),
  image_text_embedder: {
    mount: photoSearch,
    ask: findPhotos,
    sample: { imports: ['nearest'], lines: () => SEARCH },
  },
  text_classifier: ofText('text_classifier', CLASSES),
  zero_shot_text_classifier: ofText('zero_shot_text_classifier', CLASSES),
  token_classifier: ofText('token_classifier', entitiesView),
  question_answerer: of(() => questionFields(HANDLERS.question_answerer.input as QuestionInput), answersView),
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
  fill_mask: ofText('fill_mask', masksView),
  text_generator: ofText('text_generator', writtenView),
  text_to_text: ofText('text_to_text', writtenView),
  audio_classifier: of(audioFields, CLASSES),
  zero_shot_audio_classifier: of(
    (events) => audioFields(events, labelsOf('zero_shot_audio_classifier').labels),
    CLASSES,
  ),
  speech_recognizer: of(audioFields, spokenView),
  speech_to_text: of(audioFields, spokenView),
};

/** Returns how the pages show a handler: any has fields for what it takes, and its answer as JSON. */
export function taskOf(name: HandlerName): Task {
  const { params = {} } = HANDLERS[name];
  // Labels have a field.
  const { labels: _, ...others } = params;
  return { params: others, ...(OWN[name] ?? plainTask(name)) };
}

function plainTask(name: HandlerName): Task {
  const { takes } = HANDLERS[name];
  if (takes === 'audio') return of(audioFields, plainView);
  if (takes === 'tensors') return of(tensorFields, plainView);
  return takes === 'text' ? ofText(name, plainView) : ofImage(plainView);
}
