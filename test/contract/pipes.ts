import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPipe } from '../../storage/pipe/pipe.ts';
import { serveStore } from '../../storage/pipe/serve.ts';
import type { Store } from '../../storage/store.ts';
import type { StoreUnderTest } from './store.ts';

/** Two ends of one stream. */
export async function channelPair(): Promise<[Socket, Socket]> {
  const directory = await mkdtemp(join(tmpdir(), 'pipe-'));
  const server = createServer();
  server.listen(join(directory, 's'));
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const near = connect(join(directory, 's'));
  const [far] = (await accepted) as [Socket];
  if (near.connecting) await once(near, 'connect');
  server.close();
  await rm(directory, { recursive: true });
  return [near, far];
}

/** A pipe to a store. */
export async function pipeTo(
  store: Store,
): Promise<{ pipe: Store; near: Socket; far: Socket; closed: Promise<void> }> {
  const [near, far] = await channelPair();
  const { closed } = serveStore(store, far);
  return { pipe: await openPipe(near, { keeps: () => true }), near, far, closed };
}

/** What is under test, but at the other end of a pipe. */
export async function behindPipe(under: StoreUnderTest): Promise<StoreUnderTest> {
  let { pipe, closed } = await pipeTo(under.store);
  const { reopen } = under;
  const letGo = async (): Promise<void> => {
    await pipe.close();
    await closed;
  };
  return {
    store: pipe,
    dispose: async () => {
      await letGo();
      await under.dispose();
    },
    ...(reopen !== undefined && {
      reopen: async () => {
        await letGo();
        ({ pipe, closed } = await pipeTo(await reopen()));
        return pipe;
      },
    }),
  };
}
