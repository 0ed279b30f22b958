import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import { ModelServer } from '../../../../src/server/model-server.ts';
import { EchoWorker } from '../../support/fake-worker.ts';

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const dashboard = JSON.parse(
  readFileSync(new URL('../../../../docs/grafana.json', import.meta.url), 'utf8'),
) as Dashboard;

/** A worker that says how long each stage took. */
class TimedWorker extends EchoWorker {
  protected override async answer(method: (...args: never[]) => unknown, args: never[]): Promise<unknown> {
    const answer = (await super.answer(method, args)) as { readonly value?: object };
    const { value } = answer ?? {};
    if (!value || !('timings' in value)) return answer;
    return { ok: true, value: { ...value, timings: { preprocess: 1, inference: 2, postprocess: 3 } } };
  }
}

/** Returns the names of the metrics of a query, and the labels that each is asked for. */
function metricsOf(query: string): readonly (readonly [name: string, labels: readonly string[]])[] {
  const found = query.matchAll(/\b([A-Za-z_]\w*)(?:\{([^}]*)\}|\[)/g);
  return [...found].map(([, name, labels = '']) => [
    name!,
    [...labels.matchAll(/(\w+)=~?"/g)].map(([, label]) => label!),
  ]);
}

test('the dashboard for Grafana asks for metrics that the server exports, by labels that they have', async () => {
  const client = connect(() => new TimedWorker() as unknown as Worker, {
    model: 'http://127.0.0.1/model.onnx',
    verdicts: { get: async () => undefined, set: async () => {}, clear: async () => {} },
  });
  await client.initialize();
  await client.handle(['a'] as never);
  await client.predict('b' as never);
  const server = new ModelServer();
  await server.register(client as never, { name: 'echo' });
  const lines = (await (await server.fetch(new Request('http://server/metrics'))).text()).split('\n');
  const has = (name: string, labels: readonly string[]): boolean =>
    lines.some((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(`${label}="`)));

  const queries = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));
  for (const [title, query] of queries) {
    const asked = metricsOf(query);
    expect(asked.length, `${title}: ${query}`).toBeGreaterThan(0);
    for (const [name, labels] of asked) expect(has(name, labels), `${title}: ${name} by ${labels.join()}`).toBe(true);
    // What a sum or the largest keeps apart must be a label, too.
    for (const [, kept] of query.matchAll(/by \(([^)]*)\)/g))
      for (const label of kept!.split(', '))
        expect(
          asked.every(([name]) => has(name, [label])),
          `${title}: by ${label}`,
        ).toBe(true);
  }
  expect(queries.length).toBeGreaterThan(10);
  const [, name, label] = /^label_values\((\w+), (\w+)\)$/.exec(
    dashboard.templating.list.find((one) => one.name === 'model')!.definition!,
  )!;
  expect(has(name!, [label!])).toBe(true);
  await client.dispose();
});
