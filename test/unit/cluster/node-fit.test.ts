import { describe, expect, test } from 'vitest';
import { labelIndex, nodeAskOf, nodeMisfit } from '../../../cluster/node-fit.ts';

const east = [
  '!gen',
  'disk=ssd',
  'gen=4',
  'kubernetes.io/hostname=e1',
  'metadata.name=e1',
  'metadata.name=e2',
];
const affinity = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (key: string, operator: string, ...values: string[]) => ({ key, operator, values });
const matching = (...matchExpressions: object[]) => affinity({ matchExpressions });
const named = (...values: string[]) =>
  affinity({ matchFields: [expression('metadata.name', 'In', ...values)] });

describe('what pods ask of the nodes of a cluster', () => {
  test.each<[string, object, string | undefined]>([
    ['nothing', {}, undefined],
    ['a label that one has', { nodeSelector: { disk: 'ssd' } }, undefined],
    ['a value that none has', { nodeSelector: { disk: 'hdd' } }, 'has the label disk=hdd'],
    ['a key that none has', { nodeSelector: { gpu: 'yes' } }, 'has the label gpu=yes'],
    [
      'two labels, one of which none has',
      { nodeSelector: { disk: 'ssd', gpu: 'yes' } },
      'has the label gpu=yes',
    ],
    ['has the name of one', { nodeName: 'e2' }, undefined],
    ['has the name of none', { nodeName: 'w1' }, 'has the name w1'],
    ['by affinity the name of one', named('w1', 'e2'), undefined],
    ['by affinity names of none', named('w1', 'w2'), 'has the name w1 or w2'],
    ['one of some values', matching(expression('disk', 'In', 'hdd', 'ssd')), undefined],
    [
      'one of some values that none has',
      matching(expression('disk', 'In', 'a', 'b')),
      'has the label disk=a or b',
    ],
    [
      'one of many values that none has',
      matching(expression('disk', 'In', 'a', 'b', 'c', 'd', 'e')),
      'has the label disk=a or b or c or 2 more',
    ],
    ['that a label exists', matching(expression('disk', 'Exists')), undefined],
    [
      'that a label exists whose name others begin with',
      matching(expression('dis', 'Exists')),
      'has the label dis',
    ],
    ['that a label exists on none', matching(expression('gpu', 'Exists')), 'has the label gpu'],
    [
      'that a label does not exist that all have',
      matching(expression('disk', 'DoesNotExist')),
      'lacks the label disk',
    ],
    ['that a label does not exist that some have', matching(expression('gen', 'DoesNotExist')), undefined],
    ['that a label does not exist that none has', matching(expression('gpu', 'DoesNotExist')), undefined],
    [
      'another value than all have',
      matching(expression('disk', 'NotIn', 'ssd', 'hdd')),
      'lacks the label disk=ssd or hdd',
    ],
    ['another value than they have', matching(expression('disk', 'NotIn', 'hdd')), undefined],
    ['another value than some have', matching(expression('gen', 'NotIn', '4')), undefined],
    ['another value of what none has', matching(expression('gpu', 'NotIn', 'yes')), undefined],
    [
      'another node than all',
      affinity({ matchFields: [expression('metadata.name', 'NotIn', 'e1', 'e2')] }),
      'lacks the name e1 or e2',
    ],
    [
      'another node than one',
      affinity({ matchFields: [expression('metadata.name', 'NotIn', 'e1')] }),
      undefined,
    ],
    ['more', matching(expression('gen', 'Gt', '3')), undefined],
    ['more than there is', matching(expression('gen', 'Gt', '4')), 'has the label gen above 4'],
    ['less', matching(expression('gen', 'Lt', '5')), undefined],
    ['less than there is', matching(expression('gen', 'Lt', '4')), 'has the label gen below 4'],
    [
      'one of two terms',
      affinity(
        { matchExpressions: [expression('gpu', 'Exists')] },
        { matchExpressions: [expression('disk', 'Exists')] },
      ),
      undefined,
    ],
    [
      'a label beside one of two terms',
      {
        nodeSelector: { gpu: 'yes' },
        ...affinity({ matchExpressions: [expression('disk', 'Exists')] }, { matchFields: [] }),
      },
      'has the label gpu=yes',
    ],
  ])('%s', (_, spec, words) => {
    const ask = nodeAskOf(spec, false);
    const why = ask && nodeMisfit(ask, labelIndex(east));
    expect(why).toBe(words && `no node there ${words}, as its pods ask`);
  });

  test('a Pod of its own has the name of whichever node it has', () => {
    expect(nodeAskOf({ nodeName: 'w1' }, true)).toBeUndefined();
    expect(nodeAskOf({ nodeName: 'w1' }, false)).toBeDefined();
  });

  test('a cluster without nodes has none that lacks a label', () => {
    const ask = nodeAskOf(matching(expression('gpu', 'DoesNotExist')), false) ?? [];
    expect(nodeMisfit(ask, labelIndex([]))).toBe('no node there lacks the label gpu, as its pods ask');
  });

  test.each([
    ['nobody knows', undefined],
    ['there are more values than are told', ['disk=*']],
    ['there are more labels than are told', ['gpu=yes', '*']],
  ])('where %s, some node may be one', (_, told) => {
    const asks = [{ nodeSelector: { disk: 'ssd' } }, matching(expression('disk', 'DoesNotExist'))];
    const why = asks.map((ask) => nodeMisfit(nodeAskOf(ask, false) ?? [], told && labelIndex(told)));
    expect(why).toEqual([undefined, undefined]);
  });
});
