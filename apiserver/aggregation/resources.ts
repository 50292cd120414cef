import { otherResources } from '../../kube/discovery/extension.ts';
import type { UserInfo } from '../../kube/http.ts';
import { decodeJson } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Question } from './kept.ts';

/** As whom kube-aggregator asks, and our controllers do what no user asked for. */
export const ourselves: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** What another API server says that it serves of one version of a group. */
export const resourcesQuestion: Question<readonly JsonObject[]> = {
  name: 'resources',
  path: ({ group, version }) => `/apis/${group}/${version}`,
  user: () => ourselves,
  mostBytes: 512 << 10,
  freshMs: 30_000,
  // A server that comes back is looked for by users at once.
  retryMs: 0,
  read: (answer, service) => {
    const { value } = decodeJson(answer);
    const resources = isRecord(value) ? otherResources(value, service) : undefined;
    return resources && { value: resources, bytes: Buffer.byteLength(JSON.stringify(resources)) };
  },
};
