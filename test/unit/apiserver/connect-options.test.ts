import { expect, test } from 'vitest';
import {
  connectOptions,
  proxiedPath,
  queryOf,
  readQuery,
} from '../../../apiserver/handlers/pods/connect-options.ts';

const exec = (query: string) => connectOptions('PodExecOptions', readQuery(`/exec?${query}`));

test.each<[string, object, string]>([
  ['command=a&command=b%20c', { command: ['a', 'b c'] }, '?command=a&command=b%20c'],
  ['command=a+b&command=', { command: ['a b', ''] }, '?command=a%20b&command='],
  ['command=a=b%26', { command: ['a=b&'] }, '?command=a%3Db%26'],
  ['container=x;&container=main', { container: 'main', command: [] }, '?container=main'],
  ['container=x%zz&container=main', { container: 'main', command: [] }, '?container=main'],
  ['container=%&container=main', { container: 'main', command: [] }, '?container=main'],
  ['container=a%3Bb', { container: 'a;b', command: [] }, '?container=a%3Bb'],
  ['container=&container=debug', { command: [] }, ''],
  ['con%74ainer=a&container=b', { container: 'a', command: [] }, '?container=a'],
  [
    'stdin&tty=FALSE&stdout=0&stdout=1&stderr=',
    { stdin: true, stderr: true, command: [] },
    '?stdin=true&stderr=true',
  ],
  ['unknown=1', { command: [] }, ''],
  ['&&', { command: [] }, ''],
])('%s is what is seen and what is sent', (query, seen, sent) => {
  expect(exec(query)).toEqual(seen);
  expect(queryOf(exec(query))).toBe(sent);
  expect(exec(queryOf(exec(query)).slice(1))).toEqual(seen);
});

test('each kind of connection has its own options', () => {
  const query = readQuery('/x?command=a&ports=80&ports=81&container=c&stdin=1');
  expect(connectOptions('PodAttachOptions', query)).toEqual({ stdin: true, container: 'c' });
  expect(connectOptions('PodPortForwardOptions', query)).toEqual({ ports: [80, 81] });
  expect(queryOf({ ports: [80, 81] })).toBe('?ports=80&ports=81');
  expect(queryOf(connectOptions('PodPortForwardOptions', readQuery('/x')))).toBe('');
});

test('what is no text is refused', () => {
  const refused = expect.objectContaining({ code: 400 });
  expect(() => exec('container=%ff')).toThrow(refused);
  expect(() => proxiedPath('/%ff')).toThrow(refused);
  expect(() => proxiedPath('/%s')).toThrow(refused);
});

test.each([
  ['', ''],
  ['/', '/'],
  ['//', '/'],
  ['/secret', '/secret'],
  ['/%73ecret', '/secret'],
  ['/a%2Fb?c=%2F', '/a/b'],
  ['//secret', '/secret'],
  ['/%2Fsecret//', '/secret/'],
  ['///secret', '//secret'],
  ['/a//b/', '/a//b/'],
  ['/\xc3\xa9', '/é'],
  ['/a;b+c', '/a;b+c'],
])('%j after /proxy is the path %j', (tail, path) => expect(proxiedPath(tail)).toBe(path));
