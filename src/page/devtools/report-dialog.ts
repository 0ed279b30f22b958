import type { DeviceReport } from '../../contract/device-report.js';
import { button, el } from './dom.js';

export interface ReportDialog {
  readonly element: HTMLDialogElement;
  show(report: DeviceReport): void;
}

/** Shows a report in full before it is saved: what is saved is the text that is shown. */
export function reportDialog(): ReportDialog {
  let name = '';
  const text = el('pre', { class: 'scroll', role: 'region', 'aria-label': 'The report', tabindex: '0' });
  const save = button('Save', () => {
    const url = URL.createObjectURL(new Blob([text.textContent], { type: 'application/json' }));
    el('a', { href: url, download: name }).click();
    // The download has begun, and needs the URL no more.
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    element.close();
  });
  const element = el(
    'dialog',
    { 'aria-label': 'Save a report' },
    el('h3', {}, 'Save a report'),
    el(
      'p',
      { class: 'quiet' },
      'The file has what stands here, and nothing else. It is saved on this device, and sent nowhere.',
    ),
    text,
    el(
      'div',
      { class: 'actions' },
      save,
      button('Cancel', () => element.close()),
    ),
  );
  return {
    element,
    show(report) {
      name = `tabserve-report-${report.at.slice(0, 19).replaceAll(':', '-')}.json`;
      text.textContent = JSON.stringify(report, null, 2);
      element.showModal();
    },
  };
}
