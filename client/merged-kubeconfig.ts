import { dirname, resolve, sep } from 'node:path';
import type { JsonObject } from '../kube/object.ts';
import { isRecord, record, records, text as textOf } from '../kube/untyped.ts';
import { decodeYaml, encodeYaml } from '../kube/yaml.ts';

export interface KubeconfigFile {
  path: string;
  text: string;
}

const lists = ['clusters', 'users', 'contexts'] as const;

/**
 * As kubectl merges the files of KUBECONFIG: of one name the first entry counts, whole; the current context is of the first
 * file that says one; file names are relative to the file that they stand in. Throws what decodeYaml throws.
 */
export function mergedKubeconfig(files: readonly KubeconfigFile[]): string {
  const configs = files.map(({ path, text }) => absolute(decoded(text), dirname(resolve(path))));
  const merged = lists.map((list) => {
    const byName = new Map<unknown, JsonObject>();
    for (const entry of configs.flatMap((config) => records(config[list]))) {
      if (!byName.has(entry['name'])) byName.set(entry['name'], entry);
    }
    return [list, [...byName.values()]] as const;
  });
  const current = configs.map((config) => textOf(config['current-context'])).find(Boolean);
  return encodeYaml({
    apiVersion: 'v1',
    kind: 'Config',
    ...Object.fromEntries(merged),
    ...(current !== undefined && { 'current-context': current }),
  });
}

/** A file may be empty. */
function decoded(text: string): JsonObject {
  return text.trim() === '' ? {} : record(decodeYaml(text).value);
}

const fileFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

function absolute(config: JsonObject, directory: string): JsonObject {
  for (const list of lists) {
    for (const entry of records(config[list])) {
      const fields = record(entry[list.slice(0, -1)]);
      for (const name of fileFields) place(fields, name, directory);
      // One without a slash is looked for in PATH.
      const { exec } = fields;
      if (isRecord(exec) && textOf(exec['command']).includes(sep)) place(exec, 'command', directory);
    }
  }
  return config;
}

function place(fields: JsonObject, name: string, directory: string): void {
  const path = textOf(fields[name]);
  if (path !== '') fields[name] = resolve(directory, path);
}

export interface Named {
  name: string;
  fields: JsonObject;
}

/** What the current context of a kubeconfig names. Undefined: there is none of that name. */
export function currentOf(text: string): {
  context: Named | undefined;
  cluster: Named | undefined;
  user: Named | undefined;
} {
  const config = decoded(text);
  const find = (list: (typeof lists)[number], name: unknown): Named | undefined => {
    const entry = records(config[list]).find((one) => one['name'] === name && textOf(name) !== '');
    return entry && { name: textOf(name), fields: record(entry[list.slice(0, -1)]) };
  };
  const context = find('contexts', config['current-context']);
  return {
    context,
    cluster: find('clusters', context?.fields['cluster']),
    user: find('users', context?.fields['user']),
  };
}
