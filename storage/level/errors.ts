import { StoreError } from '../store.ts';
import { errorCode } from './files.ts';

/** What an error of LevelDB or of the file system means for a store in `directory`. */
export function translate(error: unknown, directory: string): StoreError {
  if (error instanceof StoreError) return error;
  const text = messages(error);
  if (/no space left|ENOSPC|disk quota|EDQUOT|file too large|EFBIG/i.test(text)) {
    return new StoreError('full', `the disk of ${directory} is full`, { cause: error });
  }
  if (/EROFS|read-only file system/i.test(text)) {
    return new StoreError(
      'unavailable',
      `the store in ${directory} cannot be written: its file system is for reading only`,
      {
        cause: error,
      },
    );
  }
  if (/permission denied/i.test(text)) {
    const message = `the store in ${directory} is not for this user to read and write: ${text}`;
    return new StoreError('unavailable', message, { cause: error });
  }
  if (/too many open files|input\/output error/i.test(text)) {
    return new StoreError('unavailable', `the disk of ${directory} failed: ${text}`, { cause: error });
  }
  if (/LEVEL_LOCKED/.test(text)) {
    return new StoreError('unavailable', `${directory} is open in another process`, { cause: error });
  }
  // What a table that is too short says when it is mapped or read.
  if (/\.(ldb|sst): invalid argument/i.test(text)) return corrupt(directory, text, error);
  if (
    /LEVEL_CORRUPTION|corrupt|does not exist|NotFound|no such file|CURRENT|MANIFEST|missing files/i.test(text)
  ) {
    return corrupt(directory, text, error);
  }
  return new StoreError('unavailable', `the store in ${directory} failed: ${text}`, { cause: error });
}

/** A damaged store is never opened half: the message says what is wrong and what to run. */
export function corrupt(directory: string, problem: string, cause?: unknown): StoreError {
  const message = `the store in ${directory} is damaged: ${problem}. To repair it, run: atoll store repair --data-dir ${directory}`;
  return new StoreError('corrupt', message, { cause });
}

/** An error's codes and messages, with those of its causes. */
function messages(error: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = errorCode(at);
    // Those of the operating system begin with it.
    parts.push(code === undefined || at.message.startsWith(code) ? at.message : `${code}: ${at.message}`);
  }
  return parts.join(': ') || String(error);
}
