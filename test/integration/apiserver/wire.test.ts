import https from 'node:https';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../kube/protobuf/codec.ts';
import { Reader } from '../../../kube/protobuf/reader.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { type Api, admin, configMap, configMaps, startApi } from './api.ts';

const authority = await createAuthority('wire');
const server = await authority.issueServer(['127.0.0.1']);
const tls = { key: server.privateKey, cert: server.certificate, ca: authority.certificate };
const ca = authority.certificate;

let api: Api;
let url: string;
let store: Store;
/** Creates of objects named `held` wait until this is called; `reached` is when the first of them does. */
let release: () => void;
let reached: Promise<void>;

beforeEach(async () => {
  store = openMemory();
  const create = store.create.bind(store);
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  reached = new Promise((resolve) => {
    store.create = async (...args) => {
      if (args[0].endsWith('/held')) {
        resolve();
        await held;
      }
      return create(...args);
    };
  });
  api = startApi({ store, authenticate: [() => admin] });
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
});
afterEach(async () => {
  release();
  await api.close();
});

interface Answer {
  status: number;
  text: string;
  /** False where the connection went before the answer ended. */
  complete: boolean;
}

interface Asked extends https.RequestOptions {
  body?: string;
  /** Called when the answer's headers are there. */
  begun?: () => void;
}

function request(path: string, { body, begun, ...options }: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const out = https.request(`${url}${path}`, { ca, agent: false, ...options }, (response) => {
      begun?.();
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('close', () =>
        resolve({ status: response.statusCode ?? 0, text, complete: response.complete }),
      );
    });
    out.on('error', reject);
    out.end(body);
  });
}

const post = (name: string) =>
  request(configMaps, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(configMap(name)),
  });

/** What the server says to these bytes, before it closes the connection. */
function say(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), ca }, () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('header limits', () => {
  const mebibyte = 1024 * 1024;

  test('up to 1 MiB of headers are read', async () => {
    const headers = { 'x-large': 'a'.repeat(mebibyte - 10_000) };
    expect((await request('/version', { headers })).status).toBe(200);
  });

  test.each([
    ['one of them', `GET /version HTTP/1.1\r\nhost: a\r\nx-large: ${'a'.repeat(mebibyte)}`],
    ['all of them', `GET /version HTTP/1.1\r\n${`x-a: ${'b'.repeat(1000)}\r\n`.repeat(1048)}`],
    ['the path', `GET /${'a'.repeat(mebibyte)}`],
  ])('more is refused, and the connection goes: %s', async (_, bytes) => {
    expect(await say(bytes)).toBe(
      'HTTP/1.1 431 Request Header Fields Too Large\r\n' +
        'Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n' +
        '431 Request Header Fields Too Large',
    );
  });

  test('what is no HTTP at all', async () => {
    expect(await say('hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });
});

describe('an integer beyond 2^53 of a built-in kind', () => {
  const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
  const [json, yaml, protobuf] = [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
  ];
  const large = 9007199254740993n;
  const text = (name: string) =>
    `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"},"data":{"n":-${large}},"revision":${large}}`;
  const bytes = encodeProtobuf({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'a' },
    data: { n: -large },
    revision: large,
  } as { apiVersion: string; kind: string });

  test.each<[string, string | Uint8Array]>([
    [json, text('a')],
    [yaml, text('a')],
    [protobuf, bytes],
  ])('comes in as %s and goes out exactly', async (type, body) => {
    const transport = api.server.transport(admin);
    const headers = { 'content-type': type };
    const made = await transport({ method: 'POST', url: revisions, headers, body: Buffer.from(body) });
    expect(made.status).toBe(201);
    const read = async (accept: string) => {
      const got = await transport({ method: 'GET', url: `${revisions}/a`, headers: { accept } });
      return Buffer.from(got.body as Uint8Array);
    };
    expect((await read(json)).toString()).toContain(`"revision":${large}`);
    expect((await read(yaml)).toString()).toContain(`revision: ${large}\n`);
    expect((await read(json)).toString()).toContain(`"n":-${large}`);
    expect(decodeProtobuf(await read(protobuf))).toMatchObject({ revision: large, data: { n: -large } });
  });
});

describe('a protobuf watch', () => {
  const accept = 'application/vnd.kubernetes.protobuf;stream=watch';

  /** Every frame of the body: four bytes of length, then a metav1.WatchEvent. */
  async function* frames(body: AsyncIterable<Uint8Array>): AsyncGenerator<[string, KubeObject]> {
    let rest = Buffer.alloc(0);
    for await (const chunk of body) {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
        const end = 4 + rest.readUInt32BE(0);
        yield event(rest.subarray(4, end));
        rest = rest.subarray(end);
      }
    }
    expect(rest).toHaveLength(0);
  }

  function event(bytes: Uint8Array): [string, KubeObject] {
    const reader = new Reader(bytes);
    let type = '';
    let object: KubeObject | undefined;
    while (!reader.done) {
      const field = reader.key();
      if (field === 10) type = reader.string();
      else if (field === 18) {
        const raw = reader.message();
        expect(raw.key()).toBe(10);
        object = decodeProtobuf(raw.bytes());
      }
    }
    if (object === undefined) throw new Error('an event without an object');
    return [type, object];
  }

  test('is framed by length, bookmarks and errors too', async () => {
    await api.call('POST', configMaps, configMap('a', { k: 'v' }));
    const query = 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true';
    const response = await api.server.transport(admin)({
      method: 'GET',
      url: `${configMaps}?${query}&resourceVersionMatch=NotOlderThan`,
      headers: { accept },
    });
    expect(response.headers['content-type']).toBe(accept);
    await api.call('DELETE', `${configMaps}/a`);
    const seen: [string, string, unknown][] = [];
    for await (const [type, { kind, metadata, data }] of frames(response.body as AsyncIterable<Uint8Array>))
      seen.push([type, `${kind} ${metadata.name ?? ''}`, data]);
    expect(seen).toEqual([
      ['ADDED', 'ConfigMap a', { k: 'v' }],
      ['BOOKMARK', 'ConfigMap ', undefined],
      ['DELETED', 'ConfigMap a', { k: 'v' }],
      ['BOOKMARK', 'ConfigMap ', undefined],
    ]);
  });

  test('a revision that is gone is an ERROR event with a Status', async () => {
    await api.call('POST', configMaps, configMap('a'));
    await store.compact(store.revision);
    const response = await api.server.transport(admin)({
      method: 'GET',
      url: `${configMaps}?watch=1&resourceVersion=1`,
      headers: { accept },
    });
    const seen: unknown[] = [];
    for await (const [type, { kind, code }] of frames(response.body as AsyncIterable<Uint8Array>))
      seen.push([type, kind, code]);
    expect(seen).toEqual([['ERROR', 'Status', 410]]);
  });
});

test('the end, over TLS: readyz fails, then watches end cleanly, writes finish, and nobody new comes in', async () => {
  const write = post('held');
  let watch: Promise<Answer> | undefined;
  await new Promise<void>((begun) => {
    watch = request(`${configMaps}?watch=1&allowWatchBookmarks=true`, { begun });
  });
  await reached;
  expect((await request('/readyz')).text).toBe('ok');
  expect((await post('before')).status).toBe(201);
  api.server.drain();
  expect((await request('/readyz')).status).toBe(500);
  expect((await request('/livez')).status).toBe(200);
  expect((await post('while')).status).toBe(201);
  const closed = api.server.close();
  const ended = await watch;
  expect(ended).toMatchObject({ status: 200, complete: true });
  const events = (ended?.text ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const added = events.filter(({ type }) => type === 'ADDED');
  expect(added.map(({ object }) => object.metadata.name)).toEqual(['before', 'while']);
  expect(events.at(-1)?.type).toBe('BOOKMARK');
  await expect(request('/livez')).rejects.toThrow('ECONNREFUSED');
  release();
  expect(await write).toMatchObject({ status: 201, complete: true });
  await closed;
});
