import { download } from '../../api/download';
import { ApiError } from '../../api/error';
import type { Search } from '../../frame/address';
import { sentence } from '../../parts/text';
import { say } from '../../parts/toast';
import { filtersOf, sortsOf } from './filters';

export type Format = 'csv' | 'jsonl';

/** Has the server write every finding of the list to a file. Times are ISO. */
export async function exportFindings(search: Search, format: Format = 'csv'): Promise<void> {
  try {
    await download('/v2/findings/export', { filters: filtersOf(search), sorts: sortsOf(search), format }, `findings.${format}`);
    say(`Saved as findings.${format}`);
  } catch (cause) {
    say(cause instanceof ApiError ? sentence(cause.message) : 'That failed.');
  }
}
