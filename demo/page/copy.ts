/** Creates a button that copies text, and says whether it could. */
export function copies(button: HTMLButtonElement, text: () => string): void {
  const label = button.textContent;
  button.setAttribute('aria-live', 'polite');
  let back: ReturnType<typeof setTimeout> | undefined;
  const say = (what: string): void => {
    button.textContent = what;
    clearTimeout(back);
    back = setTimeout(() => (button.textContent = label), 1600);
  };
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(text()).then(
      () => say('Copied'),
      () => say('Not allowed'),
    );
  });
}
