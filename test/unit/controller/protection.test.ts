import { expect, test } from 'vitest';
import { type Pod, usesClaim } from '../../../controller/protection/decide.ts';

const claim = (name: string, owner?: string, controller = true) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name,
    ...(owner && { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: owner, controller }] }),
  },
});
const pod = (fields: { nodeName?: string; phase?: string; metadata?: object; volume?: object }): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'p-uid', ...fields.metadata },
  spec: {
    ...(fields.nodeName !== undefined && { nodeName: fields.nodeName }),
    volumes: [{ name: 'v', ...(fields.volume ?? { persistentVolumeClaim: { claimName: 'data' } }) }],
  },
  status: { phase: fields.phase ?? 'Running' },
});

// As k8s.io/kubernetes/pkg/controller/volume/pvcprotection has it.
const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
const ephemeral = { ephemeral: {} };
test.each([
  ['one that runs', pod({ nodeName: 'n' }), claim('data'), true],
  ['one that has succeeded', pod({ nodeName: 'n', phase: 'Succeeded' }), claim('data'), true],
  ['one that has failed', pod({ nodeName: 'n', phase: 'Failed' }), claim('data'), true],
  ['one that only its finalizers keep', pod({ nodeName: 'n', metadata: ending }), claim('data'), true],
  ['one without a node', pod({ phase: 'Pending' }), claim('data'), false],
  ['one with another claim', pod({ nodeName: 'n' }), claim('other'), false],
  ['one whose volume it is', pod({ nodeName: 'n', volume: ephemeral }), claim('p-v', 'p-uid'), true],
  [
    'one that has ended, whose volume it is',
    pod({ nodeName: 'n', phase: 'Succeeded', volume: ephemeral }),
    claim('p-v', 'p-uid'),
    true,
  ],
  [
    'one whose volume it is, kept by finalizers',
    pod({ nodeName: 'n', volume: ephemeral, metadata: ending }),
    claim('p-v', 'p-uid'),
    false,
  ],
  [
    'one that owns it, and does not control it',
    pod({ nodeName: 'n', volume: ephemeral }),
    claim('p-v', 'p-uid', false),
    false,
  ],
  ['one whose volume has its name only', pod({ nodeName: 'n', volume: ephemeral }), claim('p-v'), false],
])('%s keeps a claim that is to go: %#', (_name, user, of, keeps) => {
  expect(usesClaim(user, of)).toBe(keeps);
});
