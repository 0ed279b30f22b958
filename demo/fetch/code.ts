import { MODELS, type ModelName } from './models.js';

/** Returns the code of the three parts: the client, the app's service worker, and the page that hosts. */
export function codeOf(name: ModelName): string {
  return [
    '// The client, anywhere in the app: it knows only fetch.',
    `const image = document.querySelector<HTMLInputElement>('input[type="file"]')!.files![0]!;`,
    `const response = await fetch('predictions/${name}', { method: 'POST', body: image });`,
    'await response.json(); // { seven: 0.998, … }, as TorchServe answers',
    "response.headers.get('TabServe-Answered-By'); // device, server or none",
    '',
    '// The app’s service worker.',
    "import { answerPredictions } from 'tabserve/service-worker';",
    '',
    `answerPredictions({ models: { '${name}': '${MODELS[name]}' }, base: './' });`,
    '',
    '// A page that hosts the model.',
    "import { load } from 'tabserve';",
    "import { hostModels } from 'tabserve/service-worker';",
    "import { ModelServer } from 'tabserve/serving';",
    '',
    'const server = new ModelServer();',
    `await server.register(await load('/models/digits/'), { name: '${name}' });`,
    'const host = hostModels(server);',
    '',
  ].join('\n');
}
