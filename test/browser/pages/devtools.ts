import { mountDevtools, TabServeDevtools } from 'tabserve/devtools';
import { load } from 'tabserve';

/** What `devtools.spec.ts` finds on the window. */
export const devtools = { load, mountDevtools, TabServeDevtools, violations: [] as string[] };

document.addEventListener('securitypolicyviolation', ({ violatedDirective, sample }) =>
  devtools.violations.push(`${violatedDirective} ${sample}`),
);

declare global {
  interface Window {
    devtools: typeof devtools;
  }
}

Object.assign(window, { devtools });
