import { useRef, useState, type FormEvent } from 'react';
import { useModel } from 'tabserve/react';
import { answer, options, type Message } from './model.ts';
import './chat.css';

export function App() {
  const model = useModel(options);
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [text, setText] = useState('');
  const [failure, setFailure] = useState<Error>();
  const [isWriting, setIsWriting] = useState(false);
  const writing = useRef<AbortController>(null);

  async function send(event: FormEvent) {
    event.preventDefault();
    if (isWriting) return writing.current?.abort();
    if (!model.client) return;
    const stop = (writing.current = new AbortController());
    const asked: readonly Message[] = [...messages, { role: 'user', content: text }];
    let content = '';
    const show = () => setMessages([...asked, { role: 'assistant', content }]);
    show();
    setText('');
    setFailure(undefined);
    setIsWriting(true);
    try {
      for await (const part of answer(model.client, asked, stop.signal)) {
        content += part;
        show();
      }
    } catch (error) {
      if (!stop.signal.aborted) setFailure(error as Error);
    } finally {
      setIsWriting(false);
    }
  }

  const error = failure ?? model.error;
  return (
    <main>
      <header>
        <h1>Chat</h1>
        <p className="lead">Begin a tale, and the model on this device goes on with it.</p>
      </header>
      <section className="card">
        <ol className="messages" aria-live="polite">
          {messages.map(({ role, content }, index) => (
            <li key={index} className={`message ${role}`}>
              {content}
            </li>
          ))}
        </ol>
        <form className="row" onSubmit={send}>
          <input
            className="grow"
            type="text"
            aria-label="Message"
            placeholder="Once upon a time …"
            autoComplete="off"
            required={!isWriting}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <button disabled={!model.client}>{isWriting ? 'Stop' : 'Send'}</button>
          <button className="plain" type="button" disabled={isWriting} onClick={() => setMessages([])}>
            New chat
          </button>
        </form>
      </section>
      {model.status === 'loading' && <progress value={model.progress?.overall.fraction ?? 0} />}
      <p className={error ? 'status error' : 'status'} role="status">
        {error?.message ?? (model.backend ? `Ready, on ${model.backend.name}.` : 'Loading the model …')}
      </p>
    </main>
  );
}
