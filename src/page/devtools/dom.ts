/** What the panel is made of. It sets no `style` attribute and no HTML as text: a strict policy of the page forbids both. */

/** Creates an element with attributes and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function button(label: string, onClick: () => void): HTMLButtonElement {
  const element = el('button', { type: 'button' }, label);
  element.addEventListener('click', onClick);
  return element;
}

/** Sets a text, if it has changed: a selection in it stays. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A table that scrolls where it is too wide. */
export interface Table {
  readonly element: HTMLElement;
  readonly body: HTMLTableSectionElement;
}

/** @param heads of its columns; one that starts with a minus is for screen readers alone */
export function table(label: string, heads: readonly string[]): Table {
  const cells = heads.map((head) =>
    head.startsWith('-')
      ? el('th', { scope: 'col' }, el('span', { class: 'unseen' }, head.slice(1)))
      : el('th', { scope: 'col' }, head),
  );
  const body = el('tbody');
  const element = el(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': label, tabindex: '0' },
    el('table', {}, el('thead', {}, el('tr', {}, ...cells)), body),
  );
  return { element, body };
}

/** Replaces the rows of a table whose cells are texts, if they have changed. The first cell names its row. */
export function setRows({ body }: Table, rows: readonly (readonly string[])[]): void {
  const key = JSON.stringify(rows);
  if (body.dataset['rows'] === key) return;
  body.dataset['rows'] = key;
  body.replaceChildren(
    ...rows.map(([head = '', ...cells]) =>
      el('tr', {}, el('th', { scope: 'row' }, head), ...cells.map((cell) => el('td', {}, cell))),
    ),
  );
}
