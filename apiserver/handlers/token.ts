import { randomUUID } from 'node:crypto';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { updateManagers } from '../../kube/patch/managed.ts';
import { schemaOf } from '../../kube/schema/builtin.ts';
import { badRequest, conflict, invalid, isStatusError, StatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { isRecord, textAt } from '../../kube/untyped.ts';
import { defaultIssuer } from '../authn/issuer.ts';
import type { TokenFor } from '../authn/service-account.ts';
import type { ResourceExchange } from '../core.ts';
import { formOf, respondAnswer } from '../encode/respond.ts';
import { decodeStored } from '../registry/codec.ts';
import { postedObject } from './writes/posted.ts';

const group = 'authentication.k8s.io';
const kind = 'TokenRequest';
const apiVersion = `${group}/v1`;

interface Spec {
  audiences?: string[] | null;
  expirationSeconds?: number | null;
  boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string } | null;
}

/** POST serviceaccounts/token. https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/ */
export async function handleToken(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored } = exchange;
  if (core.tokens === undefined) {
    throw new StatusError(501, 'NotImplemented', 'this server has no key to sign tokens with');
  }
  const form = formOf(exchange);
  const { object, query, admission } = await postedObject(exchange, { group, version: 'v1', kind });
  checkPlace(object, info);
  const account = decodeStored(await core.registry.read(stored, info));
  const { uid } = object.metadata;
  if (uid && uid !== account.metadata.uid) {
    const why = `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid})`;
    throw conflict({ group, resource: kind }, info.name, why);
  }
  const now = new Date();
  const given = (object.spec ?? {}) as Spec;
  const audiences = given.audiences?.length ? given.audiences : [defaultIssuer];
  const expirationSeconds = given.expirationSeconds ?? 3600;
  checkExpiration(expirationSeconds);
  const { name = '', namespace = '' } = account.metadata;
  const { managedFields } = withManager({ ...object, spec: { ...given, expirationSeconds } }, query.manager);
  const request = {
    kind,
    apiVersion,
    metadata: {
      ...object.metadata,
      name,
      namespace,
      uid: account.metadata.uid ?? '',
      creationTimestamp: timestamp(now),
      ...(managedFields && { managedFields }),
    },
    spec: { audiences, expirationSeconds, boundObjectRef: given.boundObjectRef ?? null },
  };
  await admission.validate(request, undefined);
  const bound = await boundObject(exchange, given, account);
  const id = randomUUID();
  exchange.audit?.issued(id);
  const token = await core.tokens.issue({
    id,
    cluster: info.cluster,
    account,
    audiences,
    expirationSeconds,
    now,
    ...(bound && { bound }),
  });
  const expirationTimestamp = timestamp(new Date(now.getTime() + expirationSeconds * 1000));
  // A dry run gives one, too: nothing of it is kept.
  return respondAnswer(exchange, form, { ...request, status: { token, expirationTimestamp } });
}

/** What was asked is the requester's, even of what nobody stores. */
function withManager(object: KubeObject, manager: string): KubeObject['metadata'] {
  const schema = schemaOf({ group, version: 'v1', kind }) ?? { type: 'any' };
  const by = { schema, manager, apiVersion, subresource: 'token', time: timestamp(new Date()) };
  return updateManagers(undefined, { ...object, kind, apiVersion }, by).metadata;
}

function checkPlace(object: KubeObject, info: ResourceExchange['info']): void {
  const { name } = object.metadata;
  if (!name || name === info.name) return;
  throw invalid(group, kind, info.name, [
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(name)}: must match the service account name if specified`,
      field: 'metadata.name',
    },
  ]);
}

function checkExpiration(seconds: number): void {
  const why =
    seconds < 600
      ? 'may not specify a duration less than 10 minutes'
      : seconds > 2 ** 32
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  if (why === undefined) return;
  throw invalid(group, kind, '', [
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${seconds}: ${why}`,
      field: 'spec.expirationSeconds',
    },
  ]);
}

const boundResources = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const;

async function boundObject(
  exchange: ResourceExchange,
  { boundObjectRef: ref }: Spec,
  account: KubeObject,
): Promise<TokenFor['bound']> {
  if (!isRecord(ref)) return undefined;
  const { core, info } = exchange;
  const boundKind = ref.kind ?? '';
  // Of the core group, in whatever version.
  if ((ref.apiVersion ?? '').includes('/') || !Object.hasOwn(boundResources, boundKind)) {
    const of = (ref.apiVersion ?? '').includes('/') ? ref.apiVersion : `/${ref.apiVersion ?? ''}`;
    throw badRequest(`cannot bind token to object of type ${of}, Kind=${boundKind}`);
  }
  if (!ref.name) throw badRequest('Name parameter required.');
  const known = boundKind as keyof typeof boundResources;
  const at = { cluster: info.cluster, group: '', resource: boundResources[known], name: ref.name ?? '' };
  const object = await core.registry.get({ ...at, ...(known !== 'Node' && { namespace: info.namespace }) });
  const { serviceAccountName } = (object.spec ?? {}) as { serviceAccountName?: string };
  if (known === 'Pod' && serviceAccountName !== account.metadata.name) {
    const name = JSON.stringify(account.metadata.name);
    throw badRequest(
      `cannot bind token for serviceaccount ${name} to pod running with different serviceaccount name.`,
    );
  }
  if (ref.uid && ref.uid !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: known }, ref.name ?? '', why);
  }
  const node = known === 'Pod' ? await nodeOf(exchange, object) : undefined;
  return { kind: known, object, ...(node && { node }) };
}

/** On which node a pod is, were there no object of it. */
async function nodeOf(
  { core, info }: ResourceExchange,
  { spec }: KubeObject,
): Promise<KubeObject | undefined> {
  const name = textAt(spec, 'nodeName') ?? '';
  if (name === '') return undefined;
  const found = core.registry.get({ cluster: info.cluster, group: '', resource: 'nodes', name });
  return await found.catch((error: unknown) => {
    if (!isStatusError(error, 'NotFound')) throw error;
    return { kind: 'Node', apiVersion: 'v1', metadata: { name } };
  });
}
