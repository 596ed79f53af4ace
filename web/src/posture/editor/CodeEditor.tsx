import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useMemo, useRef } from 'react';
import type { FieldError } from '../../api/error';
import type { Schema } from '../../api/posture';
import { plural } from '../../parts/text';
import { completeGremlin, completeSearch } from './completion';
import { gremlin, search } from './gremlin';
import { hangingIndent, hangingIndents } from './hangingIndent';

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onRun: () => void;
  schema: Schema | undefined;
  problems?: FieldError[];
  readOnly?: boolean;
  /** The language decides completion and highlighting. */
  language?: 'Graph' | 'Search';
}

// The editor lives in a shadow root, where its styles are adopted sheets: the content security policy allows no style elements.
const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '13.5px' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '22px' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--text-3)', border: '0', paddingLeft: '12px' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '0',
    borderRadius: '8px',
    boxShadow: 'var(--shadow-pop)',
    font: 'var(--type-small)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--selected)', color: 'var(--text)' },
  '.hover': { padding: '9px 12px', maxWidth: '440px', lineHeight: '1.25rem' },
  '.hover-head, .hover-rules': { color: 'var(--text-3)' },
  '.hover-head b': { fontWeight: '600', color: 'var(--text)' },
  ...hangingIndents,
});

function hover(schema: Schema | undefined) {
  return hoverTooltip((view, position) => {
    const line = view.state.doc.lineAt(position);
    for (const match of line.text.matchAll(/['"]([\w.]+)['"]/g)) {
      const from = line.from + match.index + 1;
      const name = match[1] ?? '';
      if (position < from || position > from + name.length) continue;
      const type = schema?.types.find(
        (t) => t.entityType === name || t.properties.some((p) => p.name === name) || t.edges.some((e) => e.label === name),
      );
      const known =
        type?.entityType === name ? type : (type?.properties.find((p) => p.name === name) ?? type?.edges.find((e) => e.label === name));
      if (!known) return null;
      return {
        pos: from,
        end: from + name.length,
        create: () => {
          const property = type?.properties.find((p) => p === known);
          const of = type?.entityType === name ? '' : `${property?.type ?? 'edge'} of ${type?.entityType ?? ''}`;
          const readers = property?.rules ?? [];
          const dom = document.createElement('div');
          dom.className = 'hover';
          const line = (className: string, ...parts: (string | Node)[]) => {
            const row = document.createElement('div');
            row.className = className;
            row.append(...parts);
            dom.append(row);
          };
          const strong = document.createElement('b');
          strong.textContent = name;
          line('hover-head', strong, ` ${of}`);
          line('hover-text', known.description);
          if (readers.length)
            line(
              'hover-rules',
              `Read by ${plural(readers.length, 'rule')}: ${readers.slice(0, 3).join(', ')}${readers.length > 3 ? ' …' : ''}`,
            );
          return { dom };
        },
      };
    }
    return null;
  });
}

/** Marks the problems at their places in the text; those without a place, on the first line. */
function diagnostics(state: EditorState, problems: FieldError[]): Diagnostic[] {
  return problems.map((p) => {
    const line = state.doc.line(Math.min(Math.max(p.line ?? 1, 1), state.doc.lines));
    const from = Math.min(line.from + (p.column ? p.column - 1 : 0), line.to);
    const to = p.endColumn ? Math.min(line.from + p.endColumn - 1, line.to) : line.to;
    return { from, to: Math.max(from, to), severity: 'error', message: p.hint ? `${p.message}. ${p.hint}` : p.message };
  });
}

/** A text editor for queries, with completion, descriptions of names under the pointer, and marks at problems. */
export default function CodeEditor({ label, value, onChange, onRun, schema, problems = [], readOnly = false, language = 'Graph' }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ onChange, onRun });
  latest.current = { onChange, onRun };
  const languageCompartment = useRef(new Compartment());
  const languageSupport = useMemo(
    () => [
      language === 'Search' ? search : gremlin,
      autocompletion({ override: [language === 'Search' ? completeSearch(schema) : completeGremlin(schema)] }),
      hover(schema),
    ],
    [schema, language],
  );
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const run = () => {
      latest.current.onRun();
      return true;
    };
    view.current = new EditorView({
      root,
      parent: root as unknown as Element,
      state: EditorState.create({
        doc: value,
        extensions: [
          keymap.of([{ key: 'Mod-Enter', run }]),
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          lintGutter(),
          look,
          languageCompartment.current.of(languageSupport),
          keymap.of([...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.lineWrapping,
          hangingIndent,
          EditorView.updateListener.of((u) => u.docChanged && latest.current.onChange(u.state.doc.toString())),
        ],
      }),
    });
    return () => view.current?.destroy();
  }, [label, readOnly]);
  useEffect(() => view.current?.dispatch({ effects: languageCompartment.current.reconfigure(languageSupport) }), [languageSupport]);
  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== value)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    if (view.current) view.current.dispatch(setDiagnostics(view.current.state, diagnostics(view.current.state, problems)));
  }, [problems]);
  return <div ref={host} className="code-editor" />;
}
