const { trustedTypes } = globalThis as {
  trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };
};
const policy = trustedTypes?.createPolicy('app', {
  createScriptURL(url: string) {
    if (url === '/sw.js') return url;
    throw new TypeError(`${url} is no script of this app.`);
  },
});
await navigator.serviceWorker.register(policy?.createScriptURL('/sw.js') ?? '/sw.js', { type: 'module' });
