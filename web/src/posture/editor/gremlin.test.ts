import { ensureSyntaxTree } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { expect, test } from 'vitest';
import { gremlin, search } from './gremlin';

/** The tokens of a text with their kinds. */
function tokens(text: string, language: Extension = gremlin): string[] {
  const state = EditorState.create({ doc: text, extensions: language });
  const out: string[] = [];
  ensureSyntaxTree(state, text.length, 5000)?.iterate({
    enter: (node) => {
      if (node.name !== 'Document') out.push(`${node.name} ${state.sliceDoc(node.from, node.to)}`);
    },
  });
  return out;
}

test('a number includes its exponent and its suffix', () => {
  for (const number of ['1', '2.5', '3L', '127b', '10i', '5n', '2.5m', '1.5f', '1e3', '2.5E-3d', '0x1F', '0xFFL', '1_000'])
    expect(tokens(number), number).toEqual([`number ${number}`]);
  expect(tokens('1..3')).toEqual(['number 1', 'punctuation ..', 'number 3']);
});

test('Gremlin has comments to the end of the line and in /* */', () => {
  expect(tokens('1 // a 2\n3')).toEqual(['number 1', 'comment // a 2', 'number 3']);
  expect(tokens('1 /* a */ 2 /**/ 3')).toEqual(['number 1', 'comment /* a */', 'number 2', 'comment /**/', 'number 3']);
  expect(tokens('1 /* a\n\n// b */ 2')).toEqual(['number 1', 'comment /* a', 'comment // b */', 'number 2']);
  expect(tokens('1 /*/ 2\n3')).toEqual(['number 1', 'comment /*/ 2', 'comment 3']);
  expect(tokens("'/* a */' '// b'")).toEqual(["string '/* a */'", "string '// b'"]);
});

test('a string can have several lines, and no comments', () => {
  expect(tokens("'a\n /* b\n\n// c' 1")).toEqual(["string 'a", 'string  /* b', "string // c'", 'number 1']);
  expect(tokens("'a\\\nb' 1")).toEqual(["string 'a\\", "string b'", 'number 1']);
  expect(tokens("'a\n'\n1")).toEqual(["string 'a", "string '", 'number 1']);
  expect(tokens(`'a"' "b\\"'" 1`)).toEqual([`string 'a"'`, `string "b\\"'"`, 'number 1']);
  expect(tokens('"a\n1" 2', search)).toEqual(['string "a', 'string 1"', 'number 2']);
});

test('the search language has no comments', () => {
  const url = tokens('tag.url = https://example AND a = 1', search);
  expect(url.filter((token) => token.startsWith('comment'))).toEqual([]);
  expect(url).toContain('keyword AND');
  expect(tokens('/* a */', search)).toContain('variableName a');
});
