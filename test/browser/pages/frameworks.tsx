import { Activity, Component, StrictMode, Suspense, useEffect, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { mount, unmount } from 'svelte';
import { createApp } from 'vue';
import { useModel, type Loading, type Model } from 'tabserve/react';
import type { ImageClassifier, TabServeError } from 'tabserve';
import { Camera as ReactCamera } from '../../readme/frameworks/Camera.tsx';
import SvelteCamera from '../../readme/frameworks/Camera.svelte';
import { Digit as ReactDigit } from '../../readme/frameworks/Digit.tsx';
import { Parity } from '../../readme/frameworks/Parity.tsx';
import SvelteDigit from '../../readme/frameworks/Digit.svelte';
import VueDigit from '../../readme/frameworks/Digit.vue';
import { Tale as ReactTale } from '../../readme/frameworks/Tale.tsx';
import VueTale from '../../readme/frameworks/Tale.vue';

/** Shows a component, and returns a function that removes it. */
type Recipe = (target: Element) => () => void;

const ofReact =
  (Sample: () => ReactNode): Recipe =>
  (target) => {
    const root = createRoot(target);
    root.render(
      <StrictMode>
        <Sample />
      </StrictMode>,
    );
    return () => root.unmount();
  };

const ofVue =
  (sample: Parameters<typeof createApp>[0]): Recipe =>
  (target) => {
    const app = createApp(sample);
    app.mount(target);
    return () => app.unmount();
  };

const ofSvelte =
  (sample: Parameters<typeof mount>[0]): Recipe =>
  (target) => {
    const app = mount(sample, { target });
    return () => void unmount(app);
  };

/** The recipes of docs/frameworks.md. */
const recipes = {
  react: ofReact(ReactDigit),
  'react, with a handler of its own': ofReact(Parity),
  'react, in parts': ofReact(ReactTale),
  'react, frames': ofReact(ReactCamera),
  vue: ofVue(VueDigit),
  'vue, in parts': ofVue(VueTale),
  svelte: ofSvelte(SvelteDigit),
  'svelte, frames': ofSvelte(SvelteCamera),
};

/** How a test asks for a component: the options of `useModel`, and whether a worker factory is written inline. */
interface Asked {
  readonly topK?: number;
  readonly loading?: Loading;
  readonly inline?: boolean;
}

type DigitModel = Model<ImageClassifier>;

/** What each component got from `useModel` last. */
const models: Record<string, DigitModel> = {};
/** The different states that each component has shown. */
const shown: Record<string, string[]> = {};
let effects = 0;

function use({ topK = 5, loading = 'eager', inline = false }: Asked): DigitModel {
  const options = {
    model: new URL('/models/digits/', location.origin),
    config: { handler: { topK }, engine: { threads: 1 } },
    backends: ['onnx/wasm'] as const,
    cache: 'none' as const,
    loading: loading as 'eager',
  };
  const makeWorker = () => new Worker('/src/worker/default.worker.js', { type: 'module' });
  return inline
    ? useModel<ImageClassifier>(makeWorker, options)
    : useModel({ ...options, handler: 'image_classifier' });
}

function Probe({ name, asked }: { name: string; asked: Asked }) {
  const model = use(asked);
  models[name] = model;
  const states = (shown[name] ??= []);
  if (states.at(-1) !== model.status) states.push(model.status);
  useEffect(() => void effects++, []);
  return <output id={name}>{model.status === 'error' ? model.error.code : model.status}</output>;
}

/** Shows the code of an error that a component throws. */
class Boundary extends Component<{ name: string; children: ReactNode }, { error?: TabServeError }> {
  override state: { error?: TabServeError } = {};
  static getDerivedStateFromError(error: TabServeError): object {
    return { error };
  }
  override render(): ReactNode {
    const { error } = this.state;
    return error ? <output id={this.props.name}>thrown {error.code}</output> : this.props.children;
  }
}

const root = createRoot(document.querySelector('main')!);

/** Shows these components, in StrictMode. A component of the same name stays mounted. */
function show(asked: Readonly<Record<string, Asked>>): void {
  root.render(
    <StrictMode>
      {Object.entries(asked).map(([name, one]) => (
        <Boundary key={name} name={name}>
          <Suspense fallback={<output id={name}>suspended</output>}>
            <Probe name={name} asked={one} />
          </Suspense>
        </Boundary>
      ))}
    </StrictMode>,
  );
}

/** What the effect of a component's child was answered, each time that it ran. */
const answers: string[] = [];

function Child({ predict }: Pick<DigitModel, 'predict'>) {
  useEffect(() => {
    predict(new ImageData(28, 28)).then(
      () => answers.push('answered'),
      (error: TabServeError) => answers.push(error.code),
    );
  }, [predict]);
  return null;
}

function Parent() {
  const model = use({});
  return (
    <output id="parent">
      {model.status}
      <Child predict={model.predict} />
    </output>
  );
}

/** Shows a component with a child, or hides both: React ends their effects then, and keeps their state. */
function showActivity(mode: 'visible' | 'hidden'): void {
  root.render(
    <Activity mode={mode}>
      <Parent />
    </Activity>,
  );
}

const frameworks = { recipes, show, showActivity, models, shown, answers, effects: () => effects };

declare global {
  interface Window {
    frameworks: typeof frameworks;
  }
}

window.frameworks = frameworks;
