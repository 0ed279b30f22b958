/** No contender: the part of a photo's way that no page can leave out, in a worker. */
export function openBrowserDecode(): (file: File) => Promise<void> {
  const worker = new Worker(new URL('./browser-decode.worker.ts', import.meta.url), { type: 'module' });
  return (file) =>
    new Promise((resolve, reject) => {
      worker.onmessage = () => resolve();
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(file);
    });
}
