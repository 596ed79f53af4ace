import { useQuery } from '@tanstack/react-query';
import type { ApiError } from '../../api/error';
import { TextArea, TextField } from '../../parts/Field';
import { Icon } from '../../parts/Icon';
import { Mark, severity } from '../../parts/marks';
import { Segments, Select } from '../../parts/Segments';
import { rulesQuery } from '../data';
import { byFramework, useControlName } from '../frameworks';
import { ParameterFields } from './ParameterFields';
import { levelName } from './Rules';
import type { Draft } from './save';

interface Props {
  draft: Draft;
  change: (patch: Partial<Draft>) => void;
  /** True for a rule that comes with Vigil: only its level and the values of its parameters can be changed. */
  fixed: boolean;
  stored: boolean;
  error: ApiError | undefined;
}

function Controls({ draft, change, fixed }: Pick<Props, 'draft' | 'change' | 'fixed'>) {
  const known = [...new Set((useQuery(rulesQuery).data ?? []).flatMap((r) => r.complianceControlIds ?? []))].sort();
  const own = draft.complianceControlIds ?? [];
  const nameOf = useControlName();
  const spoken = (c: string) => `${nameOf(c).framework} ${nameOf(c).number}`;
  return (
    <div className="field">
      <span className="label">Controls</span>
      {fixed ? (
        <ul className="control-lines">
          {[...byFramework(own)].map(([id, of]) => (
            <li key={id}>
              <span className="t3">{nameOf(of[0] ?? '').framework}</span> {of.map((c) => nameOf(c).number).join(', ')}
            </li>
          ))}
        </ul>
      ) : (
        <div className="row wrap tight">
          {own.map((c) => (
            <span key={c} className="tag">
              <b>{nameOf(c).framework}</b> {nameOf(c).number}
              <button
                type="button"
                className="link t3"
                aria-label={`Remove ${spoken(c)}`}
                onClick={() => change({ complianceControlIds: own.filter((x) => x !== c) })}
              >
                <Icon name="x" small />
              </button>
            </span>
          ))}
          <Select
            label="Add a control"
            value=""
            onChange={(c) => c && change({ complianceControlIds: [...own, c] })}
            options={[
              { value: '', label: 'Add a control' },
              ...known.filter((c) => !own.includes(c)).map((c) => ({ value: c, label: spoken(c) })),
            ]}
          />
        </div>
      )}
    </div>
  );
}

/** Everything of a rule but its query. */
export function RuleForm({ draft, change, fixed, stored, error }: Props) {
  const text = (name: 'name' | 'displayName' | 'category' | 'service' | 'documentationLink') => ({
    value: draft[name] ?? '',
    readOnly: fixed,
    error: error?.field(name),
    onChange: (e: { target: { value: string } }) => change({ [name]: e.target.value }),
  });
  return (
    <div className="rule-form">
      <TextField label="Name" required {...text('name')} />
      <TextField
        label="Id"
        mono
        {...text('displayName')}
        hint={stored || fixed ? undefined : 'Without spaces; made of the name when left empty'}
      />
      <div className="field">
        <span className="label">Level</span>
        <Segments
          label="Level"
          value={draft.level}
          onChange={(level) => change({ level })}
          options={(['High', 'Med', 'Low'] as const).map((l) => ({
            value: l,
            label: (
              <>
                <Mark name={severity(levelName(l))} />
                {levelName(l)}
              </>
            ),
          }))}
        />
      </div>
      <ParameterFields draft={draft} change={change} error={error} />
      {!stored && !fixed && (
        <div className="field">
          <span className="label">Cloud</span>
          <Select
            label="Cloud"
            value={draft.provider}
            onChange={(provider) => change({ provider })}
            options={[
              { value: 'aws', label: 'AWS' },
              { value: 'azure', label: 'Azure' },
              { value: 'gcp', label: 'Google Cloud' },
            ]}
          />
        </div>
      )}
      <div className="form-2">
        <TextField label="Category" {...text('category')} />
        <TextField label="Service" {...text('service')} />
      </div>
      <TextArea
        label="Why it matters"
        rows={4}
        value={draft.description ?? ''}
        readOnly={fixed}
        error={error?.field('description')}
        onChange={(e) => change({ description: e.target.value })}
      />
      <TextArea
        label="What to do"
        rows={2}
        value={draft.suggestedAction ?? ''}
        readOnly={fixed}
        error={error?.field('suggestedAction')}
        onChange={(e) => change({ suggestedAction: e.target.value })}
      />
      <TextField label="Link" {...text('documentationLink')} />
      <Controls draft={draft} change={change} fixed={fixed} />
      <TextArea
        label="Picture"
        rows={2}
        className="input mono"
        value={draft.visualizationQuery ?? ''}
        readOnly={fixed}
        error={error?.field('visualizationQuery')}
        hint="A walk from <entity_id_clause>, which stands for the resource"
        onChange={(e) => change({ visualizationQuery: e.target.value })}
      />
    </div>
  );
}
