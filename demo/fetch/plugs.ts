import { button, el } from '../page/dom.js';

/** One thing that the visitor can switch off: its name, what it is now, and its buttons. */
export interface Plug {
  readonly element: HTMLElement;
  say(text: string): void;
}

export function plug(name: string, ...buttons: readonly HTMLButtonElement[]): Plug {
  const state = el('p', { class: 'quiet' });
  return {
    element: el('li', { class: 'plug' }, el('h3', {}, name), state, el('div', { class: 'actions' }, ...buttons)),
    say: (text) => void (state.textContent = text),
  };
}

export interface ServerPlug extends Plug {
  /** Whether there is a server that answers; resolves when it has opened the model. */
  readonly opened: Promise<boolean>;
}

/** Switches the dev server's models on and off. A host of static files has none. */
export function serverPlug(told: (text: string) => void): ServerPlug {
  const exists = !import.meta.env.PROD;
  let isOn = true;
  const turn = button('Switch the server off', () => void set(!isOn));
  const one = plug('The server', ...(exists ? [turn] : []));
  const show = (): void => {
    turn.textContent = isOn ? 'Switch the server off' : 'Switch the server on';
    one.say(
      isOn
        ? 'A model server in the process of npm start: Node with ONNX Runtime and the same model.'
        : 'Off: it drops every connection.',
    );
  };
  const set = async (on: boolean): Promise<void> => {
    const { isOn: now } = (await (await fetch(`model-server/${on ? 'on' : 'off'}`, { method: 'POST' })).json()) as {
      isOn: boolean;
    };
    const was = isOn;
    isOn = now;
    show();
    if (isOn !== was) told(isOn ? 'The server is on.' : 'The server is off.');
  };
  const opened = exists
    ? set(true).then(
        () => true,
        () => false,
      )
    : Promise.resolve(false);
  if (!exists)
    one.say(
      'There is none: this gallery is on a host of static files, so only tabs can answer. With npm start there is one, and a switch for it.',
    );
  return { ...one, opened };
}

/** Opens a second tab that hosts the model, and closes it. */
export function tabPlug(told: (text: string) => void): Plug & { dispose(): void } {
  let tab: Window | null = null;
  const opener = button('Open a hosting tab', () => {
    const { href } = new URL('#/fetch?client=off', location.href);
    tab = window.open(href);
    told(tab ? 'A hosting tab was opened.' : 'The browser has not allowed another tab.');
    show();
  });
  const closer = button('Close it', () => {
    tab?.close();
    told('The hosting tab was closed.');
    setTimeout(show, 300);
  });
  const one = plug('Another tab', opener, closer);
  const show = (): void => {
    const isOpen = tab !== null && !tab.closed;
    opener.disabled = isOpen;
    closer.disabled = !isOpen;
    one.say(
      isOpen
        ? 'It hosts the model as well. Close it with the browser, if you like.'
        : 'There is none that this tab has opened.',
    );
  };
  show();
  const look = setInterval(show, 1000);
  return { ...one, dispose: () => clearInterval(look) };
}
