import { Button } from './Button';
import { Dialog } from './Dialog';

/** One member whose value is not the same in both versions. */
export interface Difference {
  label: string;
  mine: string;
  theirs: string;
}

/** A value as it is shown and compared: members of an object by name, because their order has no meaning. */
function text(value: unknown): string {
  if (Array.isArray(value)) return value.map(text).join(', ');
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => `${name}: ${text(member)}`).join('; ');
}

/** The members whose values differ. */
export const differencesOf = (
  labels: Record<string, string>,
  mine: Record<string, unknown>,
  theirs: Record<string, unknown>,
): Difference[] =>
  Object.entries(labels)
    .map(([name, label]) => ({ label, mine: text(mine[name]), theirs: text(theirs[name]) }))
    .filter((d) => d.mine !== d.theirs);

interface Props {
  /** What was changed by somebody else: "the rule". */
  what: string;
  differences: Difference[];
  onMine: () => void;
  onTheirs: () => void;
  onClose: () => void;
}

/** Shows both versions when somebody else saved in the meantime, and asks which one to keep. */
export function Conflict({ what, differences, onMine, onTheirs, onClose }: Props) {
  return (
    <Dialog title="Someone else saved a change" className="broad" onClose={onClose}>
      <p className="t2">
        {what.charAt(0).toUpperCase() + what.slice(1)} was changed after you opened it.{' '}
        {differences.length === 0 ? 'What they saved is the same as yours.' : 'These differ:'}
      </p>
      {differences.length > 0 && (
        <div className="table-scroll">
          <table className="conflict">
            <thead>
              <tr>
                <th>Field</th>
                <th>Theirs</th>
                <th>Mine</th>
              </tr>
            </thead>
            <tbody>
              {differences.map((d) => (
                <tr key={d.label}>
                  <th scope="row">{d.label}</th>
                  <td className="del">
                    <pre>{d.theirs || 'empty'}</pre>
                  </td>
                  <td className="add">
                    <pre>{d.mine || 'empty'}</pre>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div className="dialog-foot">
        <Button onClick={onClose}>Go on editing</Button>
        <Button onClick={onTheirs}>Take theirs</Button>
        <Button look="primary" writes onClick={onMine}>
          Save mine
        </Button>
      </div>
    </Dialog>
  );
}
