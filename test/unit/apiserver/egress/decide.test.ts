import { expect, test } from 'vitest';
import { policyOf, type Refusal, refusalOf } from '../../../../apiserver/egress/decide.ts';

const own = { ports: new Set([6443]), addresses: ['10.1.2.3', '2001:db8::9', 'fe80::5%eth0'] };
const plain = policyOf({ allow: [], deny: [] });

test.each<[string, Refusal | undefined]>([
  ['93.184.216.34', undefined],
  ['10.0.0.1', undefined],
  ['172.16.0.1', undefined],
  ['192.168.1.1', undefined],
  ['100.64.0.1', undefined],
  ['2001:4860:4860::8888', undefined],
  ['fd12:3456::1', undefined],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['126.255.255.255', undefined],
  ['128.0.0.1', undefined],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['::', 'unspecified'],
  ['169.254.0.1', 'link-local'],
  ['169.253.255.255', undefined],
  ['169.255.0.0', undefined],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::1', undefined],
  ['169.254.169.254', 'metadata'],
  ['169.254.170.2', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['192.0.0.192', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['fd00:0ec2:0:0:0:0:0:0254', 'metadata'],
  ['fd00:ec2::253', undefined],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['ff02::1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:a9fe:a9fe', 'metadata'],
  ['::ffff:10.0.0.1', undefined],
  ['::ffff:0:127.0.0.1', 'loopback'],
  ['::127.0.0.1', 'loopback'],
  ['::169.254.169.254', 'metadata'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['64:ff9b::169.254.169.254', 'metadata'],
  ['64:ff9b::8.8.8.8', undefined],
  ['64:ff9b:1::127.0.0.1', 'loopback'],
  ['64:ff9b:1:7f00:0:100::', 'loopback'],
  ['2002:7f00:1::', 'loopback'],
  ['2002:a9fe:a9fe::1', 'metadata'],
  ['2002:0808:0808::1', undefined],
  ['2001:0:7f00:1::', 'loopback'],
  ['2001:0:808:808:0:0:80ff:fffe', 'loopback'],
  ['fd12::5efe:127.0.0.1', 'loopback'],
  ['fd12::200:5efe:127.0.0.1', 'loopback'],
  ['no address', 'reserved'],
  ['', 'reserved'],
])('%s', (address, expected) => {
  expect(refusalOf(address, 443, plain, own)).toBe(expected);
});

test.each<[string, number, Refusal | undefined]>([
  ['10.1.2.3', 6443, 'own'],
  ['10.1.2.3', 443, 'loopback'],
  ['10.1.2.4', 6443, undefined],
  ['2001:db8::9', 6443, 'own'],
  ['::ffff:10.1.2.3', 6443, 'own'],
  ['fe80::5', 6443, 'own'],
  ['127.0.0.2', 6443, 'own'],
  ['0.0.0.0', 6443, 'own'],
])('where the server itself listens: %s port %i', (address, port, expected) => {
  expect(refusalOf(address, port, plain, own)).toBe(expected);
});

test.each<[string, { allow?: string[]; deny?: string[] }, Refusal | undefined]>([
  ['127.0.0.1', { allow: ['127.0.0.0/8'] }, undefined],
  ['::ffff:127.0.0.1', { allow: ['127.0.0.0/8'] }, undefined],
  ['::1', { allow: ['127.0.0.0/8'] }, 'loopback'],
  ['169.254.169.254', { allow: ['127.0.0.0/8'] }, 'metadata'],
  ['64:ff9b::7f00:1', { allow: ['64:ff9b::/96'] }, 'loopback'],
  ['10.0.0.1', { deny: ['10.0.0.0/8'] }, 'denied'],
  ['::ffff:10.0.0.1', { deny: ['10.0.0.0/8'] }, 'denied'],
  ['11.0.0.1', { deny: ['10.0.0.0/8'] }, undefined],
  ['10.0.0.1', { allow: ['10.0.0.0/24'], deny: ['0.0.0.0/0', '::/0'] }, undefined],
  ['10.0.1.1', { allow: ['10.0.0.0/24'], deny: ['0.0.0.0/0', '::/0'] }, 'denied'],
  ['2001:db8::1', { allow: ['10.0.0.0/24'], deny: ['0.0.0.0/0', '::/0'] }, 'denied'],
])('%s under %j', (address, { allow = [], deny = [] }, expected) => {
  expect(refusalOf(address, 443, policyOf({ allow, deny }), own)).toBe(expected);
});

test.each<[string, string[], Refusal | undefined]>([
  ['127.0.0.1', ['127.0.0.0/8'], 'own'],
  ['127.0.0.1', ['127.0.0.1/32'], undefined],
  ['10.1.2.3', ['10.0.0.0/8'], 'own'],
  ['10.1.2.3', ['10.1.2.3/32'], undefined],
])('a range does not lead to the server itself, an address does: %s under %j', (address, allow, expected) => {
  expect(refusalOf(address, 6443, policyOf({ allow, deny: [] }), own)).toBe(expected);
});

test('what is pardoned is dialled, unless the administrator denies it', () => {
  const pardoned = ['loopback', 'own'] as const;
  const policy = policyOf({ allow: [], deny: ['127.0.0.2/32'] }, pardoned);
  expect(refusalOf('127.0.0.1', 6443, policy, own)).toBeUndefined();
  expect(refusalOf('127.0.0.2', 443, policy, own)).toBe('denied');
  expect(refusalOf('169.254.169.254', 443, policy, own)).toBe('metadata');
});

test('what listens on another port of this machine is not reached by its own address, unless that is allowed', () => {
  const at = (allow: string[]) => refusalOf('10.1.2.3', 2379, policyOf({ allow, deny: [] }), own);
  expect([at([]), at(['10.0.0.0/8'])]).toEqual(['loopback', undefined]);
});
