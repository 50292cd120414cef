import { EventEmitter, once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type Container, startContainer } from '../../kubelet/container.ts';

const address = '127.200.0.1';
const port = 28_080;
let container: Container | undefined;
afterEach(() => container?.kill());

const ask = async (agent: Agent): Promise<IncomingMessage> => {
  const [answer] = (await once(get({ agent, host: address, port }), 'response')) as [IncomingMessage];
  return answer.resume();
};

it('a container that is told to end refuses connections at once, and answers what it was asked', async () => {
  let answer = () => {};
  const told = new EventEmitter();
  const asked = once(told, 'asked');
  container = await startContainer(address, [port], (_request, response) => {
    answer = () => void response.end('late');
    told.emit('asked');
  });
  const agent = new Agent({ keepAlive: true });
  const answered = ask(agent);
  await asked;
  const ended = container.terminate(60_000);
  const [refused] = (await once(connect(port, address), 'error')) as [NodeJS.ErrnoException];
  expect(refused.code).toBe('ECONNREFUSED');
  answer();
  expect((await answered).headers.connection).toBe('close');
  await ended;
  agent.destroy();
});

it('a container that answers nobody within its grace is killed', async () => {
  const told = new EventEmitter();
  const asked = once(told, 'asked');
  container = await startContainer(address, [port], () => told.emit('asked'));
  const agent = new Agent();
  const answered = ask(agent).catch((error: NodeJS.ErrnoException) => error.code);
  await asked;
  await container.terminate(0);
  expect(await answered).toBe('ECONNRESET');
});
