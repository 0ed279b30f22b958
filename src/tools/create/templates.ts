/** The apps that `npm create tabserve` makes: a folder of `examples/templates/tasks` each, for each framework. */

export const FRAMEWORKS = ['vanilla', 'react', 'vue', 'svelte'] as const;

export type Framework = (typeof FRAMEWORKS)[number];

export interface Template {
  /** The heading of the app's page. */
  readonly title: string;
  /** What the list of templates says of it. */
  readonly what: string;
  /** Folders and files of `public/models` that the app gets, by where it has them. */
  readonly models: Readonly<Record<string, string>>;
}

export const TEMPLATES = {
  photo: {
    title: 'Photo classifier',
    what: 'says what is in a picked photo',
    models: { 'public/models/digits': 'digits' },
  },
  camera: {
    title: 'Camera detection',
    what: 'draws boxes around the objects before a camera',
    models: { 'public/models/nanodet': 'nanodet' },
  },
  chat: {
    title: 'Chat',
    what: "OpenAI's client, answered by the device",
    models: { 'public/models/writer': 'writer' },
  },
  transcription: {
    title: 'Transcription',
    what: 'transcribes a recording',
    models: { 'public/samples/platform.wav': 'vad/samples/platform.wav' },
  },
  search: {
    title: 'Semantic search',
    what: 'finds texts by their meaning',
    models: {},
  },
  torchserve: {
    title: 'Ported handler',
    what: 'a TorchServe handler in Python, and the same in TypeScript',
    models: { 'public/models/digits': 'digits' },
  },
} as const satisfies Readonly<Record<string, Template>>;

export type TemplateName = keyof typeof TEMPLATES;

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as readonly TemplateName[];
