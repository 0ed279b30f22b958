/** A pen that is moved with the keyboard, in pixels of the canvas. */
export interface PenKeys {
  readonly isDown: boolean;
}

/** What a canvas does with the pen. */
export interface PenEvents {
  /** Is called when the pen was moved, or lowered; `draws`: whether it leaves a line from where it was. */
  moved(from: readonly [number, number], to: readonly [number, number], draws: boolean): void;
  clear(): void;
}

/** Pixels that one key press moves the pen. */
const STEP = 10;
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

/**
 * Draws with the keyboard while `canvas` has the focus: arrow keys move the pen (two at once: at an angle), Space
 * lowers and lifts it, Delete clears.
 */
export function penKeys(canvas: HTMLCanvasElement, side: number, { moved, clear }: PenEvents): PenKeys {
  const pressed = new Set<string>();
  let at: readonly [number, number] = [side / 2, side / 4];
  let isDown = false;
  const within = (value: number): number => Math.min(side, Math.max(0, value));
  const go = ([dx, dy]: readonly [number, number]): void => {
    const from = at;
    at = [within(from[0] + dx), within(from[1] + dy)];
    moved(from, at, isDown);
  };

  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ARROWS) {
      pressed.add(event.key);
      const moves = [...pressed].map((key) => ARROWS[key]!);
      go([moves.reduce((sum, [dx]) => sum + dx, 0), moves.reduce((sum, [, dy]) => sum + dy, 0)]);
    } else if (event.key === ' ') {
      if (!event.repeat) isDown = !isDown;
      go([0, 0]);
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      isDown = false;
      clear();
      go([0, 0]);
    } else return;
    event.preventDefault();
  });
  canvas.addEventListener('keyup', ({ key }) => pressed.delete(key));
  canvas.addEventListener('focus', () => go([0, 0]));
  canvas.addEventListener('blur', () => {
    pressed.clear();
    isDown = false;
  });
  return {
    get isDown() {
      return isDown;
    },
  };
}
