import { expect, test } from 'vitest';
import { hasFormat } from '../../../../kube/validation/formats.ts';

/** As kube-apiserver 1.36.3 answered to each, in a string of a custom resource. */
const table: Readonly<Record<string, { good: string[]; bad: string[] }>> = {
  bsonobjectid: { good: ['507f1f77bcf86cd799439011'], bad: ['', '507f1f77bcf86cd79943901g', '12345678'] },
  uri: {
    good: ['http://a.b', '/x', '//x', 'mailto:x@y', 'a:b', 'fe80::1%eth0', 'http://a/?b=%zz'],
    bad: ['', 'x/y', '%zz', 'http://a/%zz', 'http://a b'],
  },
  email: {
    good: ['x@y', 'x@y.z', '"a b"@c', '<x@y>', 'Name <x@y.z>', 'x@[1.2.3.4]'],
    bad: ['', 'a', 'x@', 'x@y z', 'mailto:x@y', '@y', 'a@b@c', 'a..b@c', '""@c', 'N <x@y', 'x@[y]'],
  },
  hostname: {
    good: ['a', 'A', 'localhost', 'a-b.c.cde', '123', 'a-', 'x'.repeat(63)],
    bad: ['', 'a.b', 'xn--a', 'a_b.c', '-a', 'a..b', 'a.b.', '1.2.3.4', '::1', 'x'.repeat(64)],
  },
  ipv4: { good: ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'], bad: ['', '1.2.3', '::1', '10.0.0.0/8'] },
  ipv6: { good: ['::1', '::ffff:1.2.3.4'], bad: ['', '1.2.3.4', 'fe80::1%eth0'] },
  cidr: { good: ['10.0.0.0/8', '10.1.2.3/8', '2001:db8::/32'], bad: ['', '10.0.0.0/33', '1.2.3.4'] },
  mac: {
    good: [
      '00:11:22:33:44:55',
      '00-11-22-33-44-55',
      '0011.2233.4455',
      '00:11:22:33:44:55:66:77',
      '4111111111111111',
    ],
    bad: ['', '00:11-22:33:44:55', '00:11:22:33:44', '0011:2233:4455', 'g'.repeat(12)],
  },
  uuid: {
    good: ['550e8400-e29b-41d4-a716-446655440000', '550E8400E29B41D4A716446655440000'],
    bad: ['', '{550e8400-e29b-41d4-a716-446655440000}'],
  },
  uuid3: { good: ['550e8400-e29b-31d4-c716-446655440000'], bad: ['550e8400-e29b-41d4-a716-446655440000'] },
  uuid4: { good: ['550e8400-e29b-41d4-a716-446655440000'], bad: ['550e8400-e29b-41d4-c716-446655440000'] },
  uuid5: { good: ['550e8400-e29b-51d4-a716-446655440000'], bad: ['550e8400-e29b-51d4-c716-446655440000'] },
  isbn: {
    good: ['0306406152', '0-306-40615-2', '978-0-306-40615-7'],
    bad: ['', '9780306406158', '123456789'],
  },
  isbn10: { good: ['0306406152'], bad: ['9780306406157', '0306406153'] },
  isbn13: { good: ['9780306406157'], bad: ['0306406152'] },
  creditcard: {
    good: ['4111111111111111', '4111-1111-1111-1111', '378282246310005'],
    bad: ['', '4111111111111112', 'a'],
  },
  ssn: { good: ['123-45-6789', '123 45 6789'], bad: ['', '123456789'] },
  hexcolor: { good: ['#fff', '#FFFFFF', 'fff'], bad: ['', '#ffff', '#ggg'] },
  rgbcolor: {
    good: ['rgb(1,2,3)', 'rgb( 0 , 0 , 0 )', 'rgb(1, 2, 3)'],
    bad: ['', 'rgb(256,2,3)', 'rgb(1,2)', 'rgb(1,2,3,)', 'rgb(1,2,3,4)', 'rgb(123)'],
  },
  byte: { good: ['YQ==', 'YWE=', 'YWFh'], bad: ['', 'YQ', 'Y!==', '===='] },
  password: { good: ['', 'anything'], bad: [] },
  date: {
    good: ['2020-01-01', '2020-02-29', '0001-01-01'],
    bad: ['', '2020-02-30', '2021-02-29', '2020-2-3', '2020-13-01', '20200101'],
  },
  duration: {
    good: [
      '1h',
      '1h1m',
      '-1h',
      '0',
      '1.5h',
      '.5s',
      '1d',
      '1w',
      '1 h',
      '1week',
      '3 days',
      '1us',
      '1µs',
      '22 ns',
    ],
    bad: ['', 'a', '1', '1x', '99999999999999999999 days'],
  },
  'date-time': {
    good: [
      '2020-01-01T00:00:00Z',
      '2020-01-01t00:00:00z',
      '2020-01-01T00:00:00.123456789123Z',
      '2020-01-01T00:00:00+25:00',
    ],
    bad: [
      '',
      '2020-01-01',
      '2020-02-30T00:00:00Z',
      '2020-01-01T24:00:00Z',
      '2020-01-01T00:60:00Z',
      '2020-01-01T00:00:60Z',
      '2020-01-01 00:00:00Z',
      '2020-01-01T00:00:00',
      '2020-01-01T00:00:00+0100',
    ],
  },
  'k8s-short-name': { good: ['a', 'a-b', '1a'], bad: ['', 'A', 'a.b', '-a', 'a-', 'x'.repeat(64)] },
  'k8s-long-name': { good: ['a.b', 'x'.repeat(64)], bad: ['', 'A', 'a..b', 'a.b.', 'x'.repeat(254)] },
};

test.each(Object.entries(table))(
  'a text of the format %s is what kube-apiserver takes for one',
  (format, { good, bad }) => {
    expect(good.filter((value) => !hasFormat(value, format))).toEqual([]);
    expect(bad.filter((value) => hasFormat(value, format))).toEqual([]);
  },
);

test('a format that means nothing is held to nothing', () => {
  expect(hasFormat('x', 'no-such')).toBe(true);
});
