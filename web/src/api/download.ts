import { readError, ApiError } from './error';
import { lost, reached } from './connection';
import { csrf } from './request';

/** Asks for an export and hands it to the browser as a file. The server streams it; the browser keeps it outside of the page's memory. */
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
    throw new ApiError(0, 'The server is not reached.');
  }
  reached();
  if (!answer.ok) throw await readError(answer);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await answer.blob());
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
