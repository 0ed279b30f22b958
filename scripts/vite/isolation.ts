import type { Plugin } from 'vite';

/**
 * Cross-origin isolation, which threads need. A page opened with `?isolated=no` gets none; every other answer carries the headers,
 * since a worker in an isolated page must bring its own.
 */
export function isolation(): Plugin {
  type Server = {
    middlewares: {
      use(
        handler: (
          request: { url?: string | undefined },
          response: { setHeader(name: string, value: string): void },
          next: () => void,
        ) => void,
      ): unknown;
    };
  };
  const serve = ({ middlewares }: Server): void => {
    middlewares.use((request, response, next) => {
      if (!request.url?.includes('isolated=no')) response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      if (!request.url?.includes('isolated=no')) response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
      next();
    });
  };
  return { name: 'tabserve:isolation', configureServer: serve, configurePreviewServer: serve };
}
