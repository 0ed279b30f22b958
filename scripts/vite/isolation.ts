import type { Plugin } from 'vite';

/**
 * Adds the headers of cross-origin isolation, which threads need. Every answer carries them, since a worker in an
 * isolated page must bring its own.
 */
export function isolation(): Plugin {
  type Server = {
    middlewares: {
      use(
        handler: (
          request: unknown,
          response: { setHeader(name: string, value: string): void },
          next: () => void,
        ) => void,
      ): unknown;
    };
  };
  const serve = ({ middlewares }: Server): void => {
    middlewares.use((_, response, next) => {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
      next();
    });
  };
  return { name: 'tabserve:isolation', configureServer: serve, configurePreviewServer: serve };
}
