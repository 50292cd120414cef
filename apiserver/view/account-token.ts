import { placedKind } from '../../cluster/kinds.ts';
import { apiVersion } from '../../cluster/names.ts';
import { accountOf } from '../../cluster/pod-access.ts';
import { podSpecOf } from '../../cluster/pod-spec.ts';
import type { AccountToken, ObjectRef, PhysicalCluster } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { othersFirst } from '../../kube/others-first.ts';
import { notFound, StatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { isRecord, textAt } from '../../kube/untyped.ts';
import { defaultIssuer } from '../authn/issuer.ts';
import type { Core } from '../core.ts';
import { keyOf, readObject } from '../registry/rewrite.ts';
import type { Fed } from './index.ts';
import { accountsStored, addressIn } from './places.ts';

/** Half of it is left when a syncer asks for another: so long may nobody be there to ask. */
const lifeSeconds = 24 * 3600;
/** A few milliseconds' work. */
const mostAtOnce = 20;
const rootCa = { group: '', resource: 'configmaps', name: 'kube-root-ca.crt' };

/**
 * A token of a ServiceAccount for its pods on one physical cluster, as a kubelet asks for one: of those accounts alone whose
 * pods something runs that the cluster has a share of, by what users wrote; what a cluster says of its pods proves nothing. With who vouches for the server that they are to show it to.
 */
export async function accountToken(
  { store, tokens }: Core,
  index: Fed,
  physical: PhysicalCluster,
  place: { logical: string; namespace: string; name: string },
): Promise<AccountToken> {
  const { inClusterConfig } = physical.spec ?? {};
  const { name } = place;
  const account = await readObject(store, addressIn(place, { ...accountsStored, name }));
  const isMeant = inClusterConfig && account && (await runsHere(store, index, physical, place));
  if (!isMeant || !account) throw notFound(accountsStored, name);
  if (!tokens) throw new StatusError(501, 'NotImplemented', 'this server has no key to sign tokens with');
  const authority = inClusterConfig.certificateAuthorityData
    ? Buffer.from(inClusterConfig.certificateAuthorityData, 'base64').toString()
    : textAt(await readObject(store, addressIn(place, rootCa)), 'data', 'ca.crt');
  if (!authority)
    throw new StatusError(503, 'ServiceUnavailable', `${place.namespace} has no ${rootCa.name} yet`, {
      retryAfterSeconds: 1,
    });
  const now = new Date();
  const token = await tokens.issue({
    cluster: place.logical,
    account,
    audiences: [defaultIssuer],
    expirationSeconds: lifeSeconds,
    now,
  });
  const expirationTimestamp = timestamp(new Date(now.getTime() + lifeSeconds * 1000));
  const metadata = { name, namespace: place.namespace, uid: account.metadata.uid ?? '' };
  return { kind: 'AccountToken', apiVersion, metadata, token, expirationTimestamp, authority };
}

async function runsHere(
  store: Core['store'],
  index: Fed,
  { metadata }: PhysicalCluster,
  place: { logical: string; namespace: string; name: string },
): Promise<boolean> {
  const isIts = (root: KubeObject, { rule }: ObjectRef) => {
    const spec = podSpecOf(root, rule);
    return isRecord(spec) && accountOf(spec) === place.name;
  };
  let asked = 0;
  for (const ref of index.owners(metadata.name ?? '', place)?.values() ?? []) {
    if (placedKind(ref)?.role !== 'workload') continue;
    if (++asked % mostAtOnce === 0) await othersFirst(place.logical);
    const address = addressIn(place, ref);
    const root = await readObject(store, address);
    if (root?.metadata.uid !== ref.uid) continue;
    if (isIts(root, ref)) return true;
    // Pods of its former template may run for as long as a rollout takes.
    const formers = await index.formers.of(keyOf(address), Number(root.metadata.resourceVersion));
    if (formers.some((former) => former.metadata.uid === ref.uid && isIts(former, ref))) return true;
  }
  return false;
}
