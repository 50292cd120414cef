import { expect, test } from 'vitest';
import { rootUrl } from '../../../client/url.ts';

test.each([
  ['https://h:1', 'https://h:1'],
  ['https://h:1/', 'https://h:1'],
  ['https://h:1/clusters/root:team-a', 'https://h:1'],
  ['https://h:1/clusters/root:team-a/', 'https://h:1'],
  ['https://h:1/behind/clusters/1x2y3z', 'https://h:1/behind'],
  ['https://h:1/clusters', 'https://h:1/clusters'],
])('%s is the way to %s', (server, root) => {
  expect(rootUrl(server)).toBe(root);
});
