import { Mark } from '../../parts/marks';
import { words } from '../../parts/text';
import { markOf } from '../status';

export interface MatrixData {
  title: string;
  /** What a row is: the heading of the first column. */
  row: string;
  rows: { name: string; cells: Map<string, string> }[];
  columns: string[];
}

const shortest = (name: string) => name.split('.')[0] ?? name;

/** A table of statuses: each row is a component, and each column a connection server. */
export function Matrix({ of: { title, row, rows, columns } }: { of: MatrixData }) {
  return (
    <section className="region matrix">
      <div className="region-head">
        <h2>{title}</h2>
      </div>
      <div className="table-scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{row}</th>
              {columns.map((c) => (
                <th key={c} scope="col" title={c}>
                  <span>{shortest(c)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((r) => (
              <tr key={r.name}>
                <th scope="row">{shortest(r.name)}</th>
                {columns.map((c) => {
                  const status = r.cells.get(c);
                  return (
                    <td key={c} title={status ? `${shortest(r.name)}, ${shortest(c)}: ${words(status)}` : undefined}>
                      {status ? (
                        <>
                          <Mark name={markOf(status)} />
                          <span className="hide">{words(status)}</span>
                        </>
                      ) : (
                        <span className="t3">·</span>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
