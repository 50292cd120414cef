/** Every field of a type has its text, or what names it does not compile. */
export type Texts<T> = Record<keyof T & string, string>;

export interface KindTexts {
  kind: string;
  spec: string;
  status: string;
}
