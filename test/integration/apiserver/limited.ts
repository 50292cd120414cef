import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { limitsAdmission } from '../../../apiserver/limits/admission.ts';
import { Gate } from '../../../apiserver/limits/gate.ts';
import { Ledger } from '../../../apiserver/limits/ledger.ts';
import type { Answer, Question } from '../../../apiserver/limits/questions.ts';
import { Tree } from '../../../apiserver/limits/tree.ts';
import type { ApiServerOptions } from '../../../apiserver/options.ts';
import type { Bounds } from '../../../cluster/limits.ts';
import { ownResources } from '../../../cluster/resources.ts';
import type { UserInfo } from '../../../kube/http.ts';
import type { Later } from '../../../kube/later.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { type Api, type Reply, startApi, call as through } from './api.ts';

/** Of the tests' rules, as one whom roles let do everything in every logical cluster. */
export const tenant = { name: 'tenant', groups: ['system:authenticated'] };

export interface Limited extends Api {
  store: Store;
  ledger: Ledger;
  /** As somebody else. */
  as(user: UserInfo, method: string, url: string, body?: unknown, type?: string): Promise<Reply>;
  /** Makes a Workspace with these limits; the path of what is in it. */
  workspace(parent: string, name: string, limits?: object): Promise<string>;
  /** A server beside it, as one of its processes: it asks the ledger of this one. */
  beside(): Api & { leave(): void };
}

/** A server whose logical clusters have limits. `now` is the time of what is counted by the second. */
export function startLimited(defaults: Bounds = {}, now?: () => number, raw = openMemory()): Limited {
  const stop = new AbortController();
  const tree = new Tree(defaults);
  const ledger = new Ledger(raw, tree, stop.signal, now);
  const api = startApi(
    optionsOf(ledger.store, new Gate({ tree, ask: (question) => ledger.answer(question, api) })),
  );
  let made = 0;
  return {
    ...api,
    call: async (...given) => {
      await turn();
      return await api.call(...given);
    },
    store: ledger.store,
    ledger,
    as: async (user, method, url, body, type) => {
      await turn();
      const headers = type === undefined ? {} : { 'content-type': type };
      return await through(api.server.transport(user), method, url, body, headers);
    },
    async workspace(parent, name, limits) {
      const id = `lc${String(++made).padStart(14, '0')}`;
      const foundation = {
        kind: 'LogicalCluster',
        apiVersion: 'core.kcp.io/v1alpha1',
        metadata: { name: 'cluster' },
      };
      await api.call('POST', `/clusters/${id}/apis/core.kcp.io/v1alpha1/logicalclusters`, foundation);
      const spec = { cluster: id, ...(limits && { limits }) };
      const workspace = {
        kind: 'Workspace',
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        metadata: { name },
        spec,
      };
      const answer = await api.call(
        'POST',
        `/clusters/${parent}/apis/tenancy.kcp.io/v1alpha1/workspaces`,
        workspace,
      );
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } };
      await own(api, 'POST', `/clusters/${id}/api/v1/namespaces`, namespace);
      return `${parent}:${name}`;
    },
    beside() {
      const ask = (question: Question): Later<Answer> => Promise.resolve(ledger.answer(question, other));
      const other = startApi(
        optionsOf(ledger.store, new Gate({ tree: new Tree(defaults), ask, apart: true })),
      );
      return { ...other, leave: () => ledger.leave(other), close: () => other.server.close() };
    },
    close: async () => {
      stop.abort();
      await api.close();
    },
  };
}

/** Requests come through sockets, one in a turn of the event loop; what watches has heard by then. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** As one of our own controllers, for whom no limit holds. */
export function own(api: Api, method: string, url: string, body?: unknown): Promise<Reply> {
  return through(api.server.transport(ownUser('system:atoll:controllers')), method, url, body);
}

function optionsOf(store: Store, gate: Gate): Partial<ApiServerOptions> {
  return {
    store,
    gate,
    resources: ownResources.map((resource) => ({
      ...resource,
      custom: true,
      subresources: { status: true },
    })),
    admission: [limitsAdmission],
    authorize: ({ user, verb }) => ({
      allowed: user.groups.includes('system:masters') || (user.name !== 'nobody' && verb !== 'limit'),
    }),
  };
}
