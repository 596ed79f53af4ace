import { failureText } from '../../parts/failure';
import { download } from '../../api/download';
import type { Search } from '../../frame/address';
import { showToast } from '../../parts/toast';
import { filtersOf, sortsOf } from './filters';

/** The name of the saved file for each format that the server can write. */
const fileNames = {
  csv: 'findings.csv',
  jsonl: 'findings.jsonl',
  sarif: 'findings.sarif',
  ocsf: 'findings.ocsf.json',
  asff: 'findings.asff.json',
  junit: 'findings.junit.xml',
  html: 'findings.html',
} as const;
export type Format = keyof typeof fileNames;

export const formats: { format: Format; label: string }[] = [
  { format: 'csv', label: 'CSV, for spreadsheets' },
  { format: 'jsonl', label: 'JSON lines, for programs' },
  { format: 'sarif', label: 'SARIF, for code scanning' },
  { format: 'ocsf', label: 'OCSF, for data lakes' },
  { format: 'asff', label: 'ASFF, for AWS Security Hub' },
  { format: 'junit', label: 'JUnit, for build servers' },
  { format: 'html', label: 'HTML, to read and print' },
];

/** The maximum number of ids in a filter of the API. */
export const maxExportedIds = 1000;

/** Downloads the findings with the given ids as a file, or all that match the filters of the search. A toast shows the outcome. */
export async function exportFindings(search: Search, format: Format = 'csv', ids?: string[]): Promise<void> {
  try {
    const filters = ids ? { findingIds: ids } : filtersOf(search);
    await download('/v2/findings/export', { filters, sorts: sortsOf(search), format }, fileNames[format]);
    showToast(`Saved as ${fileNames[format]}`);
  } catch (cause) {
    showToast(failureText(cause));
  }
}
