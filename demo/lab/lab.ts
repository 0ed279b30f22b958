import '../styles/instruments.css';
import '../styles/lab.css';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { el } from '../page/dom.js';
import { part } from '../page/part.js';
import { keepRunning } from './keep-running.js';
import { reportCard } from './report-card.js';

/** The page about backends: the report card of this device, and a video that outlives its workers. */
export const lab: Exhibit = {
  id: 'backends',
  title: 'Backends',
  summary: 'How fast each backend is on your device, whether it computes correctly, and why TabServe leaves one out.',
  mount,
};

function mount(announce: (text: string) => void): Exhibited {
  const report = reportCard(announce);
  const running = keepRunning(announce);
  const element = el(
    'div',
    { class: 'lab' },
    report.element,
    part(
      'Recovery',
      'End the worker of a running video, or its GPU: the video continues, and no request fails.',
      running.element,
    ),
  );
  return {
    element,
    files: { take: report.take, refused: report.refused },
    dispose() {
      report.dispose();
      running.dispose();
    },
  };
}
