import { Client } from '../../client/client.ts';
import { startInformer } from '../../client/informer.ts';
import { transportFromKubeconfig, transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { volumeCopies } from '../../cluster/names.ts';
import type { VolumeCopy, VolumeCopyStatus } from '../../cluster/volume-copy.ts';
import { isStatusError } from '../../kube/status.ts';
import { at } from '../../kube/untyped.ts';
import { emptyClaim } from '../../sim/volumes/copier.ts';
import { until } from './kubectl.ts';
import type { Name, Pair } from './pair.ts';

/** What is on a claim's volume, as this copier and its tests see it. */
export const mark = 'copier.example/mark';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };

export interface Copier {
  /** What it does of a claim: end with this message, or wait for this; copies where neither is given. */
  faults: Map<string, string | Promise<void>>;
  /** Whose data is all there, since `faults` and this were cleared; before it has said so. */
  copied: Set<string>;
  stop(): void;
}

/** The copier `marks` of two real clusters; to Atoll it may what that kubeconfig's user may, in that namespace. */
export async function startMarksCopier(pair: Pair, kubeconfig: string, namespace: string): Promise<Copier> {
  const life = new AbortController();
  const { signal } = life;
  const client = new Client(await transportFromKubeconfig(kubeconfig));
  const reached = async (name: Name) =>
    new Client(await transportFromKubeconfigFile(pair.cluster(name).kubeconfig));
  const clusters: Record<string, Client> = { east: await reached('east'), west: await reached('west') };
  const copier: Copier = { faults: new Map(), copied: new Set(), stop: () => life.abort() };
  const tell = async ({ metadata }: VolumeCopy, status: VolumeCopyStatus) => {
    const { name = '', uid } = metadata;
    const body = { metadata: { uid }, status: { ...status, lastProgressTime: new Date().toISOString() } };
    await client.patch(volumeCopies, { namespace, name, subresource: 'status' }, 'merge', body);
  };
  const copyOne = async (copy: VolumeCopy) => {
    const { claim = '', physicalNamespace = '', from = '', to = '' } = copy.spec ?? {};
    const fault = copier.faults.get(claim);
    await tell(copy, { phase: 'Copying', bytes: 0, totalBytes: 100 });
    if (typeof fault === 'string') {
      await tell(copy, { phase: 'Failed', message: fault });
      return;
    }
    await fault;
    const asked = await client.get(volumeCopies, { namespace, name: copy.metadata.name ?? '' });
    if (asked.metadata.uid !== copy.metadata.uid || asked.metadata.deletionTimestamp) return;
    const [source, target] = [clusters[from], clusters[to]];
    if (!source || !target) throw new Error(`${from} or ${to} is not ours`);
    const of = { namespace: physicalNamespace, name: claim };
    const data = await source.get(claims, of);
    await target.create(claims, emptyClaim(data, of), { namespace: physicalNamespace }).catch(ignoreExists);
    await until(`${claim} is bound`, 20, async () => {
      return at(await target.get(claims, of), 'status', 'phase') === 'Bound';
    });
    const annotations = { [mark]: data.metadata.annotations?.[mark] ?? '' };
    await target.patch(claims, of, 'merge', { metadata: { annotations } });
    copier.copied.add(claim);
    await tell(copy, { phase: 'Copied', bytes: 100, totalBytes: 100 });
  };
  const taken = new Set<string>();
  const copies = startInformer<VolumeCopy>(client, volumeCopies, { namespace, signal });
  const take = (copy: VolumeCopy) => {
    const { uid = '' } = copy.metadata;
    if (copy.spec?.copier !== 'marks' || copy.status?.phase || taken.has(uid)) return;
    taken.add(uid);
    // One that was taken back is not there to be told of.
    void copyOne(copy).catch((error) => isStatusError(error, 'NotFound') || signal.aborted || fail(error));
  };
  copies.on({ add: take, update: take });
  return copier;
}

function fail(error: unknown): never {
  throw error;
}

function ignoreExists(error: unknown): void {
  if (!isStatusError(error, 'AlreadyExists')) throw error;
}
