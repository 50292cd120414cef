import { defineConfig } from 'vitest/config';

const slow = { testTimeout: 120_000, hookTimeout: 180_000, fileParallelism: false };

export default defineConfig({
  test: {
    coverage: {
      provider: 'v8',
      include: [
        '{kube,storage,cluster,client,apiserver,controller,scheduler,splitter,syncer,sim,cli}/**/*.ts',
      ],
    },
    projects: [
      { test: { name: 'unit', include: ['test/{unit,contract}/**/*.test.ts'], testTimeout: 20_000 } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      // The contract is for every change; what else etcd does to a store takes a minute.
      { test: { name: 'etcd', include: ['test/etcd/contract.test.ts'], ...slow } },
      {
        test: {
          name: 'e2e',
          include: ['test/{e2e,etcd}/**/*.test.ts'],
          exclude: ['test/etcd/contract.test.ts'],
          ...slow,
        },
      },
      // Of e2e, with every session of every version.
      { test: { name: 'clients', include: ['test/e2e/clients.test.ts'], env: { CLIENTS: 'all' }, ...slow } },
    ],
  },
});
