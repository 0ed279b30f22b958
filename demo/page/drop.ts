import { TabServeError } from '../../src/index.js';

export interface Intake {
  /** Shows by `data-dragging` that something is about to be dropped. */
  readonly zone: HTMLElement;
  /** The button that opens the file chooser. */
  readonly button: HTMLButtonElement;
  readonly chooser: HTMLInputElement;
  /** Whether there is a use for files now. */
  accepts(): boolean;
  take(file: File): void;
  /** There was no file in it, or no use for one. */
  refuse(error: TabServeError): void;
}

/** Takes a file by drop anywhere, by paste and by the file chooser: the first, where there are several. */
export function takeFiles({ zone, button, chooser, accepts, take, refuse }: Intake): void {
  const first = (data: DataTransfer | null, how: string): void => {
    const file = data?.files[0];
    if (!accepts()) refuse(new TabServeError('invalid-input', 'This demo reads text, and no files.'));
    else if (file) take(file);
    else refuse(new TabServeError('invalid-input', `What was ${how} holds no file.`));
  };
  /** Text moves as it always does, where only text is read. */
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

  button.addEventListener('click', () => chooser.click());
  chooser.addEventListener('change', () => {
    const file = chooser.files?.[0];
    if (file) take(file);
    // The same file can be chosen again.
    chooser.value = '';
  });
}
