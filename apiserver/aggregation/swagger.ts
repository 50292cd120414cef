import { decodeJsonInTurns } from '../../kube/json.ts';
import { type OtherSwagger, otherSwagger } from '../../kube/openapi/extension.ts';
import { builtinDefinitions } from '../../kube/openapi/openapi.ts';
import { othersFirst, Pace } from '../../kube/others-first.ts';
import { Slots } from '../../kube/slots.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Question } from './kept.ts';
import { documentsUser } from './openapi.ts';

/** Of all logical clusters in this process: as a value a document may be twenty times as long as its text. */
const reading = new Slots(2);
const never = new AbortController().signal;

/** What another API server's OpenAPI 2 document says of the group and version that its APIService is of. */
export const swaggerQuestion: Question<OtherSwagger> = {
  name: 'openapi v2',
  path: () => '/openapi/v2',
  user: documentsUser,
  mostBytes: 2 << 20,
  inTurn: true,
  freshMs: 60_000,
  retryMs: 10_000,
  mayBeAbsent: true,
  read: async (answer, service, cluster) => {
    const release = await reading.take(never);
    try {
      const document = await decodeJsonInTurns(answer, () => othersFirst(cluster));
      if (!isRecord(document)) return undefined;
      const pace = new Pace(cluster);
      const value = await otherSwagger(document, service, builtinDefinitions(), (bytes) => pace.after(bytes));
      return { value, bytes: bytesOf(value) };
    } finally {
      release();
    }
  },
};

/** What a text takes besides its characters: a document may have a hundred thousand of them. */
const textBytes = 64;

function bytesOf({ paths, definitions, parameters, protobuf }: OtherSwagger): number {
  const texts = [paths, definitions, parameters].flatMap((map) => [...map].flat());
  return texts.reduce((sum, text) => sum + text.length + textBytes, protobuf.length);
}
