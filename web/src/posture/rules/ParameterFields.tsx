import { useState } from 'react';
import type { ApiError } from '../../api/error';
import { TextField } from '../../parts/Field';
import { hintOf, textOf, valueOf, type Parameter } from './parameters';
import type { Draft } from './save';

interface Props {
  draft: Draft;
  change: (patch: Partial<Draft>) => void;
  error: ApiError | undefined;
}

function ParameterField({ parameter: p, draft, change, error }: Props & { parameter: Parameter }) {
  const value = draft.parameterValues?.[p.name] ?? p.default;
  // The text while it is typed: it may not be a value yet.
  const [typed, setTyped] = useState<string>();
  const wrong = typed !== undefined && valueOf(p.type, typed) === undefined;
  return (
    <TextField
      label={p.name}
      value={typed ?? textOf(value)}
      inputMode={p.type === 'integer' ? 'numeric' : undefined}
      hint={hintOf(p)}
      error={wrong ? (p.type === 'integer' ? 'Enter a whole number' : 'Enter whole numbers') : error?.field(`parameterValues.${p.name}`)}
      onChange={(e) => {
        setTyped(e.target.value);
        const next = valueOf(p.type, e.target.value);
        if (next !== undefined) change({ parameterValues: { ...draft.parameterValues, [p.name]: next } });
      }}
      onBlur={() => !wrong && setTyped(undefined)}
    />
  );
}

/** The values of the rule that the organisation sets. */
export function ParameterFields(props: Props) {
  const parameters = props.draft.parameters ?? [];
  if (parameters.length === 0) return null;
  return (
    <fieldset className="parameters">
      <legend className="label">Parameters</legend>
      {parameters.map((p) => (
        <ParameterField key={p.name} parameter={p} {...props} />
      ))}
    </fieldset>
  );
}
