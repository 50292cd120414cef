import { afterEach, expect, test } from 'vitest';
import { drain } from '../../../cli/drain.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { ApiRequest, Transport } from '../../../kube/http.ts';
import { textAt } from '../../../kube/untyped.ts';
import { find, resources, settled, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { namespaces, persistentvolumeclaims, placements, statefulsets } = resources;
const inDefault = { namespace: 'default' };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const hold = { metadata: { annotations: { 'atoll.dev/volumes': 'hold' } } };

/** Of one resource the controllers' watch tells nothing while it is late; what they read of it is as it is. */
class LateWatch {
  reads = 0;
  #resource = '';
  #over: Promise<void> | undefined;
  #end: () => void = () => {};

  begin(resource: string): void {
    this.#resource = resource;
    this.#over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  end(): void {
    this.#over = undefined;
    this.#end();
  }

  wrap(transport: Transport): Transport {
    return async (request) => {
      const response = await transport(request);
      const isWatch = /[?&]watch=(true|1)/.test(request.url);
      if (!isWatch && this.#over && request.method === 'GET' && this.#isOf(request)) this.reads++;
      if (!isWatch) return response;
      const { body, events } = response;
      const late = <T>(items: AsyncIterable<T>) => this.#late(items, request);
      return {
        ...response,
        body: body instanceof Uint8Array ? body : late(body),
        ...(events && { events: late(events) }),
      };
    };
  }

  #isOf({ url }: ApiRequest): boolean {
    return (url.split('?')[0] ?? '').split('/').includes(this.#resource);
  }

  async *#late<T>(items: AsyncIterable<T>, request: ApiRequest): AsyncGenerator<T> {
    for await (const item of items) {
      if (this.#isOf(request)) await this.#over;
      yield item;
    }
  }
}

let world: World;
let watch: LateWatch;
afterEach(async () => {
  watch.end();
  await world.stop();
});

const clustersOf = async () =>
  (await find<Placement>(world.admin, placements, 'db.statefulsets.apps'))?.spec?.clusters ?? [];

test.each([
  ['persistentvolumeclaims', 'the claim', () => [persistentvolumeclaims, 'data-db-0'] as const, 'Namespace'],
  ['statefulsets', 'the set', () => [statefulsets, 'db'] as const, 'set'],
  ['namespaces', 'the Namespace', () => [namespaces, 'default'] as const, 'Namespace'],
])('hold counts when the watch of %s has not told of it: on %s', async (resource, _what, on, recreated) => {
  watch = new LateWatch();
  world = await startWorld({ controllersWire: (transport) => watch.wrap(transport) });
  const recreate = { 'atoll.dev/volumes': 'recreate' };
  if (recreated === 'Namespace')
    await world.admin.patch(namespaces, { name: 'default' }, 'merge', {
      metadata: { annotations: recreate },
    });
  const set = statefulSet('db', 1);
  const made = {
    ...set,
    metadata: { ...set.metadata, ...(recreated === 'set' && { annotations: recreate }) },
    spec: {
      ...(set.spec as object),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
    },
  };
  await world.admin.create(statefulsets, made, inDefault);
  await settled(world.admin, 'db.statefulsets.apps');
  await until('its claim is shown', async () => {
    const { items } = await world.admin.list(persistentvolumeclaims, inDefault);
    return items.some((claim) => textAt(claim, 'status', 'phase') === 'Bound');
  });
  const before = await clustersOf();
  const [from = ''] = before;
  watch.begin(resource);
  const [kind, name] = on();
  await world.admin.patch(kind, { ...(kind !== namespaces && inDefault), name }, 'merge', hold);
  const drained = drain(world.admin, from, { timeoutSeconds: 180, output: 'json', patienceMs: 500 });
  const refused = expect(drained).rejects.toThrow(`db: its claim data-db-0 holds data on ${from}`);
  await until('it is decided', async () => watch.reads > 2 || (await clustersOf()).join() !== before.join());
  expect(await clustersOf()).toEqual(before);
  watch.end();
  await refused;
  expect(await clustersOf()).toEqual(before);
});
