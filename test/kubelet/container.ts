import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';

/** What runs in a pod: an HTTP server at each of its ports. */
export interface Container {
  /** As SIGTERM does to most programs: takes no connection from now on, ends when it has answered, or after `graceMs`. */
  terminate(graceMs: number): Promise<void>;
  kill(): void;
}

export async function startContainer(
  address: string,
  ports: readonly number[],
  answer: RequestListener,
): Promise<Container> {
  const open = new Set<ServerResponse>();
  const servers = ports.map((port) => {
    const server = createServer((request, response) => {
      open.add(response);
      response.once('close', () => open.delete(response));
      answer(request, response);
    });
    server.keepAliveTimeout = 60_000;
    server.listen(port, address);
    return server;
  });
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const kill = () => {
    for (const server of servers) server.close().closeAllConnections();
  };
  return {
    kill,
    terminate: async (graceMs) => {
      // Whoever is about to end keeps no connection for later.
      for (const response of open) response.shouldKeepAlive = false;
      const closed = Promise.all(servers.map((server) => once(server.close(), 'close')));
      const killed = setTimeout(kill, graceMs);
      await closed;
      clearTimeout(killed);
    },
  };
}
