import type { Demo, ModelFacts } from '../demo.js';
import { el } from '../page/dom.js';
import { bytes } from '../page/format.js';
import { segments } from '../page/segments.js';

export interface ModelPanel {
  readonly element: HTMLElement;
  readonly model: ModelFacts;
}

/** Shows the model's name, size and license, with a switch if there are several models. */
export function modelPanel({ models }: Demo, switched: () => void): ModelPanel {
  const facts = el('div');
  const show = ({ name, url, license, bytes: size }: ModelFacts): void =>
    facts.replaceChildren(
      el('p', { class: 'model-name' }, name),
      el('p', {}, `${bytes(size)} · ${license} · `, el('a', { href: `${url}README.md` }, 'model card')),
    );
  const chosen = segments('model', 'Model', Object.fromEntries(models.map(({ url, short }) => [url, short])), () => {
    show(panel.model);
    switched();
  });
  const panel: ModelPanel = {
    element: el('div', { class: 'model' }, ...(models.length > 1 ? [chosen.element] : []), facts),
    get model() {
      return models.find(({ url }) => url === chosen.value)!;
    },
  };
  show(panel.model);
  return panel;
}
