/** What `vite preview` sends with each file, and your server should send, too. */
export const headers = {
  'Content-Security-Policy': [
    "default-src 'self'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    // For models that are loaded by the address of their repository.
    "connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co",
  ].join('; '),
  // Both allow several threads.
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
