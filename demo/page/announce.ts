/** Has text read out, once nothing newer has come for a while. */
export function announcer(live: HTMLElement): (text: string) => void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  return (text) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (live.textContent !== text) live.textContent = text;
    }, 600);
  };
}
