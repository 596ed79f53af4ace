import { Decoration, ViewPlugin, type DecorationSet, type EditorView, type ViewUpdate } from '@codemirror/view';

// The continuation of a wrapped line is indented two characters more than its beginning. The indents are classes, because the content
// security policy forbids style attributes.
const maxIndent = 24;
const extraIndent = 2;
const indentOf = (line: string) => Math.min(maxIndent, (/^ */.exec(line)?.[0].length ?? 0) + extraIndent);

/** The style rules of the classes, for the theme of the editor. */
export const hangingIndents = Object.fromEntries(
  Array.from({ length: maxIndent + 1 }, (_, n) => [`.cm-line.hang-${n}`, { paddingLeft: `calc(${n}ch + 6px)`, textIndent: `-${n}ch` }]),
);

function decorate(view: EditorView): DecorationSet {
  const lines = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      lines.push(Decoration.line({ class: `hang-${indentOf(line.text)}` }).range(line.from));
      at = line.to + 1;
    }
  }
  return Decoration.set(lines);
}

/** Gives each line the class of its indent. */
export const hangingIndent = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }
    update(update: ViewUpdate) {
      if (update.docChanged || update.viewportChanged) this.decorations = decorate(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
