import { readFileSync } from 'node:fs';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import { decodeYaml } from '../../kube/yaml.ts';
import type { Names } from './case.ts';

/** A built-in resource and a valid object of it. */
export interface Fixture {
  info: ResourceInfo;
  /** A fresh copy, with the names of a case filled in. */
  object(names: Names, suffix?: string): KubeObject & JsonObject;
  /** Of the collection, in the case's namespace. */
  path(names: Names): string;
}

export const fixtures: readonly Fixture[] = fixturesOf('objects.yaml');

/** Valid objects with much in them, several of one kind: to be broken. */
export const richFixtures: readonly Fixture[] = fixturesOf('validation.yaml');

function fixturesOf(file: string): Fixture[] {
  const text = readFileSync(new URL(`./${file}`, import.meta.url), 'utf8');
  return text.split(/^---$/m).map(toFixture);
}

function toFixture(document: string): Fixture {
  const sample = decodeYaml(document).value as unknown as KubeObject;
  const { group, version } = parseApiVersion(sample.apiVersion);
  const info = builtinResources.find(
    (r) => r.group === group && r.version === version && r.kind === sample.kind,
  );
  if (!info) throw new Error(`no resource for ${sample.apiVersion} ${sample.kind}`);
  return {
    info,
    object: (names, suffix = '') => {
      const name = `${names.name}${suffix}`;
      const filled = document
        .replaceAll('KNAME', `K${name}`)
        .replaceAll('NAMESPACE', names.ns)
        .replaceAll('NAME', name)
        .replaceAll('CSR', certificateRequest);
      const object = decodeYaml(filled).value as unknown as KubeObject & JsonObject;
      if (object.metadata.name === 'x') object.metadata.name = name;
      return object;
    },
    path: (names) => collectionPath(info, names.ns),
  };
}

export function fixtureOf(resource: string, group = ''): Fixture {
  const found = fixtures.find(({ info }) => info.resource === resource && info.group === group);
  if (!found) throw new Error(`no object of ${resource}`);
  return found;
}

export function collectionPath(info: ResourceInfo, ns: string): string {
  const root = info.group === '' ? `/api/${info.version}` : `/apis/${info.group}/${info.version}`;
  return info.namespaced ? `${root}/namespaces/${ns}/${info.resource}` : `${root}/${info.resource}`;
}

/** A PKCS #10 request for CN=fidelity, in PEM, in base64. */
const certificateRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITk1IVUNBUUF3RXpFUk1BOEdBMVVFQXd3SVptbGtaV3hwZEhrd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqTwpQUU1CQndOQ0FBUzBuakZxRnpNY2xRdDBoTllHNjNabWQ0RGlxRHVnSnR5MjlkeGNyU3RmQjZyQmlLWUtRNVV3CjQ3MVJUUmFPd085ZmhoTldCUGJ4MnBJcmxraUZLTHkrb0FBd0NnWUlLb1pJemowRUF3SURTQUF3UlFJZ2JGR04KZnNsQkkxRTlUZjdlRzA4ZHhQd3AxTU1ocmhpK255K0FZY1YxWG9nQ0lRQzRmd2pPa2doa2wrTjV0UUFCUFgrVwozU0RuRHhjQXV2SzFPbEduZFZ4VFFRPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';
