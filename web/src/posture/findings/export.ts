import { failureText } from '../../parts/failure';
import { download } from '../../api/download';
import type { Search } from '../../frame/address';
import { showToast } from '../../parts/toast';
import { filtersOf, sortsOf } from './filters';

export type Format = 'csv' | 'jsonl';

/** Has the server write every finding of the list to a file. Times are ISO. */
export async function exportFindings(search: Search, format: Format = 'csv'): Promise<void> {
  try {
    await download('/v2/findings/export', { filters: filtersOf(search), sorts: sortsOf(search), format }, `findings.${format}`);
    showToast(`Saved as findings.${format}`);
  } catch (cause) {
    showToast(failureText(cause));
  }
}
