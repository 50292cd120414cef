import { parseApiVersion } from '../../kube/gvk.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { InVersion } from '../../kube/patch/ownership.ts';
import type { Schema } from '../../kube/schema/schema.ts';
import type { ServedResource } from '../served.ts';

/** Of a registry whose objects somebody else converts as they are read and written. */
export interface Converting {
  /** What would be read of the object once it was written. */
  written(object: KubeObject): Promise<KubeObject>;
  /** In another version of its definition, as whoever converts it says. */
  inVersion(object: KubeObject, as: ServedResource): Promise<KubeObject>;
}

type Shown = { object: KubeObject; schema: Schema };

class NotYet extends Error {}

/**
 * What `run` comes to, which needs objects in other versions of their definition, and cannot wait for them: it is run until all
 * that it asks for is there. It must do nothing but answer.
 */
export async function withVersions<T>(
  converting: Converting,
  { conversion }: ServedResource,
  run: (inVersion: InVersion) => T,
): Promise<T> {
  const known = new Map<string, Shown | undefined>();
  for (;;) {
    const due = { id: '', object: undefined as KubeObject | undefined, apiVersion: '' };
    try {
      return run((object, apiVersion) => {
        const id = `${apiVersion} ${encodeJson(object)}`;
        if (known.has(id)) return known.get(id);
        Object.assign(due, { id, object, apiVersion });
        throw new NotYet();
      });
    } catch (error) {
      if (!(error instanceof NotYet) || due.object === undefined) throw error;
    }
    const as = conversion?.versions.get(parseApiVersion(due.apiVersion).version);
    const object = as && (await converting.inVersion(due.object, as));
    known.set(due.id, as && object && { object, schema: as.schema });
  }
}
