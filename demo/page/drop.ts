import type { FileTaker } from '../exhibit.js';
import { Explained } from './explained.js';

/**
 * Gives a file or a folder that is dropped anywhere, or a file that is pasted, to the shown page; of several, the first. `zone` shows by
 * `data-dragging` that something is about to be dropped.
 */
export function takeFiles(zone: HTMLElement, current: () => FileTaker | undefined): void {
  const accepts = (): boolean => current()?.take !== undefined;
  const first = (data: DataTransfer | null, how: string): void => {
    const taker = current();
    const file = data?.files[0];
    if (!taker?.take) taker?.refused(new Explained('This demo takes text, not files. Type or paste a sentence.'));
    else if (file) taker.take(file, data.items[0]);
    else taker.refused(new Explained(`Nothing that was ${how} is a file. Choose a file.`));
  };
  /** Where a demo takes only text, the browser handles dropped and pasted text itself. */
  const isOurs = (data: DataTransfer | null): boolean => accepts() || data?.types.includes('Files') === true;

  const dragging = (on: boolean): void => void zone.toggleAttribute('data-dragging', on);
  window.addEventListener('dragover', (event) => {
    if (!isOurs(event.dataTransfer)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = accepts() ? 'copy' : 'none';
    dragging(accepts());
  });
  window.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) dragging(false);
  });
  window.addEventListener('drop', (event) => {
    if (!isOurs(event.dataTransfer)) return;
    event.preventDefault();
    dragging(false);
    first(event.dataTransfer, 'dropped');
  });
  window.addEventListener('dragend', () => dragging(false));

  document.addEventListener('paste', (event) => isOurs(event.clipboardData) && first(event.clipboardData, 'pasted'));
}

/** Has a button open a file chooser. */
export function chooses(button: HTMLButtonElement, chooser: HTMLInputElement, take: (file: File) => void): void {
  button.addEventListener('click', () => chooser.click());
  chooser.addEventListener('change', () => {
    const file = chooser.files?.[0];
    if (file) take(file);
    // The same file can be chosen again.
    chooser.value = '';
  });
}
