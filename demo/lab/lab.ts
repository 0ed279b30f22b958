import type { Exhibit, Exhibited } from '../exhibit.js';
import { el } from '../page/dom.js';
import { part } from '../page/part.js';
import { keepRunning } from './keep-running.js';
import { probeView } from './probe.js';
import { sideBySide } from './side-by-side.js';

/** The page about backends: the probe, the candidates side by side, and a video that outlives its workers. */
export const lab: Exhibit = {
  id: 'backends',
  title: 'Backends',
  summary: 'What this browser has, what each engine makes of it, and what happens when a worker or a GPU is lost.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
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
    part(
      'Kept running',
      'Take the worker or its GPU away from a video: it goes on, and no request fails.',
      running.element,
    ),
  );
  return {
    element,
    files: { take: contest.take, refused: contest.refused },
    dispose() {
      contest.dispose();
      running.dispose();
    },
  };
}
