import type { Plugin } from 'vite';

/**
 * Makes the addresses of the Open Graph tags absolute, as those who show a link's picture need them:
 * `GALLERY_URL=https://example.org/ npm run gallery`. Without it they stay relative to the page.
 */
export function sharing(): Plugin {
  const base = process.env['GALLERY_URL'];
  return {
    name: 'tabserve:sharing',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        base
          ? html.replace(
              /(<meta (?:property="og:(?:image|url)"|name="twitter:image") content=")([^"]*)/g,
              (_, start: string, path: string) => `${start}${new URL(path, base).href}`,
            )
          : html,
    },
  };
}
