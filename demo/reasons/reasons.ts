/** The page on explanations: one of two demos, of a photo or of a digit. */
import { demoPage } from '../demo-page.js';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { el } from '../page/dom.js';
import { replaceSettings, route } from '../page/route.js';
import { segments } from '../page/segments.js';
import '../styles/reasons.css';
import { digitReasons, photoReasons } from './demos.js';

const DEMOS = { photo: photoReasons, digit: digitReasons } as const;

export const reasons: Exhibit = {
  id: 'reasons',
  title: 'Reasons',
  summary: 'Which parts of a picture support the model’s answer: a heat map, on any engine, without gradients.',
  mount(announce) {
    let shown: Exhibited;
    const place = el('div', {});
    const mount = (): void => {
      shown = demoPage(DEMOS[of.value]()).mount(announce);
      place.replaceChildren(shown.element);
    };
    const of = segments('of', 'What to explain', { photo: 'A photo', digit: 'A digit' }, (value) => {
      shown.dispose();
      const others = Object.keys(route().settings).map((name) => [name, undefined]);
      replaceSettings({ ...Object.fromEntries(others), of: value === 'photo' ? undefined : value });
      mount();
    });
    of.select(route().settings['of']);
    mount();
    return {
      element: el('div', {}, el('div', { class: 'reasons-of' }, of.element), place),
      files: {
        take: (file) => shown.files?.take?.(file),
        refused: (error) => shown.files?.refused(error),
      },
      dispose: () => shown.dispose(),
    };
  },
};
