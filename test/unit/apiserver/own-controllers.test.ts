import { expect, test } from 'vitest';
import { isOwn } from '../../../apiserver/authn/controllers.ts';
import { controllersUser, schedulerUser } from '../../../cluster/names.ts';

test.each([
  ['the scheduler, from inside', schedulerUser, ['system:masters'], true],
  ['another of our own', controllersUser, ['system:masters'], false],
  ['somebody who has been given its name', schedulerUser, ['system:authenticated'], false],
  ['an administrator', 'admin', ['system:masters'], false],
])('%s is the scheduler: %s', (_, name, groups, is) => {
  expect(isOwn({ name, groups }, schedulerUser)).toBe(is);
});
