import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

/** Hexadecimal or decimal digits, with the suffix of a type: 0xFFL, 2.5e3, 1_000i. */
const number = /^(?:0x[\da-f_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:e[+-]?\d[\d_]*)?)[bsilnfdm]?/i;

const keywords = new Set([
  'true',
  'false',
  'null',
  'neq',
  'eq',
  'gt',
  'gte',
  'lt',
  'lte',
  'within',
  'without',
  'AND',
  'OR',
  'NOT',
  'desc',
  'asc',
]);

/** Tokens of Gremlin, and of the search language as far as they are the same. The kind of a token decides its colour. */
const language = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^\/\/.*/)) return 'comment';
    if (stream.match(/^'(?:[^'\\]|\\.)*'?/) || stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(number)) return 'number';
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word) {
      const text = (word as RegExpMatchArray)[0];
      if (keywords.has(text)) return 'keyword';
      return stream.peek() === '(' ? 'function' : 'variableName';
    }
    stream.next();
    return 'punctuation';
  },
  tokenTable: { function: tags.function(tags.variableName) },
});

const colours = HighlightStyle.define([
  { tag: tags.function(tags.variableName), color: 'var(--code-step)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: tags.punctuation, color: 'var(--code-punct)' },
  { tag: tags.comment, color: 'var(--text-3)' },
]);

export const gremlin = [language, syntaxHighlighting(colours)];
