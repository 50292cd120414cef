import { expect, test } from 'vitest';
import { isOwn, isOwnController, ownUser } from '../../../apiserver/authn/controllers.ts';
import { controllersUser, schedulerUser } from '../../../cluster/names.ts';

test.each([
  ['the scheduler, from inside', ownUser(schedulerUser), true],
  ['as the ladder carries it on', { ...ownUser(schedulerUser), extra: {} }, true],
  ['another of our own', ownUser(controllersUser), false],
  ['somebody who has been given its name', { name: schedulerUser, groups: ['system:authenticated'] }, false],
  ['an administrator of that name', { name: schedulerUser, groups: ['system:masters'] }, false],
  ['what was written down of it', JSON.parse(JSON.stringify(ownUser(schedulerUser))), false],
])('%s is the scheduler: %s', (_, user, is) => {
  expect(isOwn(user, schedulerUser)).toBe(is);
});

test('none of them is of the administrators', () => {
  expect([isOwnController(ownUser('x')), ownUser('x').groups]).toEqual([true, ['system:authenticated']]);
});
