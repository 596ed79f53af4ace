import { readError, ApiError } from './error';
import { lost, reached } from './connection';
import { csrf } from './request';

/** Downloads an export as a file. The answer becomes a Blob, which the browser keeps outside of the memory of the page's scripts. */
export async function download(path: string, body: unknown, fileName: string): Promise<void> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf() },
      body: JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch {
    lost();
    throw new ApiError(0, 'The server cannot be reached.');
  }
  reached();
  if (!answer.ok) throw await readError(answer);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await answer.blob());
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
