import { expect, it } from 'vitest';
import { standing } from '../../../apiserver/authz/standing.ts';
import { autoscalerUser } from '../../../server/client.ts';

it('the autoscaler of a logical cluster is at home there, where its default roles count, and nobody elsewhere', () => {
  const user = autoscalerUser('a49ce629fb9ukgkj');
  expect(standing(user, 'a49ce629fb9ukgkj')).toBe('home');
  expect(standing(user, 'root')).toBe('nobody');
});
