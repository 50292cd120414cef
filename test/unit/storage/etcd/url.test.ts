import { describe, expect, it } from 'vitest';
import { etcdOptions, parseEtcdUrl } from '../../../../storage/etcd/url.ts';
import { StoreError } from '../../../../storage/store.ts';

describe('parseEtcdUrl', () => {
  it.each([
    ['//localhost', { endpoints: ['localhost:2379'], files: {}, tls: false }],
    ['//a:1,b:2,[::1]:3', { endpoints: ['a:1', 'b:2', '[::1]:3'], files: {}, tls: false }],
    ['//a:1/some/where/', { endpoints: ['a:1'], prefix: '/some/where', files: {}, tls: false }],
    [
      '//me:p%40ss:word@a:1',
      { endpoints: ['a:1'], username: 'me', password: 'p@ss:word', files: {}, tls: false },
    ],
    ['//a:1?ca=/x/ca.crt', { endpoints: ['a:1'], files: { ca: '/x/ca.crt' }, tls: true }],
    ['//a:1/p?tls=true', { endpoints: ['a:1'], prefix: '/p', files: {}, tls: true }],
    ['//a:1?cert=c&key=k', { endpoints: ['a:1'], files: { cert: 'c', key: 'k' }, tls: true }],
    [
      '//a:1?username=me&password-file=f',
      { endpoints: ['a:1'], username: 'me', files: { password: 'f' }, tls: false },
    ],
  ])('reads %s', (rest, expected) => {
    expect(parseEtcdUrl(rest)).toEqual(expected);
  });

  it.each(['', '//', 'a:1', '///prefix', '//a:1?cert=c', '//a:1?pasword-file=f'])('refuses %j', (rest) => {
    expect(() => parseEtcdUrl(rest)).toThrow(StoreError);
  });

  it('says which file cannot be read', async () => {
    await expect(etcdOptions('//a:1?ca=/does/not/exist')).rejects.toThrow('/does/not/exist');
  });
});
