import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { desktop, type Incident } from '../../api/desktop';
import { configQuery, useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Answer } from '../../parts/states';
import { sentence } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { incidentsQuery, watchClosely } from '../data';

const groupNames: Record<Incident['group'], string> = {
  GATEWAYS: 'Gateways',
  CONNECTION_SERVERS: 'Connection servers',
  DIRECTORY: 'Directory',
  SIGN_ON: 'Sign-on',
  FARMS: 'Farms',
  VIRTUAL_CENTERS: 'Virtual centers',
  EVENT_DATABASE: 'Event database',
};
const order = Object.keys(groupNames) as Incident['group'][];

/** Starts and ends incidents, and reloads the data of every screen. */
function useIncidents() {
  const client = useQueryClient();
  const [busy, setBusy] = useState<string>();
  const run = async (name: string, change: () => Promise<unknown>) => {
    setBusy(name);
    try {
      await change();
      watchClosely();
      await client.invalidateQueries({ queryKey: ['desktop'] });
    } catch (cause) {
      showToast(failureText(cause));
    } finally {
      setBusy(undefined);
    }
  };
  const flip = (i: Incident) =>
    run(i.name, () =>
      i.active
        ? desktop.delete('/rest/demo/incidents/{name}', { path: { name: i.name } })
        : desktop.post('/rest/demo/incidents/{name}', { path: { name: i.name } }),
    );
  return { busy, flip, mend: () => run('*', () => desktop.delete('/rest/demo/incidents')) };
}

function Switch({ incident: i, busy, onFlip }: { incident: Incident; busy: boolean; onFlip: () => void }) {
  const refused = useRefusal('admin');
  return (
    <li>
      <span className="grow">{sentence(i.summary)}</span>
      <button
        type="button"
        role="switch"
        className="toggle"
        aria-checked={i.active}
        aria-label={sentence(i.summary)}
        disabled={busy || !!refused}
        title={refused}
        onClick={onFlip}
      />
    </li>
  );
}

/** The switches that break parts of the simulated environment. The server has them in demo mode only. */
export function Breaks() {
  const demo = useQuery(configQuery).data?.demo ?? false;
  const query = useQuery({ ...incidentsQuery, enabled: demo });
  const [allShown, setAllShown] = useState(false);
  const { busy, flip, mend } = useIncidents();
  if (!demo) return null;
  const switches = (of: Incident[]) =>
    of.map((i) => <Switch key={i.name} incident={i} busy={busy !== undefined} onFlip={() => void flip(i)} />);
  return (
    <section className="region breaks">
      <header>
        <h2>Break something</h2>
        <span className="pill warn">Demo</span>
        <button type="button" className="link end" onClick={() => setAllShown(true)}>
          All {query.data?.length}
        </button>
      </header>
      <Answer query={query} what="the list of incidents">
        {(incidents) => {
          const active = incidents.filter((i) => i.active);
          // At most six: the active incidents, then one inactive incident of each group.
          const first = order.flatMap((g) => incidents.filter((i) => i.group === g && !i.active).slice(0, 1));
          return (
            <>
              <ul className="list">{switches([...active, ...first].slice(0, 6))}</ul>
              <div className="row">
                <Button disabled={active.length === 0 || busy !== undefined} writes onClick={() => void mend()}>
                  Mend all
                </Button>
                <span className="small t3" aria-live="polite">
                  {active.length === 0 ? 'Nothing is broken.' : `${active.length} broken.`}
                </span>
              </div>
              {allShown && (
                <Dialog title="Break something" className="broad" onClose={() => setAllShown(false)}>
                  <div className="breaks-all">
                    {order.map((g) => (
                      <section key={g}>
                        <h3 className="label">{groupNames[g]}</h3>
                        <ul className="list">{switches(incidents.filter((i) => i.group === g))}</ul>
                      </section>
                    ))}
                  </div>
                  <div className="dialog-foot">
                    <Button disabled={active.length === 0 || busy !== undefined} writes onClick={() => void mend()}>
                      Mend all
                    </Button>
                    <Button look="primary" onClick={() => setAllShown(false)}>
                      Done
                    </Button>
                  </div>
                </Dialog>
              )}
            </>
          );
        }}
      </Answer>
    </section>
  );
}
