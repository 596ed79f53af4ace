/** The local date of a time, as a date field has it. */
export const dateOf = (at: string | number | undefined): string =>
  at === undefined ? '' : new Date(new Date(at).getTime() - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);

/**
 * The time that a date field means, at a local time of that day. A field has no time of day: if it still shows the date that it was
 * filled from, the time is the one that it was filled from.
 */
export function timeOf(date: string, clock: string, filledFrom?: string): string | undefined {
  if (date === '') return undefined;
  return filledFrom && date === dateOf(filledFrom) ? filledFrom : new Date(`${date}T${clock}`).toISOString();
}
