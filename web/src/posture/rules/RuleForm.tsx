import type { RuleSpec } from '../../api/posture';
import type { ApiError } from '../../api/error';
import { TextArea, TextField } from '../../parts/Field';
import { Mark, severity } from '../../parts/marks';
import { Segments, Select } from '../../parts/Segments';
import { levelName } from './Rules';

interface Props {
  draft: RuleSpec;
  change: (patch: Partial<RuleSpec>) => void;
  fixed: boolean;
  /** A stored custom rule can change its level and category only. */
  stored: boolean;
  error: ApiError | undefined;
}

/** Everything of a rule but its query. */
export function RuleForm({ draft, change, fixed, stored, error }: Props) {
  const text = (name: 'name' | 'displayName' | 'category' | 'service' | 'documentationLink') => ({ value: draft[name] ?? '', readOnly: fixed || (stored && name !== 'category'), error: error?.field(name), onChange: (e: { target: { value: string } }) => change({ [name]: e.target.value }) });
  return (
    <div className="rule-form">
      <TextField label="Name" {...text('name')} />
      <TextField label="Id" mono {...text('displayName')} hint={stored ? undefined : 'Without spaces; it stays'} />
      <div className="field"><span className="label">Level</span><Segments label="Level" value={draft.level} onChange={(level) => !fixed && change({ level })} options={(['High', 'Med', 'Low'] as const).map((l) => ({ value: l, label: <><Mark name={severity(levelName(l))} />{levelName(l)}</> }))} /></div>
      {!stored && !fixed && <div className="field"><span className="label">Cloud</span><Select label="Cloud" value={draft.provider} onChange={(provider) => change({ provider })} options={[{ value: 'aws', label: 'AWS' }, { value: 'azure', label: 'Azure' }, { value: 'gcp', label: 'Google Cloud' }]} /></div>}
      <div className="form-2"><TextField label="Category" {...text('category')} /><TextField label="Service" {...text('service')} /></div>
      <TextArea label="Why it matters" rows={4} value={draft.description ?? ''} readOnly={fixed || stored} onChange={(e) => change({ description: e.target.value })} />
      <TextArea label="What to do" rows={2} value={draft.suggestedAction ?? ''} readOnly={fixed || stored} onChange={(e) => change({ suggestedAction: e.target.value })} />
      <TextField label="Link" {...text('documentationLink')} />
      {(draft.complianceControlIds ?? []).length > 0 && <div className="field"><span className="label">Controls</span><div className="row wrap tight">{draft.complianceControlIds?.map((c) => <span key={c} className="tag">{c.replace('_', ' ')}</span>)}</div></div>}
    </div>
  );
}
