import type { Demo, ModelFacts } from '../demo.js';
import { el } from '../page/dom.js';
import { bytes } from '../page/format.js';
import { address, type Settings } from '../page/route.js';
import { segments } from '../page/segments.js';

export interface ModelPanel {
  readonly element: HTMLElement;
  readonly model: ModelFacts;
  /** Chooses the model that `settings` names. It opens nothing. */
  restore(settings: Settings): void;
}

/** Shows the model's name, size and license, with a switch if there are several models. */
export function modelPanel({ models }: Demo, switched: () => void): ModelPanel {
  const facts = el('p', { class: 'model-facts' });
  const show = (model: ModelFacts): void => facts.replaceChildren(...aboutModel(model));
  const chosen = segments('model', 'Model', Object.fromEntries(models.map(({ short }) => [short, short])), () => {
    show(panel.model);
    switched();
  });
  const panel: ModelPanel = {
    element: el('div', { class: 'model' }, ...(models.length > 1 ? [chosen.element] : []), facts),
    get model() {
      return models.find(({ short }) => short === chosen.value)!;
    },
    restore({ model }) {
      chosen.select(model);
      show(panel.model);
    },
  };
  show(panel.model);
  return panel;
}

/** Returns a line about a model: its name, size and license, and a link to its card. */
export function aboutModel({ name, url, license, bytes: size }: ModelFacts): readonly (Node | string)[] {
  return [
    el('strong', { class: 'model-name' }, name),
    ` · ${bytes(size)} · ${license} · `,
    el('a', { href: address(url.replace(/\/$/, '')) }, 'Model card'),
  ];
}
