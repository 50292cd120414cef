import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A published type's description and those of its fields. */
export interface TypeDocs {
  readonly type: string | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

/** As scripts/generate/types/descriptions.go wrote them: numbers of texts, -1 for none. */
interface Descriptions {
  readonly texts: readonly string[];
  readonly types: Readonly<
    Record<string, { readonly t: number; readonly f?: Readonly<Record<string, number>> }>
  >;
}

let loaded: Descriptions | undefined;

/** Read when somebody asks for a document, which few do and none at the start. */
function descriptions(): Descriptions {
  loaded ??= JSON.parse(
    gunzipSync(readFileSync(new URL('./generated/descriptions.json.gz', import.meta.url))).toString('utf8'),
  ) as Descriptions;
  return loaded;
}

export const noDocs: TypeDocs = { type: undefined, fields: new Map() };
const known = new Map<string, TypeDocs>();

/** The descriptions of `io.k8s.api.apps.v1.Deployment`, as kube-apiserver publishes them; none of an unknown type. */
export function docsOf(name: string): TypeDocs {
  const { texts, types } = descriptions();
  if (!Object.hasOwn(types, name)) return noDocs;
  let docs = known.get(name);
  if (docs === undefined) {
    const fields = Object.entries(types[name]?.f ?? {});
    docs = {
      type: texts[types[name]?.t ?? -1],
      fields: new Map(fields.map(([field, text]) => [field, texts[text] ?? ''])),
    };
    known.set(name, docs);
  }
  return docs;
}
