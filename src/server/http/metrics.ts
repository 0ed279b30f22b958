import type { ServedVersion } from '../served-version.js';
import { checkMethod, type RouteContext, type Incoming } from './route.js';
import { response } from './responses.js';
import type { HttpResponse } from './messages.js';

/**
 * Answers `/metrics[?name[]=NAME…]`: the metrics of every version in Prometheus' text format 0.0.4, each line with the
 * name and the version that it is registered under, and the counts of the server itself.
 */
export function metrics(incoming: Incoming, { registry, statuses }: RouteContext): HttpResponse {
  checkMethod(incoming, 'GET');
  const names = incoming.query.getAll('name[]');
  const families = [...merge(registry.all), ...statuses.families()];
  const wanted = families.filter(([name]) => names.length === 0 || names.includes(name));
  return response(
    wanted
      .flatMap(([, lines]) => lines)
      .map((line) => `${line}\n`)
      .join(''),
    'text/plain; version=0.0.4; charset=utf-8',
  );
}

/** Merges the metrics of all versions: a family's lines must follow one another, below one head. */
function merge(versions: readonly ServedVersion[]): ReadonlyMap<string, readonly string[]> {
  const families = new Map<string, string[]>();
  for (const served of versions) {
    let family: string[] = [];
    for (const line of served.options.client.metrics.prometheus().split('\n')) {
      const [, keyword, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name === undefined) {
        if (line !== '') family.push(labelled(line, served));
        continue;
      }
      const known = families.get(name);
      if (keyword === 'HELP') family = known ?? [];
      if (known !== undefined && known.some((other) => other.startsWith(`# ${keyword} `))) continue;
      families.set(name, family);
      family.push(line);
    }
  }
  return families;
}

const SAMPLE = /^([^{]+)\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\}(.*)$/;
const LABEL = /(\w+)="(?:[^"\\]|\\.)*"/g;

/**
 * Returns a sample with the name and the version that its model is registered under. Two versions would have the same
 * labels otherwise.
 */
function labelled(line: string, { options: { name, version } }: ServedVersion): string {
  const [, metric, labels = '', value] = SAMPLE.exec(line) ?? [];
  if (metric === undefined) return line;
  const [model, label] = labels.includes('model_name=')
    ? ['model_name', 'model_version']
    : ['ModelName', 'ModelVersion'];
  const others = [...labels.matchAll(LABEL)].flatMap(([pair, key]) => (key === model || key === label ? [] : [pair]));
  const own = [`${model}="${escaped(name)}"`, `${label}="${escaped(version)}"`];
  return `${metric}{${[...own, ...others].join(',')}}${value}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
