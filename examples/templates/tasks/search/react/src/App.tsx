import { useEffect, useMemo, useState } from 'react';
import { useModel } from 'tabserve/react';
import { indexOf, type Found } from './index-of-texts.ts';
import { options } from './model.ts';
import { QUESTIONS, TEXTS } from './texts.ts';

export function App() {
  const model = useModel(options);
  const [question, setQuestion] = useState('');
  const [found, setFound] = useState<readonly Found[]>([]);
  const [failure, setFailure] = useState<Error>();
  const { client } = model;
  const index = useMemo(() => client && indexOf(TEXTS, client), [client]);

  // The answer to a newer question takes the place of an older one.
  useEffect(() => {
    let isLatest = true;
    async function ask() {
      try {
        const search = await index;
        const answer = search && question.trim() !== '' && isLatest ? await search(question) : [];
        if (isLatest) setFound(answer);
      } catch (error) {
        if (isLatest) setFailure(error as Error);
      }
    }
    ask();
    return () => {
      isLatest = false;
    };
  }, [index, question]);

  const error = failure ?? model.error;
  return (
    <main>
      <header>
        <h1>Semantic search</h1>
        <p className="lead">Ask in your own words. Nothing is sent; the model is 34 MB once.</p>
      </header>
      <section className="card">
        <input
          type="search"
          aria-label="Question"
          placeholder="How do I get my money back?"
          autoComplete="off"
          value={question}
          onChange={({ target }) => setQuestion(target.value)}
        />
        <div className="row questions">
          {QUESTIONS.map((one) => (
            <button key={one} className="plain" onClick={() => setQuestion(one)}>
              {one}
            </button>
          ))}
        </div>
        <ol>
          {found.map(({ text, score }) => (
            <li key={text} className="score">
              <span>{text}</span>
              <span>{score.toFixed(2)}</span>
              <meter value={score} />
            </li>
          ))}
        </ol>
      </section>
      {model.status === 'loading' && <progress value={model.progress?.overall.fraction ?? 0} />}
      <p className={error ? 'status error' : 'status'} role="status">
        {error?.message ?? (model.backend ? `Ready, on ${model.backend.name}.` : 'Loading the model …')}
      </p>
    </main>
  );
}
