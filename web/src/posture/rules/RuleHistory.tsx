import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { posture, type Rule } from '../../api/posture';
import { Button } from '../../parts/Button';
import { differencesOf } from '../../parts/Conflict';
import { Dialog } from '../../parts/Dialog';
import { Answer } from '../../parts/states';
import { Time } from '../../parts/time';
import { draftOf, labels } from './save';

const shownLabels = { ...labels, status: 'Status' };
const flat = (rule: Rule | undefined) => (rule ? { ...draftOf(rule), status: rule.status } : {});

/** The versions of a rule: who changed what, when. */
export function RuleHistory({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ['rules', id, 'history'],
    enabled: open,
    queryFn: async () => (await posture.get('/v1/rules/{rule_id}/history', { path: { rule_id: id } })).results,
  });
  return (
    <>
      <button type="button" className="link" onClick={() => setOpen(true)}>
        History
      </button>
      {open && (
        <Dialog title="Versions of this rule" className="broad" onClose={() => setOpen(false)}>
          <Answer query={query} what="the history">
            {(versions) => (
              <ol className="timeline">
                {[...versions]
                  .sort((a, b) => b.version - a.version)
                  .map((v) => {
                    const before = versions.find((w) => w.version === v.version - 1);
                    // In each difference, mine is the value of this version, and theirs that of the version before.
                    const changed = before ? differencesOf(shownLabels, flat(v.rule), flat(before.rule)) : [];
                    return (
                      <li key={v.version}>
                        <span className="timeline-head">
                          <Time at={v.time} as="date" />
                          <span className="t2">
                            version {v.version}
                            {v.by ? ` by ${v.by}` : ', with Vigil'}
                          </span>
                        </span>
                        {changed.length > 0 && (
                          <table className="diff">
                            <tbody>
                              {changed.map((d) => (
                                <tr key={d.label}>
                                  <th scope="row">{d.label}</th>
                                  <td className="del">{d.theirs}</td>
                                  <td className="add">{d.mine}</td>
                                </tr>
                              ))}
                            </tbody>
                          </table>
                        )}
                        {!before && <p className="small t3">the first version</p>}
                      </li>
                    );
                  })}
              </ol>
            )}
          </Answer>
          <div className="dialog-foot">
            <Button look="primary" onClick={() => setOpen(false)}>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
