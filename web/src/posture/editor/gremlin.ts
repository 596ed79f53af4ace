import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StreamParser } from '@codemirror/language';
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

/** What the tokenizer is in the middle of. Strings and comments can continue on the next line. */
interface State {
  inComment: boolean;
  /** The quote that ends the string; empty outside strings. */
  quote: string;
}

/** Tokens that Gremlin and the search language have in common. The kind of a token decides its colour. */
const common: StreamParser<State> = {
  startState: () => ({ inComment: false, quote: '' }),
  token(stream, state) {
    if (!state.quote) {
      if (stream.eatSpace()) return null;
      state.quote = stream.eat(/['"]/) ?? '';
    }
    if (state.quote) {
      stream.match(state.quote === "'" ? /^(?:[^'\\]|\\.?)*/ : /^(?:[^"\\]|\\.?)*/); // a backslash escapes also the end of a line
      if (stream.eat(state.quote)) state.quote = '';
      return 'string';
    }
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
};

/** Tokens of Gremlin: the common ones and comments, which the search language does not have. */
const withComments: StreamParser<State> = {
  ...common,
  token(stream, state) {
    if (state.quote) return common.token(stream, state);
    if (!state.inComment) {
      if (stream.match(/^\/\/.*/)) return 'comment';
      if (!stream.match('/*')) return common.token(stream, state);
    }
    state.inComment = !stream.match(/^.*?\*\//);
    if (state.inComment) stream.skipToEnd();
    return 'comment';
  },
};

const colours = HighlightStyle.define([
  { tag: tags.function(tags.variableName), color: 'var(--code-step)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: tags.punctuation, color: 'var(--code-punct)' },
  { tag: tags.comment, color: 'var(--text-3)' },
]);

export const gremlin = [StreamLanguage.define(withComments), syntaxHighlighting(colours)];
export const search = [StreamLanguage.define(common), syntaxHighlighting(colours)];
