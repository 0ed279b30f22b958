import type { Input, InputEvents, Picture } from '../demo.js';
import { button, el } from '../page/dom.js';

/** The longer side of a turned copy, in pixels. */
const TURNED = 1280;

/** Shows the image that was chosen, and turns it by 180° when asked. */
export function imageStage({ changed }: InputEvents, invitation: string): Input {
  const image = el('img', { alt: 'The image that is classified' });
  const element = el('div', { class: 'stage', 'data-empty': '' }, image, el('p', { class: 'invitation' }, invitation));
  let original: Blob | undefined;
  let turned: HTMLCanvasElement | undefined;
  let url: string | undefined;

  const turn = button('Turn by 180°', () => {
    const picture = original;
    if (!picture) return;
    if (turned) {
      turned = undefined;
      settle();
      return;
    }
    void createImageBitmap(picture).then((bitmap) => {
      if (picture === original && !turned) {
        turned = upsideDown(bitmap);
        settle();
      }
      bitmap.close();
    });
  });
  turn.disabled = true;
  const settle = (): void => {
    image.toggleAttribute('data-turned', turned !== undefined);
    turn.setAttribute('aria-pressed', String(turned !== undefined));
    changed();
  };

  const release = (): void => {
    if (url) URL.revokeObjectURL(url);
  };
  return {
    element,
    actions: [turn],
    current: (): Picture | undefined => turned ?? original,
    given: () => original,
    get settings() {
      return { turned: turned ? 'yes' : 'no' };
    },
    restore: ({ turned: wanted }) => void (wanted === 'yes' && !turned && turn.click()),
    async show(picture) {
      release();
      original = picture;
      turned = undefined;
      url = URL.createObjectURL(picture);
      image.src = url;
      image.removeAttribute('data-turned');
      element.removeAttribute('data-empty');
      turn.disabled = false;
      turn.setAttribute('aria-pressed', 'false');
    },
    dispose: release,
  };
}

function upsideDown(bitmap: ImageBitmap): HTMLCanvasElement {
  const scale = Math.min(1, TURNED / Math.max(bitmap.width, bitmap.height));
  const canvas = el('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d')!;
  context.translate(canvas.width, canvas.height);
  context.rotate(Math.PI);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}
