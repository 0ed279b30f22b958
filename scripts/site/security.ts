import { createHash } from 'node:crypto';

/** The style that VitePress inserts while it changes between light and dark, so that nothing fades. */
const NO_TRANSITION = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='";

/**
 * Returns a page's HTML with a Content-Security-Policy that allows nothing of another origin, and no script in the page
 * but VitePress' own, by their hashes. The colors of code are `style` attributes.
 */
export function withPolicy(html: string): string {
  const hashes = Array.from(
    html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([^]*?)<\/script>/g),
    ([, script]) => `'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  );
  const policy = [
    "default-src 'self'",
    `script-src 'self' ${hashes.join(' ')}`,
    `style-src 'self' ${NO_TRANSITION}`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
  ].join('; ');
  return html.replace(
    /(?<=<head>\s*<meta charset="utf-8">)/,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
}
