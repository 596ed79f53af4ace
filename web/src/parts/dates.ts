/** The local date of a time, as a date field has it. */
export const dateOf = (at: string | number | undefined): string =>
  at === undefined ? '' : new Date(new Date(at).getTime() - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);

/**
 * The time of a date field: its date at the given local time of day. A date field loses the time of day of the time that it was filled
 * from. So if the date has not changed, that time is returned.
 */
export function timeOf(date: string, clock: string, filledFrom?: string): string | undefined {
  if (date === '') return undefined;
  return filledFrom && date === dateOf(filledFrom) ? filledFrom : new Date(`${date}T${clock}`).toISOString();
}
