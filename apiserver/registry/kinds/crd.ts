import { deepEqual } from '../../../kube/deep.ts';
import { compareVersions } from '../../../kube/discovery/groups.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { DefinitionNames } from '../../../kube/validation/crd/accepted-names.ts';
import { applySchemaDefaults, dropNulls } from '../../../kube/validation/custom/apply.ts';
import { readEmbedded } from '../../../kube/validation/custom/embedded.ts';
import { validateCreate, validateUpdate } from '../../../kube/validation/index.ts';
import type { ServedResource } from '../../served.ts';
import { clientConfigOf } from '../../webhook/reference.ts';
import type { Catalog } from '../catalog.ts';
import { schemaFromOpenApi } from './crd-schema.ts';
import { customCauses } from './custom-causes.ts';
import { isEnding } from './ending.ts';
import { conditionsOf } from './own-status.ts';

/** CustomResourceDefinitions: what they serve. https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/ */
export const definitions = {
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  namespaced: false,
};

interface Version {
  name: string;
  served: boolean;
  storage: boolean;
  schema?: { openAPIV3Schema?: unknown };
  subresources?: {
    status?: object;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: {
    name: string;
    type: string;
    format?: string;
    description?: string;
    priority?: number;
    jsonPath: string;
  }[];
  selectableFields?: { jsonPath: string }[];
  deprecated?: boolean;
  deprecationWarning?: string;
}

interface DefinitionSpec {
  group: string;
  scope: 'Namespaced' | 'Cluster';
  names: DefinitionNames;
  versions: Version[];
  conversion?: {
    strategy?: string;
    webhook?: { clientConfig?: unknown; conversionReviewVersions?: string[] };
  };
}

/** Names have their defaults, and status says in which versions objects may be stored. */
export function prepareDefinition(
  object: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  const spec = object.spec as DefinitionSpec | undefined;
  if (subresource !== '' || !spec?.names?.plural || !Array.isArray(spec.versions)) return;
  const kind = spec.names.kind ?? '';
  spec.names.singular ||= kind.toLowerCase();
  if (kind !== '') spec.names.listKind ||= `${kind}List`;
  const storage = spec.versions.find((version) => version.storage)?.name;
  const status = (old?.status ?? {}) as { storedVersions?: string[] };
  object.status = {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    ...status,
    storedVersions: [
      ...new Set([...(status.storedVersions ?? []), ...(storage === undefined ? [] : [storage])]),
    ],
  };
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

export function serveDefinition(
  catalog: Catalog,
  cluster: string,
  name: string,
  object: KubeObject | undefined,
  revision: number,
): void {
  const spec = object?.spec as DefinitionSpec | undefined;
  const before = catalog.definedBy(cluster, name);
  const going = object && isEnding(object) ? { isEnding: true } : {};
  const definitionUid = object?.metadata.uid;
  const all =
    spec === undefined || isRefused(object)
      ? []
      : (spec.versions ?? []).map((version) => {
          const now = servedVersion(cluster, accepted(object, spec), version);
          const same = before.find((one) => one.info.version === version.name);
          const kept = same && deepEqual(same.openapi, now.openapi) ? same.definition : undefined;
          return {
            ...now,
            ...going,
            definitionUid,
            definition: kept ?? { since: revision, forms: new WeakMap() },
          };
        });
  const isByWebhook = spec?.conversion?.strategy === 'Webhook';
  if (spec && (isByWebhook || areUnlike(all))) converted(all, { name, revision, spec }, isByWebhook);
  const isServed = new Set(spec?.versions?.flatMap((version) => (version.served ? version.name : [])));
  // What nobody reads any more goes with its definition all the same, by the version that it is stored in.
  if (going.isEnding && isServed.size === 0) for (const { info } of all) isServed.add(info.storageVersion);
  const served = all.filter(({ info }) => isServed.has(info.version));
  catalog.define(cluster, name, served, revision);
}

/** Whether an object in one version may have what another does not know. */
function areUnlike([first, ...others]: readonly ServedResource[]): boolean {
  return others.some(({ openapi }) => !deepEqual(openapi, first?.openapi));
}

function converted(
  all: ServedResource[],
  { name, revision, spec }: { name: string; revision: number; spec: DefinitionSpec },
  isByWebhook: boolean,
): void {
  const { clientConfig, conversionReviewVersions = [] } = spec.conversion?.webhook ?? {};
  const conversion = {
    name,
    revision,
    storageVersion: spec.versions.find((version) => version.storage)?.name ?? '',
    reviewVersions: conversionReviewVersions,
    ...(isByWebhook && { config: clientConfigOf(clientConfig) }),
    versions: new Map(all.map((one) => [one.info.version, one])),
  };
  for (const one of all) one.conversion = conversion;
}

/** Others have its names, and had them first. */
function isRefused(object: KubeObject | undefined): boolean {
  const has = (type: string, status: string) =>
    conditionsOf(object).some((one) => one.type === type && one.status === status);
  return has('NamesAccepted', 'False') && !has('Established', 'True');
}

/** Under the names that were accepted; until they are, under those asked for. */
function accepted(object: KubeObject | undefined, spec: DefinitionSpec): DefinitionSpec {
  const { acceptedNames: names } = (object?.status ?? {}) as { acceptedNames?: DefinitionNames };
  // The plural is what its objects are stored under: the definition's own name says it, whatever its status does.
  return names?.plural && names.kind ? { ...spec, names: { ...names, plural: spec.names.plural } } : spec;
}

function servedVersion(cluster: string, spec: DefinitionSpec, version: Version): ServedResource {
  const { group, names } = spec;
  const gv = { group, version: version.name };
  const access = ['get', 'patch', 'update'];
  const { status, scale } = version.subresources ?? {};
  const openapi = version.schema?.openAPIV3Schema;
  const namespaced = spec.scope === 'Namespaced';
  const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  return {
    info: {
      ...gv,
      kind: names.kind,
      resource: names.plural,
      singular: names.singular ?? names.kind.toLowerCase(),
      namespaced,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      verbs,
      subresources: [
        ...(scale ? [{ name: 'scale', ...scaleKind, verbs: access }] : []),
        ...(status ? [{ name: 'status', ...gv, kind: names.kind, verbs: access }] : []),
      ],
      storageVersion: spec.versions.find((v) => v.storage)?.name ?? version.name,
    },
    schema: schemaFromOpenApi(version.schema?.openAPIV3Schema),
    openapi,
    ...(names.listKind !== undefined && { listKind: names.listKind }),
    deprecation: deprecationOf(spec, version),
    coerce: ({ metadata, ...rest }) => {
      dropNulls(rest, openapi);
      const error = readEmbedded(rest, openapi);
      return { object: { ...rest, metadata }, ...(error !== undefined && { error }) };
    },
    defaults: (object) => {
      applySchemaDefaults(object, openapi);
      return object;
    },
    validate: (object, old, subresource, warn) => {
      const info = { group, version: version.name, kind: names.kind, resource: names.plural, namespaced };
      const meta = old
        ? validateUpdate(object, old, info, subresource === '' ? undefined : subresource)
        : validateCreate(object, info);
      return [...meta, ...customCauses(object, old, { openapi, scale, subresource }, warn)];
    },
    subresources: { ...(status && { status: true }), ...(scale && { scale }) },
    ...(version.additionalPrinterColumns && {
      columns: version.additionalPrinterColumns.map((c) => ({
        format: '',
        description: '',
        priority: 0,
        ...c,
      })),
    }),
    selectableFields: (version.selectableFields ?? []).map((field) => field.jsonPath),
    cluster,
    custom: true,
    ...(spec.versions.length > 1 && { manyVersions: true }),
  };
}

/** In its own words, or which newer version to use. */
function deprecationOf({ group, names, versions }: DefinitionSpec, version: Version): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const newer = versions
    .filter(
      ({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version.name) < 0,
    )
    .map(({ name }) => name)
    .sort(compareVersions);
  const use = newer[0] === undefined ? '' : `; use ${group}/${newer[0]} ${names.kind}`;
  return `${group}/${version.name} ${names.kind} is deprecated${use}`;
}
