import { expect, test } from 'vitest';
import { type Claim, statusOf, type Volume } from '../../../controller/volumes/decide.ts';

const ref = { namespace: 'default', name: 'data', uid: 'u1' };
const volume = (spec: Volume['spec'], status: Volume['status'], annotations = {}): Volume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v', annotations },
  ...(spec && { spec }),
  ...(status && { status }),
});
const claim = (uid: string, volumeName?: string): Claim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', uid },
  spec: { ...(volumeName && { volumeName }) },
});
const byName = { namespace: 'default', name: 'data' };
const external = { 'pv.kubernetes.io/provisioned-by': 'd.example.com' };
const noDeleter = 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched';
const noRecycler = 'No recycler plugin found for the volume!';

test.each<[string, Volume, Claim | undefined, object]>([
  ['without a claim', volume({}, { phase: 'Pending' }), undefined, { phase: 'Available' }],
  [
    'for a claim to come',
    volume({ claimRef: byName }, { phase: 'Pending' }),
    undefined,
    { phase: 'Available' },
  ],
  [
    'whose claim was let go',
    volume({}, { phase: 'Failed', message: 'm' }),
    undefined,
    { phase: 'Available' },
  ],
  ['of a claim that names it', volume({ claimRef: ref }, {}), claim('u1', 'v'), { phase: 'Bound' }],
  ['of a claim that names none', volume({ claimRef: ref }, {}), claim('u1'), { phase: 'Available' }],
  ['of a claim that names another', volume({ claimRef: ref }, {}), claim('u1', 'w'), { phase: 'Available' }],
  ['of a claim that went', volume({ claimRef: ref }, { phase: 'Bound' }), undefined, { phase: 'Released' }],
  ['of one made anew', volume({ claimRef: ref }, {}), claim('u2', 'v'), { phase: 'Released' }],
  [
    'that nobody deletes',
    volume({ claimRef: ref, persistentVolumeReclaimPolicy: 'Delete' }, { phase: 'Bound' }),
    undefined,
    { phase: 'Failed', message: noDeleter },
  ],
  [
    'that its driver deletes',
    volume({ claimRef: ref, persistentVolumeReclaimPolicy: 'Delete', csi: {} }, {}),
    undefined,
    { phase: 'Released' },
  ],
  [
    'that its provisioner deletes',
    volume({ claimRef: ref, persistentVolumeReclaimPolicy: 'Delete' }, {}, external),
    undefined,
    { phase: 'Released' },
  ],
  [
    'that nobody empties',
    volume({ claimRef: ref, persistentVolumeReclaimPolicy: 'Recycle', csi: {} }, {}),
    undefined,
    { phase: 'Failed', message: noRecycler },
  ],
])('the phase of one %s', (_, before, of, wanted) => {
  expect(statusOf(before, of)).toEqual(wanted);
});

test.each<[string, Volume]>([
  ['it is so', volume({}, { phase: 'Available', lastPhaseTransitionTime: 't' })],
  ['what failed stays so', volume({ claimRef: ref }, { phase: 'Failed', message: 'm' })],
])('nothing is written: %s', (_, before) => {
  expect(statusOf(before, undefined)).toBeUndefined();
});
