/** The photo or the recording that goes with the next message. */
import { button, el } from '../page/dom.js';
import { chooses } from '../page/drop.js';
import { Explained } from '../page/explained.js';
import { Player } from '../inputs/player.js';

/** What a model perceives beside texts. */
export type Sense = 'image' | 'audio';

/** A photo or a recording. */
export interface Attached {
  readonly sense: Sense;
  readonly file: Blob;
  /** Returns it as an element of the page, to be seen or played. */
  show(label: string): HTMLElement;
}

interface Words {
  readonly add: string;
  readonly chooser: string;
  /** What assistive technology reads of the one that is to be sent, and of one that was. */
  readonly next: string;
  readonly sent: string;
  readonly unreadable: string;
  readonly lacking: string;
}

const WORDS: Readonly<Record<Sense, Words>> = {
  image: {
    add: 'Add a photo…',
    chooser: 'A photo',
    next: 'The photo for your message',
    sent: 'Your photo',
    unreadable: 'This file is no picture that this browser reads. Choose a JPEG, PNG or WebP file.',
    lacking: 'This model reads no pictures. Open one that does, such as HuggingFaceTB/SmolVLM-256M-Instruct, below.',
  },
  audio: {
    add: 'Add a recording…',
    chooser: 'A recording',
    next: 'The recording for your message',
    sent: 'Your recording',
    unreadable: 'This file is no sound that this browser plays. Choose a WAV, FLAC or Ogg file.',
    lacking: 'This model hears nothing. Open one that does, such as onnx-community/Voxtral-Mini-3B-2507-ONNX, below.',
  },
};

export interface Attachment {
  /** The button that adds one, and the one that is added. */
  readonly elements: readonly HTMLElement[];
  readonly current: Attached | undefined;
  /** Says what the opened model perceives; undefined if texts alone. */
  perceives(sense: Sense | undefined): void;
  /** Takes a file that was dropped or pasted. */
  take(file: Blob): void;
  clear(): void;
  dispose(): void;
}

/** @param refused is called with why a file is not taken */
export function attachment(refused: (error: Error) => void): Attachment {
  const chooser = el('input', { type: 'file', hidden: '', tabindex: '-1' });
  const adder = el('button', { type: 'button', hidden: '' });
  const shown = el('span', { class: 'chat-attached', hidden: '' });
  const sounds = soundButtons();
  let sense: Sense | undefined;
  let current: Attached | undefined;
  /** The file that was taken last: another one may be read in the meantime. */
  let latest: Blob | undefined;

  const set = (given: Attached | undefined): void => {
    current = given;
    shown.hidden = !given;
    shown.replaceChildren();
    if (!given) return;
    shown.append(
      given.show(WORDS[given.sense].next),
      button('Remove', () => set(undefined)),
    );
  };
  const clear = (): void => {
    latest = undefined;
    sounds.stop();
    set(undefined);
  };
  const read = async (file: Blob, own: Sense): Promise<void> => {
    latest = file;
    try {
      const show = own === 'image' ? await pictureOf(file) : await sounds.of(file);
      if (latest === file) set({ sense: own, file, show });
    } catch {
      if (latest === file) refused(new Explained(WORDS[own].unreadable));
    }
  };
  const take = (file: Blob): void => {
    const is = file.type.startsWith('audio/') ? 'audio' : file.type.startsWith('image/') ? 'image' : (sense ?? 'image');
    if (is === sense) void read(file, sense);
    else refused(new Explained(WORDS[is].lacking));
  };
  chooses(adder, chooser, take);
  return {
    elements: [adder, chooser, shown],
    get current() {
      return current;
    },
    perceives(is) {
      sense = is;
      clear();
      adder.hidden = !is;
      if (!is) return;
      adder.textContent = WORDS[is].add;
      chooser.accept = `${is}/*`;
      chooser.ariaLabel = WORDS[is].chooser;
    },
    take,
    clear,
    dispose: sounds.dispose,
  };
}

/** Shows one that was sent. */
export function showSent(attached: Attached): HTMLElement {
  return attached.show(WORDS[attached.sense].sent);
}

/** Returns what shows a picture. @throws if the browser cannot read it */
async function pictureOf(file: Blob): Promise<Attached['show']> {
  (await createImageBitmap(file)).close();
  return (label) => {
    const src = URL.createObjectURL(file);
    const image = el('img', { src, alt: label });
    image.addEventListener('load', () => URL.revokeObjectURL(src));
    return image;
  };
}

interface SoundButtons {
  /** Returns what shows a recording: a button that plays it. @throws if the browser cannot decode it */
  of(file: Blob): Promise<Attached['show']>;
  stop(): void;
  dispose(): void;
}

/** Buttons that play recordings, one at a time. */
function soundButtons(): SoundButtons {
  /** Shows on the button of the recording that plays whether it does. */
  let mark = (_plays: boolean): void => {};
  const player = new Player(() => mark(player.at !== undefined));
  return {
    async of(file) {
      const sound = await new OfflineAudioContext(1, 1, 24_000).decodeAudioData(await file.arrayBuffer());
      return (label) => {
        const says = `Play ${sound.duration.toFixed(1)} s`;
        const plays = button(says, () => {
          const isPlaying = plays.textContent === 'Stop';
          player.stop();
          if (isPlaying) return;
          mark = (on) => void (plays.textContent = on ? 'Stop' : says);
          player.play(sound, 0);
        });
        return el('span', { class: 'chat-sound', role: 'group', 'aria-label': label }, plays);
      };
    },
    stop: () => player.stop(),
    dispose: () => player.dispose(),
  };
}
