import { useState } from 'react';
import type { ApiError } from '../../api/error';
import { TextField } from '../../parts/Field';
import { hintOf, textOf, typedInto, valueOf, type Parameter } from './parameters';
import type { Draft } from './save';

interface Props {
  draft: Draft;
  change: (patch: Partial<Draft>) => void;
  error: ApiError | undefined;
}

function ParameterField({ parameter: p, draft, change, error }: Props & { parameter: Parameter }) {
  const value = draft.parameterValues?.[p.name] ?? p.default;
  // The text while it is typed, which may not be a value yet. It is outdated if the draft that it was typed into has been replaced.
  const [typed, setTyped] = useState<string>();
  const wrong = draft.unfinished?.includes(p.name) ?? false;
  const next = typed === undefined ? undefined : valueOf(p.type, typed);
  const current = next === undefined ? wrong : !wrong && textOf(next) === textOf(value);
  return (
    <TextField
      label={p.name}
      value={current && typed !== undefined ? typed : textOf(value)}
      inputMode={p.type === 'integer' ? 'numeric' : undefined}
      hint={hintOf(p)}
      error={wrong ? (p.type === 'integer' ? 'Enter a whole number' : 'Enter whole numbers') : error?.field(`parameterValues.${p.name}`)}
      onChange={(e) => {
        setTyped(e.target.value);
        change(typedInto(draft, p, e.target.value));
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
