import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bodies, configMaps, definitions, otherEncodings, urls, widgetDefinition, widgets } from './cases.ts';
import { schemas } from './schemas.ts';
import { startVictim, type Victim } from './victim.ts';

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim();
  // The first request waits for what every server has.
  await victim.send({ name: '', path: configMaps, code: 200 });
});
afterAll(() => victim.stop());

const all = [...bodies, ...otherEncodings, ...urls, ...schemas].map(
  (hostile) => [hostile.name, hostile] as const,
);

/** What takes more than its share takes minutes of the server's one thread, and so ends the test. */
describe('hostile requests', () => {
  test.each(all)('%s', async (_name, hostile) => {
    const before = await victim.state();
    const answer = await victim.send(hostile);
    expect({ code: answer.code, reason: answer.status?.reason }).toEqual({
      code: hostile.code,
      reason: hostile.reason ?? answer.status?.reason,
    });
    if (hostile.message !== undefined) expect(answer.status?.message).toContain(hostile.message);
    if (hostile.code >= 400) expect(answer.text.length).toBeLessThan(5 * 1024 * 1024);
    const after = await victim.state();
    expect(after.revision).toBe(before.revision);
  });

  test('no log line carries a control character, nor ends where somebody else says', async () => {
    const agent = { 'user-agent': 'a\u009b31m\u00ffb', authorization: 'Bearer \u00ff\u009b' };
    await victim.send({ name: '', path: `${configMaps}/%0a%1b%5b31m%c2%9b`, headers: agent, code: 401 });
    await victim.fail('\n{"level":"error"}\u001b[31m\u009b31m\u2028\u202e');
    await expect.poll(() => victim.log()).toContain('hostile failure');
    const log = victim.log();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(log).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
    for (const line of log.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ level: expect.anything() });
  });
});

const json = { 'content-type': 'application/json' };
const legal = (path: string, body: string, code = 201) => ({
  name: '',
  method: 'POST',
  path,
  headers: json,
  body,
  code,
});

describe('odd but legal', () => {
  test.each([
    ['__proto__ and constructor as keys', '{"__proto__":"x","constructor":"y","toString":"z"}'],
    ['NUL and colours in values', '{"a":"\\u0000\\u001b[31m"}'],
    ['a lone surrogate becomes U+FFFD', '{"a":"x\\ud800y"}', '{"a":"x\ufffdy"}'],
    ['bad UTF-8 becomes U+FFFD', '{"a":"x\xffy"}', '{"a":"x\ufffdy"}'],
  ])('%s', async (_name, data, kept = data) => {
    const body = Buffer.from(`{"metadata":{"name":"odd"},"data":${data}}`, 'latin1');
    const made = await victim.send({ ...legal(configMaps, ''), body });
    expect(made.code).toBe(201);
    const got = await victim.send({ name: '', path: `${configMaps}/odd`, code: 200 });
    expect(Object.entries(JSON.parse(got.text).data)).toEqual(Object.entries(JSON.parse(kept)));
    await victim.send({ name: '', method: 'DELETE', path: `${configMaps}/odd`, code: 200 });
  });

  test('integers beyond 2^53 are kept through every verb', async () => {
    await victim.send(legal(definitions, JSON.stringify(widgetDefinition)));
    const large = '9007199254740993';
    const larger = '9223372036854775807';
    const spec = (n: string) => `"spec":{"n":${n},"any":{"deep":[-${large}]}}`;
    const head = '"apiVersion":"hostile.example/v1","kind":"Widget"';
    await expect
      .poll(
        async () =>
          (await victim.send(legal(widgets, `{${head},"metadata":{"name":"w"},${spec(large)}}`))).code,
      )
      .toBe(201);
    const one = `${widgets}/w`;
    const holds = async (n: string) => {
      for (const path of [one, widgets, `${widgets}?watch=1&timeoutSeconds=1`]) {
        const { text } = await victim.send({ name: '', path, code: 200 });
        expect(text).toContain(`"n":${n}`);
        expect(text).toContain(`[-${large}]`);
      }
    };
    await holds(large);
    const send = (method: string, type: string, path: string, body: string) =>
      victim.send({
        name: '',
        method,
        path,
        headers: { 'content-type': `application/${type}` },
        body,
        code: 200,
      });
    const { text } = await victim.send({ name: '', path: one, code: 200 });
    expect((await send('PUT', 'json', one, text.replace(`"n":${large}`, `"n":${larger}`))).code).toBe(200);
    await holds(larger);
    expect((await send('PATCH', 'merge-patch+json', one, `{"spec":{"n":${large}}}`)).code).toBe(200);
    await holds(large);
    const replace = `[{"op":"test","path":"/spec/n","value":${large}},{"op":"replace","path":"/spec/n","value":${larger}}]`;
    expect((await send('PATCH', 'json-patch+json', one, replace)).code).toBe(200);
    await holds(larger);
    const wrong = replace.replace(large, '9007199254740992');
    expect((await send('PATCH', 'json-patch+json', one, wrong)).code).toBe(422);
    const apply = `{${head},"metadata":{"name":"w"},"spec":{"n":${large}}}`;
    expect((await send('PATCH', 'apply-patch+yaml', `${one}?fieldManager=t&force=true`, apply)).code).toBe(
      200,
    );
    await holds(large);
  });

  test('printer columns with paths like bombs', async () => {
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const answer = await victim.send({ name: '', path: widgets, headers: { accept }, code: 200 });
    expect(JSON.parse(answer.text).kind).toBe('Table');
  });
});
