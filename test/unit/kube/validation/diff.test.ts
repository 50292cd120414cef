import { describe, expect, it } from 'vitest';
import { jsonDiff } from '../../../../kube/validation/diff.ts';
import { internal } from '../../../../kube/validation/internal.ts';

const numbers = (...changed: number[]) =>
  Array.from({ length: 30 }, (_, i) => (changed.includes(i) ? -i : i + 100));

const table: [string, unknown, unknown, string][] = [
  ['the same', { a: 1 }, { a: 1 }, ''],
  ['a changed line', { a: 1 }, { a: 2 }, '@@ -1,3 +1,3 @@\n {\n- "a": 1\n+ "a": 2\n }\n'],
  [
    'a list that goes',
    { a: ['x'], b: null },
    { a: null, b: null },
    '@@ -1,6 +1,4 @@\n {\n- "a": [\n-  "x"\n- ],\n+ "a": null,\n  "b": null\n }\n',
  ],
  ['markup', { a: '<' }, { a: '>' }, '@@ -1,3 +1,3 @@\n {\n- "a": "\\u003c"\n+ "a": "\\u003e"\n }\n'],
];

describe('a difference in lines', () => {
  it.each(table)('%s', (_name, before, after, expected) => {
    expect(jsonDiff(before, after)).toBe(expected);
  });

  it('leaves out what is far from a change', () => {
    const text = jsonDiff(numbers(), numbers(5, 20));
    expect(text.match(/^@@.*$/gm)).toEqual(['@@ -4,7 +4,7 @@', '@@ -19,7 +19,7 @@']);
  });

  it('joins changes that are near each other', () => {
    expect(jsonDiff(numbers(), numbers(5, 11)).match(/^@@.*$/gm)).toEqual(['@@ -4,13 +4,13 @@']);
  });

  // By the square of the lines it would take hours; and no call takes so many arguments.
  it('of as many lines as a request may have', () => {
    const long = (word: string) => Array.from({ length: 500_000 }, (_, i) => (i % 7 === 0 ? word : i % 3));
    expect(jsonDiff(long('a'), long('b'))).toContain('+ "b"');
  });
});

describe("a value in kube-apiserver's own form", () => {
  const shown: [string, unknown, unknown][] = [
    [
      'core.Taint',
      { key: 'k', effect: 'NoSchedule' },
      { Key: 'k', Value: '', Effect: 'NoSchedule', TimeAdded: null },
    ],
    ['apps.DeploymentStrategy', { type: 'Other' }, { Type: 'Other', RollingUpdate: null }],
    ['*core.SeccompProfile', undefined, null],
    [
      'core.PodTemplateSpec',
      { metadata: { labels: { a: 'b' } }, spec: {} },
      { labels: { a: 'b' }, Spec: expect.objectContaining({ Volumes: null, RestartPolicy: '' }) },
    ],
    [
      'core.Volume',
      { name: 'v', emptyDir: { sizeLimit: '1Gi' } },
      expect.objectContaining({ Name: 'v', HostPath: null, EmptyDir: { Medium: '', SizeLimit: '1Gi' } }),
    ],
    [
      'core.PodSpec',
      { hostNetwork: true, hostUsers: false },
      expect.objectContaining({
        SecurityContext: expect.objectContaining({ HostNetwork: true, HostPID: false, HostUsers: false }),
      }),
    ],
  ];
  it.each(shown)('%s', (type, value, expected) => {
    expect(internal(value, type)).toEqual(expected);
  });
});
