import { expect, test } from 'vitest';
import { refusePlacement } from '../../../../apiserver/admission/placement-refuse.ts';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import type { AdmissionRequest } from '../../../../apiserver/plugins.ts';
import type { UserInfo } from '../../../../kube/http.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { deployment } from '../../cluster/objects.ts';

const cluster = (name: string): KubeObject => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name },
  spec: { kubeconfigSecretRef: { namespace: 'shop', name: 'west' } },
});
const scheduler = ownUser('system:atoll:scheduler');
const ann: UserInfo = { name: 'ann', groups: [] };
const posing: UserInfo = { name: 'system:atoll:scheduler', groups: [] };

interface Given {
  there?: string[];
  /** What the server has seen of that; default: all. */
  seen?: string[];
  kind?: string;
}

async function refused(value: string, user: UserInfo, given: Given) {
  const { there = ['east', 'west'], kind = 'apps/deployments' } = given;
  const { seen = there } = given;
  let lists = 0;
  const [group, resource] = kind.split('/') as [string, string];
  const request = {
    user,
    cluster: 'root',
    namespace: 'shop',
    name: 'west',
    stored: { info: { group, resource, kind: 'Kind', namespaced: true } },
    registry: {
      list: async () => {
        lists++;
        return { items: there.map(cluster), resourceVersion: '1' };
      },
      recent: ({ name }: { name: string }) => seen.filter((one) => one === name).map(cluster),
    },
  } as unknown as AdmissionRequest;
  const said = await refusePlacement(request, deployment('west').object, value).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { said, lists };
}

test.each<[string, string, UserInfo, Given, string | undefined, number]>([
  ['what is known is not looked for', 'east,west', ann, {}, undefined, 0],
  ['nor what is excluded', '!east', ann, {}, undefined, 0],
  ['what was not seen yet is', 'east,west', ann, { seen: ['east'] }, undefined, 1],
  ['and refused where it is not there', 'east,mars', ann, {}, 'named mars; known: east,west', 1],
  ['and where it is no name', 'e\u00e4st', ann, {}, 'named e\u00e4st; known: east,west', 1],
  ['who chose from what there is is believed', 'east,gone', scheduler, {}, undefined, 0],
  ['and nobody else of that name', 'gone', posing, {}, 'named gone', 1],
  ['but not that it is no credential', 'east', scheduler, { kind: '/secrets' }, 'holds the credentials', 1],
])('%s', async (_, value, user, given, why, lists) => {
  const { said, lists: were } = await refused(value, user, given);
  if (why === undefined) expect(said).toBeUndefined();
  else expect(said).toContain(why);
  expect(were).toBe(lists);
});
