import { button, el } from '../page/dom.js';
import { address, route } from '../page/route.js';
import type { Card } from './card.js';
import { encodeCard } from './share.js';

export interface ShareButton {
  readonly element: HTMLElement;
  /** Enables the button while there is a card. */
  offer(is: boolean): void;
  /** Hides the link of an old card. */
  hide(): void;
}

/** Creates a button that copies a link to the card. The link itself holds the card: nothing is sent anywhere. */
export function shareButton(card: () => Card | undefined): ShareButton {
  const field = el('input', { type: 'text', readonly: '', 'aria-label': 'Link to this card' });
  const note = el('p', { role: 'status' });
  const box = el('div', { class: 'share-box', hidden: '' }, field, note);
  const open = button('Copy a link', () => {
    const shown = card();
    if (!shown) return;
    const base = location.href.split('#')[0]!;
    field.value = base + address(route().page, { card: encodeCard(shown) });
    box.hidden = false;
    field.select();
    navigator.clipboard.writeText(field.value).then(
      () => (note.textContent = 'Copied. The link holds this card, and nothing was sent.'),
      () => (note.textContent = 'Copy this link: it holds the card, and nothing was sent.'),
    );
  });
  open.disabled = true;
  return {
    element: el('div', { class: 'share' }, open, box),
    offer: (is) => void (open.disabled = !is),
    hide() {
      box.hidden = true;
      note.textContent = '';
    },
  };
}
