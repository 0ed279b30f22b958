import '../styles/repository.css';
import { button, el } from '../page/dom.js';
import { bytes } from '../page/format.js';
import { inWords } from '../panels/words.js';
import { hubModels, repositoryOf, type HubModel } from './hub.js';

export interface RepositoryField {
  readonly element: HTMLElement;
  dispose(): void;
}

/**
 * Creates a field for a repository of Hugging Face. It asks for the list of its files, says how large the download is, and
 * downloads nothing until the visitor says so.
 */
export function repositoryField(opened: (model: HubModel) => void): RepositoryField {
  let asking = new AbortController();
  let models: readonly HubModel[] = [];
  const field = el('input', {
    id: 'repository',
    type: 'text',
    placeholder: 'ORG/NAME',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const look = el('button', { type: 'submit' }, 'Show its size');
  const choice = el('select', { 'aria-label': 'Precision' });
  const download = button('Download', () => {
    const model = models.find(({ dtype }) => dtype === choice.value);
    if (model) opened(model);
  });
  const says = el('p', { class: 'quiet', role: 'status' });
  const found = el('div', { class: 'actions', hidden: '' }, choice, download);
  const form = el(
    'form',
    { class: 'repository' },
    el('label', { for: 'repository' }, 'Repository of Hugging Face'),
    el('div', { class: 'actions' }, field, look),
    found,
    says,
  );
  const hint = 'It needs a language model in ONNX. “Show its size” asks huggingface.co for the list of its files.';
  says.textContent = hint;
  const chosen = (): void => {
    const model = models.find(({ dtype }) => dtype === choice.value);
    if (!model) return;
    download.textContent = `Download ${bytes(model.bytes)}`;
    says.textContent = `${model.repository}: the download is from huggingface.co and the servers that it sends to, *.hf.co. They see your IP address; what you write stays on this device.`;
  };
  const ask = async (): Promise<void> => {
    asking.abort();
    const { signal } = (asking = new AbortController());
    found.hidden = true;
    try {
      const repository = repositoryOf(field.value);
      says.textContent = 'Asking huggingface.co…';
      models = await hubModels(repository, signal);
      choice.replaceChildren(
        ...models.map(({ dtype, bytes: size }) => el('option', { value: dtype }, `${dtype}, ${bytes(size)}`)),
      );
      found.hidden = false;
      chosen();
    } catch (error) {
      if (!signal.aborted) says.textContent = inWords(error).text;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void ask();
  });
  choice.addEventListener('change', chosen);
  return { element: form, dispose: () => asking.abort() };
}
