import { expect, it } from 'vitest';
import { csv } from './csv';

it('quotes cells and keeps formulas from being run', () => {
  expect(csv(['a'], [['=1+1'], ['x,"y"'], [-3]])).toBe('a\r\n\'=1+1\r\n"x,""y"""\r\n-3\r\n');
});
