import { expose, TextToSpeech } from 'tabserve/worker';

/** The sounds of a few words. An app asks its phonemizer here. */
const SOUNDS: Readonly<Record<string, string>> = { hello: 'həlˈoʊ', world: 'wˈɜːld' };

export class Speaker extends TextToSpeech {
  protected override phonemize(text: string): string {
    return text.toLowerCase().replace(/\p{L}+/gu, (word) => SOUNDS[word] ?? '');
  }
}

expose(Speaker);
