/**
 * Plays one recording. It needs no `media-src` in the page's Content-Security-Policy, as an audio element with a file
 * would.
 */
export class Player {
  readonly #changed: () => void;
  #context: AudioContext | undefined;
  #playing: { readonly node: AudioBufferSourceNode; readonly began: number } | undefined;

  /** @param changed is called when it begins and when it stops */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Seconds since the recording's beginning; undefined while it does not play. */
  get at(): number | undefined {
    return this.#playing && this.#context!.currentTime - this.#playing.began;
  }

  play(recording: AudioBuffer, from: number): void {
    this.stop();
    const context = (this.#context ??= new AudioContext());
    void context.resume();
    const node = new AudioBufferSourceNode(context, { buffer: recording });
    node.connect(context.destination);
    node.addEventListener('ended', () => this.#playing?.node === node && this.stop());
    node.start(0, from);
    this.#playing = { node, began: context.currentTime - from };
    this.#changed();
  }

  stop(): void {
    if (!this.#playing) return;
    const { node } = this.#playing;
    this.#playing = undefined;
    node.stop();
    node.disconnect();
    this.#changed();
  }

  dispose(): void {
    this.stop();
    void this.#context?.close();
  }
}
