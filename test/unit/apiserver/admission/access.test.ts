import { expect, test } from 'vitest';
import { Access, answered } from '../../../../apiserver/admission/matching/access.ts';
import type { Authorizer } from '../../../../apiserver/plugins.ts';

const user = { name: 'ann', groups: [] };
const pods = (access: Access, verb: string) =>
  answered(() => {
    const { ask } = access.authorizer;
    return ask({ path: '/pods', verb });
  });

function asking(authorize: Authorizer): { access: Access; asked: string[] } {
  const asked: string[] = [];
  const access = new Access({
    user,
    cluster: 'root',
    authorize: (attributes) => {
      asked.push(`${attributes.user.name} ${attributes.verb} ${attributes.path}`);
      return authorize(attributes);
    },
  });
  return { access, asked };
}

test('an answer that is here is no promise; each question is asked once', () => {
  const { access, asked } = asking(() => ({ allowed: true, reason: 'r' }));
  const yes = { allowed: true, reason: 'r', error: '' };
  expect([pods(access, 'get'), pods(access, 'get'), pods(access, 'list')]).toEqual([yes, yes, yes]);
  expect(asked).toEqual(['ann get /pods', 'ann list /pods']);
});

test('a later answer is waited for, once', async () => {
  const { access, asked } = asking(async () => ({ allowed: true }));
  expect(await pods(access, 'get')).toEqual({ allowed: true, reason: '', error: '' });
  expect(await pods(access, 'get')).toEqual({ allowed: true, reason: '', error: '' });
  expect(asked).toHaveLength(1);
});

test.each<[string, Authorizer]>([
  [
    'at once',
    () => {
      throw new Error('out of order');
    },
  ],
  ['later', () => Promise.reject(new Error('out of order'))],
  ['in words', () => ({ allowed: false, error: 'out of order' })],
])('who fails to decide %s allows nothing, and the expression can tell', async (_, authorize) => {
  const answer = await pods(asking(authorize).access, 'get');
  expect(answer).toEqual({ allowed: false, reason: '', error: expect.stringContaining('out of order') });
});
