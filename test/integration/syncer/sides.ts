import { afterEach, beforeEach } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { BarePhysical } from '../../world/bare.ts';
import { type resources, until } from '../../world/objects.ts';
import { type Running, runSyncer, Upstream } from '../../world/upstream.ts';

/** The two real sides of the syncer of cluster east, anew for each test. */
export class Sides {
  upstream!: Upstream;
  physical!: BarePhysical;
  #running: Running[] = [];

  static forEach(): Sides {
    const sides = new Sides();
    beforeEach(async () => {
      [sides.upstream, sides.physical] = await Promise.all([
        Upstream.start('east', 'west'),
        BarePhysical.start(),
      ]);
    });
    afterEach(async () => {
      await sides.stop();
      await Promise.all([sides.upstream.close(), sides.physical.close()]);
    });
    return sides;
  }

  /** A syncer between them; `former`: the uids whose objects it takes over. */
  start(
    transport = this.physical.transport,
    former: readonly string[] = [],
    restMs?: number,
    heartbeatMs?: number,
  ): Running {
    const running = runSyncer(this.upstream, transport, 'east', former, restMs, heartbeatMs);
    this.#running.push(running);
    return running;
  }

  /** Kills all syncers that run. */
  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((one) => one.stop()));
  }

  /** On the physical cluster, where all of it goes. */
  there(resource: (typeof resources)[keyof typeof resources], name: string): Promise<KubeObject | undefined> {
    return this.physical.find(resource, this.upstream.home, name);
  }

  untilThere(resource: (typeof resources)[keyof typeof resources], name: string): Promise<KubeObject> {
    return until(`${resource.resource} ${name} is there`, () => this.there(resource, name));
  }

  /** As writes() names it. */
  path(resource: (typeof resources)[keyof typeof resources], name: string): string {
    const { group, version, resource: plural } = resource;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    return `${root}/namespaces/${this.upstream.home}/${plural}/${name}`;
  }

  /** The paths of what the syncer has written with this method, in order. */
  written(method: 'PATCH' | 'POST' | 'DELETE'): string[] {
    return this.physical
      .writes()
      .filter((write) => write.method === method)
      .map(({ path }) => path);
  }
}
