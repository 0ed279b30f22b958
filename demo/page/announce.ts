/** Returns a function that has a screen reader say a text, unless another text follows within 0.6 s. */
export function announcer(live: HTMLElement): (text: string) => void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  return (text) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (live.textContent !== text) live.textContent = text;
    }, 600);
  };
}
