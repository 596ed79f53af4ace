import { ensureSyntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { gremlin } from './gremlin';

/** The tokens of a text with their kinds. */
function tokens(text: string): string[] {
  const state = EditorState.create({ doc: text, extensions: gremlin });
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
