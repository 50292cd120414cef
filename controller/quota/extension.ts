import type { Client } from '../../client/client.ts';
import { absenceOf } from '../../client/errors.ts';
import type { Informer } from '../../client/informer.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf } from '../../client/url.ts';
import { isResourceName } from '../../kube/discovery/extension.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Evaluator } from '../../kube/quota/evaluator.ts';
import { type ApiService, apiServices, isAsked } from '../aggregation/decide.ts';
import { eachListed } from '../aggregation/list.ts';

/** How often they are counted anew, as in Kubernetes: nobody watches them. */
export const recountMs = 300_000;

/** Of such an object nothing but that it is there counts. */
const counted: KubeObject = { apiVersion: '', kind: '', metadata: {} };

const byGroup = 'quota/group';

export interface Where {
  cluster: string;
  namespace: string;
  signal: AbortSignal;
}

/** Objects that API servers of a logical cluster's own have in a namespace. */
export class Others {
  readonly #client: Client;
  readonly #apiServices: Informer<ApiService>;

  /** @param changed told of a logical cluster and a group, in one word, that is served there from now on, or no more. */
  constructor(client: Client, informers: InformerSet, changed: (group: string) => void) {
    this.#client = client;
    this.#apiServices = informers.for<ApiService>(apiServices);
    this.#apiServices.addIndex(byGroup, (one) => (isAsked(one) ? [groupKey(one)] : []));
    this.#apiServices.on({
      add: (one) => changed(groupKey(one)),
      update: (one, old) => void (isAsked(one) !== isAsked(old) && changed(groupKey(one))),
    });
  }

  get synced(): Promise<unknown> {
    return this.#apiServices.synced;
  }

  /** Undefined where no such server serves the resource, or none says what it has: it is not counted. */
  async objects({ group, resource }: Evaluator, where: Where): Promise<KubeObject[] | undefined> {
    if (!isResourceName(resource)) return undefined;
    const servers = this.#apiServices.byIndex(byGroup, `${where.cluster} ${group}`);
    for (const { spec } of servers) {
      const served = { group, version: spec?.version ?? '', resource };
      try {
        const objects: KubeObject[] = [];
        await eachListed(this.#client, served, where, () => objects.push(counted));
        return objects;
      } catch (error) {
        where.signal.throwIfAborted();
        if (absenceOf(error) === undefined) throw error;
      }
    }
    return undefined;
  }
}

function groupKey(one: ApiService): string {
  return `${logicalClusterOf(one)} ${one.spec?.group ?? ''}`;
}
