import { failureText } from '../../parts/failure';
import { download } from '../../api/download';
import type { Search } from '../../frame/address';
import { showToast } from '../../parts/toast';
import { filtersOf, sortsOf } from './filters';

/** Formats of the server, with the name of the file. */
const files = {
  csv: 'findings.csv',
  jsonl: 'findings.jsonl',
  sarif: 'findings.sarif',
  ocsf: 'findings.ocsf.json',
  asff: 'findings.asff.json',
  junit: 'findings.junit.xml',
  html: 'findings.html',
} as const;
export type Format = keyof typeof files;

export const formats: { format: Format; label: string }[] = [
  { format: 'csv', label: 'CSV, for spreadsheets' },
  { format: 'jsonl', label: 'JSON lines, for programs' },
  { format: 'sarif', label: 'SARIF, for code scanning' },
  { format: 'ocsf', label: 'OCSF, for data lakes' },
  { format: 'asff', label: 'ASFF, for AWS Security Hub' },
  { format: 'junit', label: 'JUnit, for build servers' },
  { format: 'html', label: 'HTML, to read and print' },
];

/** The API takes no more ids in a filter. */
export const mostExported = 1000;

/** Has the server write every finding of the list to a file, or only those with the given ids. Times are ISO. */
export async function exportFindings(search: Search, format: Format = 'csv', ids?: string[]): Promise<void> {
  try {
    const filters = ids ? { findingIds: ids } : filtersOf(search);
    await download('/v2/findings/export', { filters, sorts: sortsOf(search), format }, files[format]);
    showToast(`Saved as ${files[format]}`);
  } catch (cause) {
    showToast(failureText(cause));
  }
}
