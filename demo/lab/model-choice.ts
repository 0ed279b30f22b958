import { button, el } from '../page/dom.js';
import { bytes } from '../page/format.js';
import { isSmall, MODELS, type LabModel } from './models.js';

export interface ModelChoice {
  readonly element: HTMLElement;
  readonly model: LabModel;
  /** Whether it is the visitor's own. */
  readonly isOwn: boolean;
  /** Selects a sample by its name in the address, or the first one. Calls no listener. */
  select(id: string): void;
  /** Adds the visitor's own model, and selects it. */
  offer(file: File): void;
}

/** Creates a list of the sample models with their sizes, and a button to choose a file. */
export function modelChoice(chosen: (model: LabModel) => void, take: (file: File) => void): ModelChoice {
  let own: LabModel | undefined;
  let model = MODELS[0];
  const list = el('select', { id: 'lab-model' });
  const chooser = el('input', {
    type: 'file',
    id: 'lab-chooser',
    accept: '.onnx',
    'aria-label': 'ONNX file',
    tabindex: '-1',
    hidden: '',
  });
  const options = (label: string, models: readonly LabModel[]): readonly HTMLElement[] =>
    models.length > 0
      ? [
          el(
            'optgroup',
            { label },
            ...models.map(({ id, name, bytes: size }) => el('option', { value: id }, `${name}, ${bytes(size)}`)),
          ),
        ]
      : [];
  const update = (): void => {
    list.replaceChildren(
      ...options('Your file', own ? [own] : []),
      ...options('Small models', MODELS.filter(isSmall)),
      ...options(
        'Larger models',
        MODELS.filter((one) => !isSmall(one)),
      ),
    );
    list.value = model.id;
  };
  list.addEventListener('change', () => {
    model = [...(own ? [own] : []), ...MODELS].find(({ id }) => id === list.value)!;
    chosen(model);
  });
  chooser.addEventListener('change', () => {
    const file = chooser.files?.[0];
    if (file) take(file);
    chooser.value = '';
  });
  update();
  return {
    element: el(
      'div',
      { class: 'model-choice' },
      el('label', { for: 'lab-model' }, 'Model'),
      list,
      button('Open an .onnx file', () => chooser.click()),
      chooser,
    ),
    get model() {
      return model;
    },
    get isOwn() {
      return model === own;
    },
    select(id) {
      model = MODELS.find((one) => one.id === id) ?? MODELS[0];
      update();
    },
    offer(file) {
      model = own = { id: 'own', name: file.name, bytes: file.size, weights: { onnx: file } };
      update();
      chosen(model);
    },
  };
}
