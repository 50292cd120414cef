import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { follow } from '../atoll/follow.ts';
import { must, mustJson, until } from '../atoll/kubectl.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

let server: Atoll;
let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-serving-'));
  server = await startAtoll({ args: ['--serving-processes', '1'] });
});
afterEach(async () => {
  await server.dispose();
  await rm(directory, { recursive: true, force: true });
});

/** The processes that were started beside the first one, the newest last. */
function started(): number[] {
  const lines = [...server.log().matchAll(/^.*a serving process starts.*$/gm)];
  return lines.map(([line]) => (JSON.parse(line) as { pid: number }).pid);
}

/** How many processes said that they serve. */
function serving(): number {
  return [...server.log().matchAll(/"msg":"serving"/g)].length;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Less than a process takes to start, and much more than an answer of a busy server: 4 s, in steps of this process, which
 * makes none while it has no processor itself.
 */
const patience = { steps: 40, ms: 100 };

/** Whether a new connection is answered, for whoever waits no longer than that. */
async function isAnswered(): Promise<boolean> {
  const out = https.get(`${server.url}/livez`, { agent: false, rejectUnauthorized: false });
  let steps = 0;
  const timer = setInterval(() => {
    if (++steps === patience.steps) out.destroy();
  }, patience.ms);
  const [response] = await once(out, 'response').catch(() => []);
  clearInterval(timer);
  response?.destroy();
  return response !== undefined;
}

interface Busy {
  /** Names of what was acknowledged. */
  made: string[];
  failed: number;
  stop(): Promise<void>;
}

/** Creates as fast as 48 connections can, until it is stopped; what fails is tried no more. */
async function load(prefix: string): Promise<Busy> {
  const transport = await transportFromKubeconfigFile(server.kubeconfig, { maxSockets: 48 });
  const client = new Client(transport);
  let going = true;
  let next = 0;
  const busy: Busy = {
    made: [],
    failed: 0,
    stop: async () => {
      going = false;
      await callers;
      transport.close();
    },
  };
  const caller = async () => {
    while (going) {
      const name = `${prefix}-${next++}`;
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
      await client.create(configMaps, { ...object, data: { at: 'load' } }).then(
        () => busy.made.push(name),
        () => busy.failed++,
      );
    }
  };
  const callers = Promise.all(Array.from({ length: 48 }, caller));
  return busy;
}

async function names(): Promise<Set<string>> {
  const text = await must(server.kubeconfig, 'get', 'configmaps', '-o', 'name');
  return new Set(text.split('\n').map((line) => line.replace('configmap/', '')));
}

/** Resolves when two processes serve and the second has had its part of the connections. */
async function untilShared(busy: Busy): Promise<number> {
  await until('two processes serve', 30, async () => serving() === 2);
  const before = busy.made.length;
  await until('both are busy', 30, async () => busy.made.length > before + 4000);
  return started().at(-1) ?? 0;
}

describe('a process that serves beside the first', () => {
  it('joins while that is busy; both show the same, and a watch misses nothing', async () => {
    const [seen] = follow([server]);
    const busy = await load('a');
    await untilShared(busy);
    await writeFile(
      join(directory, 'crd.json'),
      JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          ],
        },
      }),
    );
    await must(server.kubeconfig, 'apply', '-f', join(directory, 'crd.json'));
    // Each on a connection of its own, whoever takes it.
    for (let i = 0; i < 8; i++) {
      const { items } = await mustJson<{ items: unknown[] }>(server.kubeconfig, 'get', 'widgets');
      expect(items).toEqual([]);
    }
    // Whichever process is asked, of whichever process.
    for (const process of ['serving-1', 'first', 'serving-1', 'first']) {
      const path = `/debug/pprof/profile?seconds=0.5&process=${process}`;
      const { nodes } = JSON.parse(await must(server.kubeconfig, 'get', '--raw', path)) as {
        nodes: unknown[];
      };
      expect(nodes.length).toBeGreaterThan(5);
    }
    await busy.stop();
    expect(busy.failed).toBe(0);
    const there = await names();
    expect(busy.made.filter((name) => !there.has(name))).toEqual([]);
    await until('everything is seen', 30, async () => busy.made.every((name) => seen?.added.has(name)));
    expect(seen?.faults).toEqual([]);
    seen?.stop();
  });

  it('takes no connection before it can answer', async () => {
    const cluster = {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PhysicalCluster',
      metadata: { name: 'nowhere' },
    };
    const kubeconfigSecretRef = { namespace: 'default', name: 'none' };
    // A cluster that it cannot reach keeps it starting for seconds.
    await writeFile(join(directory, 'c.json'), JSON.stringify({ ...cluster, spec: { kubeconfigSecretRef } }));
    await must(server.kubeconfig, 'apply', '-f', join(directory, 'c.json'));
    const busy = await load('e');
    const answered: boolean[] = [];
    await until('two processes serve', 60, async () => {
      answered.push(await isAnswered());
      return serving() === 2;
    });
    await busy.stop();
    expect(answered).not.toContain(false);
    expect(answered.length).toBeGreaterThan(2);
  });

  it('may be killed: what was acknowledged is there, and the first goes on', async () => {
    const busy = await load('b');
    const pid = await untilShared(busy);
    process.kill(pid, 'SIGKILL');
    await until('its end is told', 10, async () => server.log().includes('a serving process ended'));
    const before = busy.made.length;
    await until('the first goes on', 30, async () => busy.made.length > before + 500);
    await busy.stop();
    const there = await names();
    expect(busy.made.filter((name) => !there.has(name))).toEqual([]);
  });

  it('that is stuck is killed, and whoever waited for it is answered by the first', async () => {
    const busy = await load('s');
    const pid = await untilShared(busy);
    process.kill(pid, 'SIGSTOP');
    await until('its end is told', 90, async () => server.log().includes('a serving process ended'));
    expect(server.log()).toContain('a serving process says nothing: it is killed');
    expect(isAlive(pid)).toBe(false);
    const before = busy.made.length;
    await until('the first goes on', 60, async () => busy.made.length > before + 500);
    await busy.stop();
  });

  it('goes with the first, however that ends', async () => {
    const busy = await load('c');
    const pid = await untilShared(busy);
    await server.kill();
    await busy.stop();
    await until('it is gone', 5, async () => !isAlive(pid));
    await server.restart();
    const there = await names();
    expect(busy.made.filter((name) => !there.has(name))).toEqual([]);

    const again = await load('d');
    await until('two processes serve', 30, async () => serving() === 2);
    const second = started().at(-1) ?? 0;
    const stopped = server.terminate();
    await again.stop();
    expect(await stopped).toBe(0);
    await until('it is gone', 5, async () => !isAlive(second));
  });
});
