import { Decoration, ViewPlugin, type DecorationSet, type EditorView, type ViewUpdate } from '@codemirror/view';

// A wrapped line goes on two characters further in than it begins. The indents are classes, because the content
// security policy forbids style attributes.
const deepest = 24;
const deeper = 2;
const depthOf = (line: string) => Math.min(deepest, (/^ */.exec(line)?.[0].length ?? 0) + deeper);

/** The rules of the theme for the classes. */
export const hangingIndents = Object.fromEntries(
  Array.from({ length: deepest + 1 }, (_, n) => [`.cm-line.hang-${n}`, { paddingLeft: `calc(${n}ch + 6px)`, textIndent: `-${n}ch` }]),
);

function decorate(view: EditorView): DecorationSet {
  const lines = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      lines.push(Decoration.line({ class: `hang-${depthOf(line.text)}` }).range(line.from));
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
