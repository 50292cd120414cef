import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readBundles } from '../bundles/bundle.ts';

/** An app that moves as a whole. */
export interface App {
  files: readonly string[];
  /** Services whose pods answer. */
  frontend: string;
  backend: string;
  /** Labels of the pods that are run, and how many there are where each has one replica: what no Service selects is kwok's. */
  served: string;
  pods: number;
}

const shop = fileURLToPath(new URL('../../sim/samples/shop.yaml', import.meta.url));

/** Online Boutique of the folder that `make bundles` reads, where it is there; else our own sample. */
export async function appOf(dir: string): Promise<App> {
  const bundles = existsSync(join(dir, 'bundles.json')) ? await readBundles(dir) : [];
  const boutique = bundles.find(({ name }) => name === 'online-boutique');
  // Its autoscaler keeps three of the backend.
  if (!boutique) return { files: [shop], frontend: 'web', backend: 'api', served: 'app=shop', pods: 5 };
  const served = 'app,app notin (loadgenerator)';
  return { files: boutique.files, frontend: 'frontend', backend: 'cartservice', served, pods: 11 };
}
