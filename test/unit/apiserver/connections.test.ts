import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Connections } from '../../../apiserver/wire/connections.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function open() {
  const server = new EventEmitter();
  const connections = new Connections(server as Server);
  const sockets = new Set<number>();
  const connect = (remotePort: number, complete: boolean) => {
    const destroy = () => sockets.delete(remotePort);
    const socket = Object.assign(new EventEmitter(), { remoteAddress: '', remotePort, destroy }) as object;
    sockets.add(remotePort);
    server.emit('secureConnection', socket as Socket);
    return connections.begun({ socket, complete } as IncomingMessage);
  };
  return { connections, sockets, connect };
}

test('what is cut is neither at work nor in the middle of an answer that came late', () => {
  const { connections, sockets, connect } = open();
  connect(1, false);
  connect(2, true);
  const [early, late] = [connect(3, true), connect(4, true)];
  connections.answered(early);
  vi.advanceTimersByTime(1999);
  connections.answered(late);
  vi.advanceTimersByTime(1);
  connections.cut(2000);
  expect(sockets).toEqual(new Set([2, 4]));
  vi.advanceTimersByTime(2000);
  connections.cut(2000);
  expect(sockets).toEqual(new Set([2]));
  connections.cutAll();
  expect(sockets).toEqual(new Set());
});

test('what is answered after its client has left is forgotten all the same', () => {
  const { connections, sockets, connect } = open();
  const request = connect(1, true);
  connections.ended(request);
  connections.answered(request);
  connections.cut(2000);
  expect(sockets).toEqual(new Set());
});
