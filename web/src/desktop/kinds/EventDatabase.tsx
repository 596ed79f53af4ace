import { useQuery } from '@tanstack/react-query';
import { Page } from '../../frame/Page';
import { Answer } from '../../parts/states';
import { Time } from '../../parts/time';
import { fromEventDatabase } from '../components';
import { countText } from '../counts';
import { eventDatabaseQuery } from '../data';
import { ComponentPanel } from './ComponentPanel';
import './kinds.css';

/** Where the events of the desktops are kept. */
export default function EventDatabase() {
  const query = useQuery(eventDatabaseQuery);
  return (
    <Page title="Event database">
      <Answer query={query} what="the event database" padded>
        {(d) => (
          <div className="settings-form event-database">
            <ComponentPanel component={fromEventDatabase(d)}>
              {d.details && (
                <dl className="kv">
                  <div>
                    <dt>Server</dt>
                    <dd>
                      {d.details.server_name}:{d.details.port}
                    </dd>
                  </div>
                  <div>
                    <dt>Database</dt>
                    <dd>
                      {d.details.database_name}, {d.details.type.toLowerCase()}
                    </dd>
                  </div>
                  <div>
                    <dt>User</dt>
                    <dd>{d.details.user_name}</dd>
                  </div>
                  <div>
                    <dt>Events</dt>
                    <dd>{countText(d.event_count)}</dd>
                  </div>
                  <div>
                    <dt>Last checked</dt>
                    <dd>
                      <Time at={d.last_updated_timestamp} />
                    </dd>
                  </div>
                </dl>
              )}
            </ComponentPanel>
          </div>
        )}
      </Answer>
    </Page>
  );
}
