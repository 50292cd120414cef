import type { JsonObject } from '../../kube/object.ts';
import { record, records, strings, text, textAt } from '../../kube/untyped.ts';
import { decodeYaml, encodeYaml } from '../../kube/yaml.ts';
import { UsageError } from '../errors.ts';

/** What a login adds to a kubeconfig. */
export interface Entries {
  context: string;
  cluster: { name: string; fields: JsonObject };
  user: { name: string; fields: JsonObject };
}

/**
 * With these entries, and the context the current one. All else stays; what somebody else's entries of the same names say
 * is never replaced: UsageError says what to do. Throws YamlError.
 */
export function withEntries(before: string, entries: Entries): string {
  const config = before.trim() === '' ? {} : record(decodeYaml(before).value);
  const { context, cluster, user } = entries;
  const kept = fieldsOf(config, 'context', context);
  const clash = clashOf(config, kept, entries);
  if (clash !== undefined) throw new UsageError(`${clash}: choose another name with --context`);
  return encodeYaml({
    apiVersion: 'v1',
    kind: 'Config',
    ...config,
    clusters: put(config, 'cluster', cluster.name, cluster.fields),
    users: put(config, 'user', user.name, user.fields),
    contexts: put(config, 'context', context, { ...kept, cluster: cluster.name, user: user.name }),
    'current-context': context,
  });
}

/** What a login wrote behind `atoll login token` for the user of a context; default the current one. Throws UsageError, YamlError. */
export function loginArguments(text: string, named: string | undefined): string[] {
  const config = record(text.trim() === '' ? {} : decodeYaml(text).value);
  const context = named ?? textAt(config, 'current-context') ?? '';
  if (context === '') throw new UsageError('no context is the current one: name one by --context');
  const user = textAt(fieldsOf(config, 'context', context), 'user');
  if (user === undefined) throw new UsageError(`there is no context ${JSON.stringify(context)} with a user`);
  const args = strings(record(record(fieldsOf(config, 'user', user))['exec'])['args']);
  const at = args.findIndex((word, index) => word === 'login' && args[index + 1] === 'token');
  if (at < 0)
    throw new UsageError(
      `the user ${JSON.stringify(user)} of the context ${JSON.stringify(context)} does not come by atoll login`,
    );
  return args.slice(at + 2);
}

function clashOf(config: JsonObject, kept: JsonObject | undefined, entries: Entries): string | undefined {
  const { context, cluster, user } = entries;
  const theirs = fieldsOf(config, 'cluster', cluster.name);
  const server = textAt(theirs, 'server');
  if (theirs && server !== cluster.fields['server'])
    return `the kubeconfig has a cluster ${cluster.name} already, which is ${server ?? 'nowhere'}`;
  if (kept && (textAt(kept, 'cluster') !== cluster.name || textAt(kept, 'user') !== user.name))
    return `the kubeconfig has a context ${context} already, of ${textAt(kept, 'user') || 'nobody'}`;
  const former = fieldsOf(config, 'user', user.name);
  if (former && former['exec'] === undefined)
    return `the kubeconfig has a user ${user.name} already, who does not come by atoll login`;
  return undefined;
}

type Kind = 'cluster' | 'user' | 'context';

function fieldsOf(config: JsonObject, kind: Kind, name: string): JsonObject | undefined {
  const entry = records(config[`${kind}s`]).find((one) => text(one['name']) === name);
  return entry && record(entry[kind]);
}

function put(config: JsonObject, kind: Kind, name: string, fields: JsonObject): JsonObject[] {
  const list = records(config[`${kind}s`]);
  const entry = { name, [kind]: fields };
  return list.some((one) => one['name'] === name)
    ? list.map((one) => (one['name'] === name ? entry : one))
    : [...list, entry];
}
