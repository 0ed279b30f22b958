import type { BackendName } from 'tabserve';

const name = new URLSearchParams(location.search).get('backend') as BackendName | null;

/**
 * Which backends may run the model: all of them, in TabServe's own order. With `?backend=webgl`, as the tests open the
 * page, that one, and WASM if it cannot run this model.
 */
export const backends: { readonly backends?: readonly BackendName[] } = name ? { backends: [name, 'wasm'] } : {};
