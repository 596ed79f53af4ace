import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { posture, type UserSession } from '../../api/posture';
import { sessionQuery, useRefusal } from '../../api/session';
import { useAddress } from '../../frame/address';
import { browserName } from '../../parts/browser';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { Time } from '../../parts/time';
import { usersQuery } from './Users';

const methods: Record<string, string> = { apiToken: 'API token', link: 'link', oidc: 'single sign-on', accessToken: 'access token' };

/** Where a user is logged in, and a way to end that. */
export function Sessions() {
  const { search, change } = useAddress();
  const client = useQueryClient();
  const refused = useRefusal('admin', 'administration');
  const me = useQuery(sessionQuery).data?.userId ?? '';
  const users = useQuery({ ...usersQuery, enabled: !refused }).data ?? [];
  const user = search.user ?? me;
  const [ending, setEnding] = useState<UserSession>();
  const key = ['sessions', user];
  const query = useQuery({
    queryKey: key,
    queryFn: async () => (await posture.get('/v1/users/{user_id}/sessions', { path: { user_id: user } })).results,
    enabled: user !== '',
  });
  return (
    <>
      {!refused && (
        <div className="toolbar">
          <Select
            label="User"
            value={user}
            onChange={(u) => change({ user: u === me ? undefined : u })}
            options={users.map((u) => ({ value: u.id, label: u.id === me ? `${u.name} (you)` : u.name }))}
          />
        </div>
      )}
      <Answer query={query} what="the sessions" padded>
        {(sessions) =>
          sessions.length === 0 ? (
            <Empty padded title="Not logged in">
              This user has no session.
            </Empty>
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>From</th>
                    <th>Login method</th>
                    <th className="wide">Browser</th>
                    <th>Logged in</th>
                    <th>Last used</th>
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
                        {s.address} {s.current && <span className="pill accent">this one</span>}
                      </th>
                      <td>{methods[s.method] ?? s.method}</td>
                      <td className="wide t2">
                        <span className="cut block agent" title={s.userAgent}>
                          {browserName(s.userAgent ?? '')}
                        </span>
                      </td>
                      <td>
                        <Time at={s.startTime} />
                      </td>
                      <td>
                        <Time at={s.lastUseTime} />
                      </td>
                      <td className="wide">
                        <Time at={s.endTime} />
                      </td>
                      <td className="num">
                        {!s.current && (
                          <Button writes look="danger" refused={user === me ? undefined : refused} onClick={() => setEnding(s)}>
                            End
                          </Button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
      {ending && (
        <Confirm
          title="End the session"
          action="End it"
          onClose={() => setEnding(undefined)}
          run={() =>
            posture
              .delete('/v1/users/{user_id}/sessions/{session_id}', { path: { user_id: user, session_id: ending.id } })
              .then(() => client.invalidateQueries({ queryKey: key }))
          }
        >
          The user at {ending.address} must log in again.
        </Confirm>
      )}
    </>
  );
}
