/** The bytes are no Kubernetes protobuf message. The messages are those of Kubernetes' decoder: answer 400. */
export class DecodeError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DecodeError';
  }
}

/** The envelope could be read; the message of the object in it could not. */
export class MessageError extends DecodeError {}

/** The object cannot be said in protobuf: its kind publishes no message, or a value has the wrong type. */
export class EncodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EncodeError';
  }
}
