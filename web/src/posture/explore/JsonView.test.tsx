import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { JsonView } from './JsonView';

// The JSON of a string is the string with two quotes, so the string is two characters shorter than its JSON.
const shown = (length: number) => renderToStaticMarkup(<JsonView answer={'x'.repeat(length - 2)} />);

test('a JSON that is cut says so and can be saved as a whole', () => {
  expect(shown(200_000)).not.toContain('characters');
  const cut = shown(200_001);
  expect(cut).toContain('The first 200,000 of 200,001 characters.');
  expect(cut).toContain('Save all of it');
});
