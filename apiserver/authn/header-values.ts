import type { ApiRequest } from '../../kube/http.ts';

/** What a header says, each time that it came: a group may have a comma in its name, and letters that are not ASCII's. */
export function allHeaderValues({ headers, distinct }: ApiRequest, name: string): string[] {
  // Node shows the bytes of what came over a wire as if each were a letter.
  const sent = distinct?.[name]?.map((one) => Buffer.from(one, 'latin1').toString());
  const { [name]: only } = headers;
  return sent ?? (only === undefined ? [] : [only]);
}

/** Those that say something. */
export function headerValues(request: ApiRequest, name: string): string[] {
  return allHeaderValues(request, name).filter((one) => one !== '');
}
