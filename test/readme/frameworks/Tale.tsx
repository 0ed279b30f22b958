import { useModel, useStream } from 'tabserve/react';

export function Tale() {
  const writer = useModel({ model: '/models/writer/', handler: 'text_generator' });
  const tale = useStream(writer);
  const isRunning = tale.status === 'running';

  return (
    <section>
      <button
        onClick={() => (isRunning ? tale.stop() : tale.start('Once upon a time', { params: { maxNewTokens: 20 } }))}
      >
        {isRunning ? 'Stop' : 'Write'}
      </button>
      <p>{tale.text}</p>
      {tale.error && <p role="alert">{tale.error.message}</p>}
    </section>
  );
}
