/** What no request is cheaper than: a message of the same size, and an answer. */
const scope = globalThis as unknown as Worker;
const ANSWER = Array.from({ length: 5 }, (_, index) => ({ label: String(index), score: 0 }));
scope.onmessage = () => scope.postMessage(ANSWER);
