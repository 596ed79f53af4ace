/** A cell that a spreadsheet does not take for a formula. */
function cell(value: string | number): string {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && typeof value === 'string' ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csv = (head: string[], rows: (string | number)[][]) =>
  [head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
