import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture } from '../../api/posture';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { TextArea, TextField } from '../../parts/Field';
import { sentence } from '../../parts/text';
import { useSubmit } from '../../parts/useSubmit';
import { frameworksQuery } from '../data';

/** Reads one control from each line: the number, the title, and after a bar the section. */
export const controlsOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [left = '', section = ''] = line.split('|').map((part) => part.trim());
      const [controlId = '', ...title] = left.split(/\s+/);
      return { controlId, title: title.join(' '), section };
    });

/** Creates a custom framework. Rules name its controls as <id>_<control>. */
export function NewFramework({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [error, setError] = useState<ApiError>();
  const [taken, setTaken] = useState(false);
  const { submit, busy } = useSubmit(async (element) => {
    const form = new FormData(element);
    const value = (name: string) => String(form.get(name) ?? '').trim();
    setError(undefined);
    setTaken(false);
    try {
      // The request below would replace a framework with the same id.
      const all = await client.fetchQuery({ ...frameworksQuery, staleTime: 0 });
      if (all.some((f) => f.id === value('id'))) return setTaken(true);
      const made = await posture.put('/v1/compliance-frameworks/{framework_id}', {
        path: { framework_id: value('id') },
        body: {
          name: value('name'),
          version: value('version'),
          description: value('description'),
          controls: controlsOf(value('controls')),
        },
      });
      client.setQueryData(frameworksQuery.queryKey, (all) => all && [...all.filter((f) => f.id !== made.id), made]);
      void client.invalidateQueries(frameworksQuery);
      onClose();
      void navigate({ to: `/compliance/${encodeURIComponent(made.id)}` } as never);
    } catch (cause) {
      if (cause instanceof ApiError) setError(cause);
      else throw cause;
    }
  });
  return (
    <Dialog title="New framework" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label="Id"
          name="id"
          mono
          required
          autoFocus
          pattern="[a-z0-9][a-z0-9.\-]*"
          hint="Lower-case letters, digits, dots and dashes; cannot be changed later"
          error={taken ? 'A framework has this id already' : error?.field('id')}
        />
        <div className="form-2">
          <TextField label="Name" name="name" required error={error?.field('name')} />
          <TextField label="Version" name="version" error={error?.field('version')} />
        </div>
        <TextField label="What it is for" name="description" />
        <TextArea
          label="Controls"
          name="controls"
          required
          rows={6}
          placeholder={'1.1 Keys are rotated | Keys\n1.2 Buckets are private | Storage'}
          hint="One control in each line: number, title, and after a bar the section"
          error={error?.field('controls') ?? (error && sentence([error.message, ...error.fields.map((f) => f.message)].join('; ')))}
        />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
