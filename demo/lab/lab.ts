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
  summary: 'What this browser offers, how fast each engine is on it, and what happens when a worker or a GPU is lost.',
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
    part(
      'What this browser offers',
      'Checked in a worker, because a worker may have less than its page.',
      probe.element,
    ),
    part(
      'Candidates side by side',
      'Every engine runs on every backend, one after the other, with the same random input. Drop an .onnx file here to measure your own model.',
      contest.element,
    ),
    part(
      'Recovery',
      'End the worker of a running video, or its GPU: the video goes on, and no request fails.',
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
