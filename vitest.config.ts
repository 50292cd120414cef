import { defineConfig } from 'vitest/config';
import { FailedReporter } from './test/reporter.ts';

// For what hangs, not for what is slow: a shared disk may stand still for half a minute, and a shared processor be
// somebody else's for nine parts in ten. What a test waits for itself has less, so that the test says what it was.
const patient = { expect: { poll: { timeout: 200_000 } } };
const quick = { testTimeout: 300_000, hookTimeout: 300_000, ...patient };
const slow = { testTimeout: 300_000, hookTimeout: 300_000, fileParallelism: false, ...patient };

// Long files of e2e that E2E_PART=1/4 to 4/4 share; without it all of them run. What needs programs that take minutes
// to build is in 4/4, and `make e2e` builds them for it alone.
const parts: Readonly<Record<string, readonly string[]>> = {
  '1/4': ['journeys', 'etcd', 'control', 'rollout', 'encryption'],
  '2/4': ['serving', 'traffic', 'promises', 'stop', 'copies', 'orphans'],
  '3/4': ['clients', 'spread-controllers', 'tenant', 'conversion'],
  '4/4': [
    'argo-rollouts',
    'sample-apiserver',
    'sample-pods',
    'aggregation',
    'operators',
    'volumes',
    'metrics',
  ],
};
const part = process.env['E2E_PART'] ?? '1/1';
if (part !== '1/1' && !parts[part]) throw new Error(`E2E_PART is 1/1, or 1/4 to 4/4, not ${part}`);
const others = Object.entries(parts).flatMap(([of, names]) => (part === '1/1' || part === of ? [] : names));

export default defineConfig({
  test: {
    // Many wait for clusters to settle, so that two take half the time of one on two processors.
    maxWorkers: 2,
    reporters: ['default', new FailedReporter()],
    coverage: {
      provider: 'v8',
      include: [
        '{kube,storage,cluster,client,apiserver,controller,scheduler,splitter,syncer,sim,server,cli}/**/*.ts',
      ],
    },
    projects: [
      { test: { name: 'unit', include: ['test/{unit,contract}/**/*.test.ts'], ...quick } },
      { test: { name: 'integration', include: ['test/integration/**/*.test.ts'], ...quick } },
      // The contract is for every change; what else etcd does to a store takes a minute.
      { test: { name: 'etcd', include: ['test/etcd/contract.test.ts'], ...slow } },
      {
        test: {
          name: 'e2e',
          include: ['test/{e2e,etcd}/**/*.test.ts'],
          exclude: ['test/etcd/contract.test.ts', ...others.map((name) => `test/e2e/${name}.test.ts`)],
          ...slow,
        },
      },
      // Of e2e, with every session of every version.
      { test: { name: 'clients', include: ['test/e2e/clients.test.ts'], env: { CLIENTS: 'all' }, ...slow } },
    ],
  },
});
