import type { Manifest } from '../../contract/archive.js';
import type { MetricLabels } from '../../contract/metrics.js';
import type { Family } from './families.js';

/**
 * Writes metrics in Prometheus' text format 0.0.4, with histograms as summaries:
 * https://prometheus.io/docs/instrumenting/exposition_formats/. Each line has TorchServe's labels of the model, but no
 * host name: a browser tab has none.
 */
export function toPrometheus(families: Iterable<Family>, model: Manifest['model'] | undefined): string {
  const lines: string[] = [];
  for (const family of families) {
    const { name, definition } = family;
    const own = modelLabels(name, model);
    const line = (suffix: string, labels: MetricLabels, value: number): void =>
      void lines.push(`${name}${suffix}${braced({ ...own, ...labels })} ${value}`);
    lines.push(`# HELP ${name} ${definition.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`);
    lines.push(`# TYPE ${name} ${definition.type === 'histogram' ? 'summary' : definition.type}`);
    if (definition.type !== 'histogram') for (const { labels, value } of family.values()) line('', labels, value);
    else {
      for (const { labels, count, sum, p50, p95, p99 } of family.histograms()) {
        for (const [quantile, value] of [
          ['0.5', p50],
          ['0.95', p95],
          ['0.99', p99],
        ] as const)
          line('', { ...labels, quantile }, value);
        line('_sum', labels, sum);
        line('_count', labels, count);
      }
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns the model's labels. TorchServe's frontend writes them in snake case, and its backend in Pascal case. */
function modelLabels(
  name: string,
  { modelName = '', modelVersion = 'default' }: Partial<Manifest['model']> = {},
): MetricLabels {
  return /^ts_(inference|queue)_/.test(name)
    ? { model_name: modelName, model_version: modelVersion }
    : { ModelName: modelName, Level: 'Model' };
}

function braced(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return `{${pairs.join(',')}}`;
}
