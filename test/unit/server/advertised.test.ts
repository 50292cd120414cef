import { expect, test } from 'vitest';
import { advertised } from '../../../server/run.ts';
import { resolveSettings } from '../../../server/settings.ts';

test.each([
  ['https://0.0.0.0:6443', 'none', 'https://127.0.0.1:6443'],
  ['https://[::]:6443', 'none', 'https://[::1]:6443'],
  ['https://10.0.0.1:6443', 'lb.example.com', 'https://lb.example.com:6443'],
  ['https://10.0.0.1:443', 'lb.example.com', 'https://lb.example.com'],
  ['https://10.0.0.1:6443', 'lb.example.com:443', 'https://lb.example.com:443'],
  ['https://10.0.0.1:443', '::2', 'https://[::2]'],
])('a server at %s, advertised: %s, is found at %s', (url, address, found) => {
  const flags = address === 'none' ? {} : { advertiseAddress: address };
  expect(advertised(url, resolveSettings(flags, undefined, {}))).toBe(found);
});
