import { jsonType } from '../../../kube/go-words.ts';
import { formatApiVersion } from '../../../kube/gvk.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequest, StatusError } from '../../../kube/status.ts';
import { isRecord } from '../../../kube/untyped.ts';
import { decodeYaml } from '../../../kube/yaml.ts';
import { yamlText } from '../../../kube/yaml-text.ts';
import type { ResourceExchange } from '../../core.ts';

export interface Applied {
  object: KubeObject;
  /** `line 3: key "a" already set in map` */
  duplicates: readonly string[];
}

/** Throws StatusError 400 for what is no object of the kind that is served. */
export function decodeApplied({ request, served }: ResourceExchange): Applied {
  let decoded: { value: Json; duplicates: string[] };
  try {
    decoded = decodeYaml(yamlText(request.body ?? new Uint8Array()));
  } catch (error) {
    throw badRequest(
      `error decoding YAML: error converting YAML to JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  // Nothing is an object that says nothing.
  const value = decoded.value ?? {};
  if (!isRecord(value)) {
    const why = `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  const expected = formatApiVersion(served.info);
  if (value['apiVersion'] !== expected || value['kind'] !== served.info.kind) {
    const [group = '', version = ''] = splitVersion(String(value['apiVersion'] ?? ''));
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${String(value['kind'] ?? '')}`);
  }
  const metadata = value['metadata'] ?? {};
  return { object: { ...value, metadata } as unknown as KubeObject, duplicates: decoded.duplicates };
}

/** What was applied is no object of its kind. */
export function unconvertible({ apiVersion, kind, metadata }: KubeObject, why: string): StatusError {
  const type = `${splitVersion(apiVersion ?? '').join('/')}, Kind=${kind}`;
  const what = `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${type}`;
  return new StatusError(
    500,
    '',
    `failed to convert new object (${what}) to proper version: unable to convert unstructured object to ${type}: ${why}`,
  );
}

function splitVersion(apiVersion: string): [string, string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}
