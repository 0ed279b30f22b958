import { wrongValue } from '../../shared/read-options.js';
import { clientView, type ClientView, type InspectedClient } from './client-view.js';
import { button, el, setText } from './dom.js';
import { deviceReport } from './report.js';
import { reportDialog } from './report-dialog.js';
import { storageView } from './storage-view.js';
import { STYLES } from './styles.js';

export type { InspectedClient } from './client-view.js';

const NAME = 'tabserve-devtools';
/** Milliseconds between two looks at workers and queue, which tell of no change. */
const EVERY = 500;

/** Milliseconds between two looks at what is stored: workers store files, and verdicts, after the model is open. */
const STORED_EVERY = 3000;

/** Where there is no DOM, as on a server, the class is there and cannot be used. */
const Base = (globalThis.HTMLElement ?? Object) as typeof HTMLElement;

/**
 * The element `<tabserve-devtools>`: shows what the clients of a page do, for development. It observes while it is in
 * the document.
 */
export class TabServeDevtools extends Base {
  #clients: readonly InspectedClient[] = [];
  #views: readonly ClientView[] = [];
  #timers: readonly ReturnType<typeof setInterval>[] = [];
  readonly #content = el('div');
  readonly #storage = storageView();
  readonly #status = el('p', { class: 'unseen', role: 'status' });

  constructor() {
    super();
    const fold = button('Hide', () => {
      const isOpen = this.#content.toggleAttribute('hidden') === false;
      fold.setAttribute('aria-expanded', String(isOpen));
      fold.textContent = isOpen ? 'Hide' : 'Show';
    });
    fold.setAttribute('aria-expanded', 'true');
    const dialog = reportDialog();
    const report = button('Save a report…', () => void deviceReport(this.#clients).then(dialog.show));
    const root = this.attachShadow({ mode: 'open' });
    const styles = new CSSStyleSheet();
    styles.replaceSync(STYLES);
    root.adoptedStyleSheets = [styles];
    root.append(
      el('header', {}, el('h2', {}, 'TabServe DevTools'), report, fold),
      this.#content,
      dialog.element,
      this.#status,
    );
  }

  /** The clients that it shows. @throws `invalid-input` for anything but a list of clients */
  get clients(): readonly InspectedClient[] {
    return this.#clients;
  }

  set clients(clients: readonly InspectedClient[]) {
    if (!Array.isArray(clients) || !clients.every(isClient))
      throw wrongValue('clients', 'a list of clients, of load or connect', clients);
    this.#clients = [...(clients as readonly InspectedClient[])];
    if (this.isConnected) this.#open();
  }

  connectedCallback(): void {
    // A framework may have set the property before this script was loaded; it then hides the accessor.
    if (Object.hasOwn(this, 'clients')) {
      const { clients } = this;
      delete (this as { clients?: unknown }).clients;
      this.clients = clients;
    } else this.#open();
  }

  disconnectedCallback(): void {
    this.#close();
  }

  #open(): void {
    this.#close();
    const says = (text: string): void => setText(this.#status, text);
    this.#views = this.#clients.map((client, index) => clientView(client, index + 1, says));
    const views = this.#views.map(({ element }) => element);
    const none = el('p', { class: 'none' }, 'No clients: set the property clients to those of load or connect.');
    this.#content.replaceChildren(...(views.length > 0 ? views : [none]), this.#storage.element);
    this.#storage.update();
    const whenSeen = (look: () => void) => (): void => {
      if (!document.hidden && !this.#content.hidden) look();
    };
    this.#timers = [
      setInterval(
        whenSeen(() => this.#views.forEach((view) => view.update())),
        EVERY,
      ),
      setInterval(
        whenSeen(() => this.#storage.update()),
        STORED_EVERY,
      ),
    ];
  }

  #close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const view of this.#views) view.dispose();
    this.#views = [];
  }
}

function isClient(value: unknown): boolean {
  const { on, describe } = (value ?? {}) as Partial<InspectedClient>;
  return typeof on === 'function' && typeof describe === 'function';
}

const registry = globalThis.customElements as CustomElementRegistry | undefined;
if (registry?.get(NAME) === undefined) registry?.define(NAME, TabServeDevtools);

/**
 * Shows the panel at the bottom of the page. `remove()` of what it returns removes it. Import it where only development
 * does, by a dynamic import, and no script of production has its code.
 *
 * ```ts
 * const panel = mountDevtools([classifier]);
 * ```
 * @throws `invalid-input` for anything but a list of clients
 */
export function mountDevtools(clients: readonly InspectedClient[]): TabServeDevtools {
  const panel = document.createElement(NAME) as TabServeDevtools;
  panel.clients = clients;
  panel.toggleAttribute('docked', true);
  document.body.append(panel);
  return panel;
}

declare global {
  interface HTMLElementTagNameMap {
    'tabserve-devtools': TabServeDevtools;
  }
}
