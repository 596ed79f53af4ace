import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { desktop, type OwnSession } from '../../api/desktop';
import { browserName } from '../../parts/browser';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Answer } from '../../parts/states';
import { Time } from '../../parts/time';

const sessionsKey = ['desktop', 'sessions'];
/** The method tells who has the session: a browser (password) or a program that uses the API (accessToken). */
const methods = { password: 'browser', accessToken: 'API' } as const;

/** The user's own sessions. All except the current one can be ended here. */
export function Sessions() {
  const client = useQueryClient();
  const [ending, setEnding] = useState<OwnSession>();
  const query = useQuery({ queryKey: sessionsKey, queryFn: () => desktop.get('/rest/config/v1/sessions') });
  return (
    <>
      <Answer query={query} what="the sessions" padded>
        {(sessions) => (
          <div className="table-scroll">
            <table className="table">
              <thead>
                <tr>
                  <th>From</th>
                  <th>Login method</th>
                  <th className="wide">Browser</th>
                  <th>Logged in</th>
                  <th className="wide">Last used</th>
                  <th className="wide">Expires</th>
                  <th>
                    <span className="hide">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {sessions.map((s) => (
                  <tr key={s.id}>
                    <th scope="row">
                      {s.source} {s.current && <span className="pill accent">this one</span>}
                    </th>
                    <td>{methods[s.method]}</td>
                    <td className="wide t2">
                      <span className="cut block agent" title={s.agent}>
                        {browserName(s.agent ?? '')}
                      </span>
                    </td>
                    <td>
                      <Time at={s.created_at} />
                    </td>
                    <td className="wide">
                      <Time at={s.last_used_at} />
                    </td>
                    <td className="wide">
                      <Time at={s.expires_at} />
                    </td>
                    <td className="num">
                      {!s.current && (
                        <Button writes look="danger" onClick={() => setEnding(s)}>
                          End
                        </Button>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answer>
      {ending && (
        <Confirm
          title="End the session"
          action="End it"
          onClose={() => setEnding(undefined)}
          run={() =>
            desktop
              .delete('/rest/config/v1/sessions/{id}', { path: { id: ending.id } })
              .then(() => client.invalidateQueries({ queryKey: sessionsKey }))
          }
        >
          The user at {ending.source} must log in again.
        </Confirm>
      )}
    </>
  );
}
