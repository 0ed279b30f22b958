import { el } from '../page/dom.js';
import { keepRunning } from './keep-running.js';
import { probeView } from './probe.js';
import { sideBySide } from './side-by-side.js';

export interface Lab {
  readonly element: HTMLElement;
  /** Takes a model of the visitor's. */
  take(file: File): void;
  /** There was no file in what was dropped or pasted. */
  refused(error: unknown): void;
  dispose(): void;
}

export const TITLE = 'Backends';
export const SUMMARY = 'What this browser has, what each engine makes of it, and what happens when a worker or a GPU is lost.';

/** The page about backends: the probe, the candidates side by side, and a video that outlives its workers. */
export function lab(announce: (text: string) => void): Lab {
  const probe = probeView();
  const running = keepRunning(announce);
  const contest = sideBySide((found) => {
    probe.show(found);
    running.probed(found);
  }, announce);
  const element = el(
    'div',
    { class: 'lab' },
    part('What this browser has', 'Looked up in a worker, since a page may have more than its workers.', probe.element),
    part(
      'Candidates side by side',
      'Every engine on every backend gets the same noise, one after the other. Drop an .onnx file here to measure a model of yours.',
      contest.element,
    ),
    part('Kept running', 'Take the worker or its GPU away from a video: it goes on, and no request fails.', running.element),
  );
  return {
    element,
    take: contest.take,
    refused: contest.refused,
    dispose() {
      contest.dispose();
      running.dispose();
    },
  };
}

function part(title: string, says: string, content: HTMLElement): HTMLElement {
  const heading = el('h2', {}, title);
  heading.id = `lab-${title.toLowerCase().replaceAll(' ', '-')}`;
  return el('section', { 'aria-labelledby': heading.id }, heading, el('p', { class: 'says' }, says), content);
}
