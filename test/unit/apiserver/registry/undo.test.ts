import { expect, it } from 'vitest';
import { keptByUndo } from '../../../../apiserver/registry/undo.ts';

const revision = { 'internal.atoll.dev/reflected-uid': 'u', 'atoll.dev/physical-cluster': 'east' };
const said = { 'atoll.dev/clusters': 'west', 'atoll.dev/drain-seconds': '7' };

it.each([
  ['the annotations of a ReplicaSet', revision, { ...said, team: 'a' }, said],
  ['those of one that is refused', { 'atoll.dev/refused': '{}' }, said, said],
  [
    'what says another thing itself',
    { ...revision, 'atoll.dev/clusters': 'east' },
    said,
    { 'atoll.dev/drain-seconds': '7' },
  ],
  ['nothing of a revision', { team: 'b' }, said, {}],
  ['no annotations', undefined, said, {}],
  ['as it is read of all logical clusters', { 'kcp.io/cluster': 'a' }, said, {}],
  ['of a revision that it has itself', revision, { ...said, ...revision }, {}],
  ['where nothing was said', revision, { 'atoll.dev/placed-by': 'ann' }, {}],
  ['where there was none', revision, undefined, {}],
])('a write of %s', (_what, now, before, kept) => {
  expect(keptByUndo(now, before)).toEqual(kept);
});
