import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { joined, listOf, type Search } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { SelectField, TextField } from '../../parts/Field';
import { frameworksQuery, rulesQuery } from '../data';

type Kind = 'rule' | 'framework' | 'control' | 'provider' | 'tag';
const kinds: Record<Kind, string> = { rule: 'Rule', framework: 'Framework', control: 'Control', provider: 'Provider', tag: 'Tag' };

/** Filters that the facets do not have: rule, framework, control, provider and any tag. */
export function AddFilter({ search, change, onClose }: { search: Search; change: (patch: Search) => void; onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('rule');
  const [rulesAnswer, frameworksAnswer] = [useQuery(rulesQuery), useQuery(frameworksQuery)];
  const rules = rulesAnswer.data ?? [];
  const frameworks = frameworksAnswer.data ?? [];
  const controls = [...new Set(rules.flatMap((r) => r.complianceControlIds ?? []))].sort();
  const options: Record<Kind, { value: string; label: string }[]> = {
    rule: rules.map((r) => ({ value: r.id, label: r.name })),
    framework: frameworks.map((f) => ({ value: f.id, label: `${f.name} ${f.version}` })),
    control: controls.map((c) => ({ value: c, label: c.replace('_', ' ') })),
    provider: ['aws', 'azure', 'gcp'].map((p) => ({ value: p, label: p })),
    tag: [],
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const name = kind === 'tag' ? `tag.${String(form.get('tag')).trim()}` : kind;
    const text = String(form.get('value')).trim();
    const value = options[kind].find((o) => o.label === text)?.value ?? text;
    change({ [name]: joined([...new Set([...listOf(search[name]), value])]) });
    onClose();
  };
  return (
    <Dialog title="Add a filter" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <SelectField
          label="By"
          value={kind}
          onChange={(e) => setKind(e.target.value as Kind)}
          options={(Object.keys(kinds) as Kind[]).map((k) => ({ value: k, label: kinds[k] }))}
        />
        {kind === 'tag' && <TextField label="Tag" name="tag" required placeholder="Owner" pattern="[^,=&]+" />}
        <TextField
          key={kind}
          label={kind === 'tag' ? 'Value' : kinds[kind]}
          name="value"
          required
          autoFocus
          list="filter-values"
          placeholder={kind === 'tag' ? 'data' : 'Type to search'}
        />
        <datalist id="filter-values">
          {options[kind].map((o) => (
            <option key={o.value} value={o.label} />
          ))}
        </datalist>
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          {/* Without the lists, the name of a rule would be taken for its id. */}
          <Button type="submit" look="primary" disabled={rulesAnswer.isPending || frameworksAnswer.isPending}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
